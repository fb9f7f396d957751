// The scenario as text, with the numbers of its lines and marks where something is wrong.
import { useRef } from "preact/hooks";
import { copy } from "./files";
import { canUndo, notice, open, problems, text, undo, write } from "./state";

/** Takes a text that was typed. */
function type(next: string): void {
  notice.value = "";
  write(next, "text");
}

/** Opens a scenario that is pasted over the whole text. */
function paste(event: ClipboardEvent): void {
  const { selectionStart, selectionEnd, value } = event.currentTarget as HTMLTextAreaElement, pasted = event.clipboardData?.getData("text/plain").replace(/\r\n/g, "\n");
  if (!pasted || selectionEnd - selectionStart < value.length) return;
  event.preventDefault();
  void open({ name: "pasted", text: pasted });
}

const box = () => document.getElementById("text") as HTMLTextAreaElement;

/** Opens the text and selects a line of it. */
export function showLine(line: number): void {
  (document.getElementById("scenario") as HTMLDetailsElement).open = true;
  const area = box(), lines = text.value.split("\n"), start = lines.slice(0, line - 1).reduce((all, each) => all + each.length + 1, 0);
  area.focus();
  area.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
  area.scrollTop = (line - 4) * area.scrollHeight / lines.length;
}

export function Text() {
  const gutter = useRef<HTMLDivElement>(null);
  const wrong = new Set(problems.value.map(({ line }) => line)), lines = text.value.split("\n").length;
  return (
    <details id="scenario">
      <summary>The scenario as text: <code>farweb run</code> gives the same rows</summary>
      <div class="acts">
        <button type="button" id="undo" disabled={!canUndo.value} onClick={() => void undo()}>Undo</button>
        <button type="button" onClick={() => void copy("the scenario", text.value)}>Copy</button>
      </div>
      <div class="editor">
        <div class="gutter" ref={gutter} aria-hidden="true">
          {Array.from({ length: Math.min(lines, 5000) }, (_, place) => <span key={place} class={wrong.has(place + 1) ? "wrong" : ""}>{place + 1}</span>)}
        </div>
        <textarea id="text" aria-label="The scenario as TOML" spellcheck={false} autocomplete="off" wrap="off" value={text.value}
          onInput={event => type(event.currentTarget.value)} onPaste={paste} onScroll={event => { gutter.current!.scrollTop = event.currentTarget.scrollTop; }} />
      </div>
    </details>
  );
}
