// The page: the answer in line 1, controls at the left, pictures at the right.
import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { answer, change } from "./answer";
import { Path, Problems, Protocol, Requests } from "./controls";
import type { Outcome } from "./core/messages";
import { block, unpacked } from "./data";
import { carried, examples } from "./examples";
import { copy, openFiles, save } from "./files";
import { linked, packed } from "./link";
import { unbroken } from "./numbers";
import { OnTheirWay } from "./packets";
import { Chosen, Distribution, Figures, Load, Numbers, Sizes, Steps } from "./results";
import { FILE } from "./scenario";
import { act, begin, checked, draft, isBusy, isStale, notice, open, outcome, pinned, tables, text, version } from "./state";
import { Text, showLine } from "./text";

/** Time in ms that controls must rest before the answer is spoken and the address changes. */
const REST = 500;
const spoken = signal("");

function sentence(): string {
  const [now, before] = [outcome.value, pinned.value];
  if (!now) return version.value ? "" : "Loading the simulator …";
  return `${answer(now.summary)}${before ? ` ${change(now, before)}` : ""}`;
}

/** Example whose table the requests are in; null where they are in another table, which no link holds. */
function exampleOf(): string | undefined | null {
  if (checked.peek()?.effective.workload.requests === undefined) return undefined;
  return tables.peek()?.requests.example ?? null;
}

const fragment = () => packed(text.peek(), exampleOf() ?? undefined);

function commands(): string {
  if (!pinned.value) return `farweb run ${FILE} && farweb report results/studio`;
  return `farweb run pinned.toml && farweb run ${FILE} && farweb compare results/pinned results/studio`;
}

/** Rows of the requests as CSV. Times are in s, since the start of the run. */
function csv({ requests, hosts }: Outcome): string {
  const field = (word: string) => /[",\n]/.test(word) ? `"${word.replace(/"/g, '""')}"` : word;
  const time = (ns: number) => Number.isNaN(ns) ? "" : String(ns / 1e9);
  const rows = Array.from(requests.request, (number, row) => [
    number, time(requests.start_ns[row]!), field(hosts[requests.host[row]!] ?? ""), requests.response_bytes[row]!,
    time(requests.connect_ns[row]!), time(requests.first_byte_ns[row]!), time(requests.end_ns[row]!), ["done", "failed", "unfinished"][requests.status[row]!],
  ].join(","));
  return ["request,start_s,host,response_bytes,connect_s,first_byte_s,end_s,status", ...rows, ""].join("\n");
}

function Menu({ name, of }: { name: string; of: [string, () => void][] }) {
  return (
    <details class="menu" onClick={event => { if (event.target instanceof HTMLButtonElement) event.currentTarget.open = false; }}
      onKeyDown={event => { if (event.key === "Escape") event.currentTarget.open = false; }}>
      <summary>{name}</summary>
      <div>{of.map(([word, act]) => <button key={word} type="button" onClick={act}>{word}</button>)}</div>
    </details>
  );
}

function Header() {
  const now = outcome.value, before = pinned.value;
  const link = () => void fragment().then(link => copy(exampleOf() === null ? "a link to the scenario, without its request table" : "a link to this scenario", location.href.replace(/#.*/, "") + link));
  return (
    <header>
      <h1>farweb <span>studio</span></h1>
      <p id="answer">{unbroken(sentence())}</p>
      <p class="unseen" role="status">{spoken}</p>
      <div class="acts">
        <button id="pin" type="button" disabled={!now} onClick={() => { pinned.value = before ? null : now; }}>{before ? "Unpin" : "Pin"}</button>
        <Menu name="Copy" of={[["Link", link], ["Scenario (TOML)", () => void copy("the scenario", text.value)], ["Command", () => void copy("a command for the saved scenario", commands())]]} />
        <Menu name="Save" of={[
          [`Scenario (${FILE})`, () => save(FILE, text.value, "application/toml")],
          ...(before ? [["Pinned scenario (pinned.toml)", () => save("pinned.toml", before.text, "application/toml")] as [string, () => void]] : []),
          ["Requests (CSV)", () => { if (now) save("requests.csv", csv(now), "text/csv"); }],
        ]} />
      </div>
    </header>
  );
}

function Page() {
  return (
    <>
      <Header />
      <main aria-busy={isBusy} class={isStale.value ? "stale" : ""}>
        <form aria-label="The path and what rides on it" onSubmit={event => event.preventDefault()}>
          <Path />
          <Problems show={showLine} />
          <Protocol />
          <Requests />
        </form>
        <div class="views">
          <Figures />
          <Load />
          <Distribution />
          <Sizes />
          <Chosen />
          <Steps />
          <OnTheirWay />
          <Numbers />
          <Text />
        </div>
      </main>
      <footer>
        farweb {version}, MIT or Apache 2.0. <button type="button" class="quiet" onClick={() => void unpacked(block("notices")!).text().then(notices => save("licences.txt", notices, "text/plain"))}>Licences</button> of the parts of others in this file.
      </footer>
    </>
  );
}

/** Opens what the address holds; false where it holds nothing. */
async function follow(): Promise<boolean> {
  try {
    const held = await linked(location.hash);
    if (held === null) return false;
    const example = examples.find(each => each.name === held.example);
    if (held.text !== text.value) await open({ ...(example ?? { name: "link" }), text: held.text });
    return true;
  } catch (error) {
    notice.value = (error as Error).message;
    return false;
  }
}

render(<Page />, document.body);
await begin();
const own = await carried();
/** The text shown beside a link that was refused, whose address stays. */
let beside: string | null = null;
if (!(await follow())) {
  const said = notice.value;
  if (own) await open(own);
  else await draft("geo-viasat", "none", false);
  notice.value = said;
  if (said) beside = text.value;
}

let rest = 0;
effect(() => {
  const [said, isAtRest] = [sentence(), !isBusy.value && !isStale.value];
  clearTimeout(rest);
  if (!isAtRest) return;
  rest = setTimeout(() => {
    spoken.value = said;
    if (text.peek() === beside) return;
    // No link holds a table of one's own: its page has an address without one.
    if (exampleOf() === null) history.replaceState(null, "", location.href.replace(/#.*/, ""));
    else void fragment().then(held => history.replaceState(null, "", held));
  }, REST);
});
addEventListener("click", ({ target }) => {
  document.querySelectorAll<HTMLDetailsElement>(".menu[open]").forEach(menu => { if (!menu.contains(target as Node)) menu.open = false; });
});
addEventListener("hashchange", () => void follow());
addEventListener("dragover", event => event.preventDefault());
addEventListener("drop", event => {
  event.preventDefault();
  const files = [...event.dataTransfer?.files ?? []];
  if (files.length) void act(() => openFiles(files));
});
