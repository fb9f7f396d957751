// Packets on their way, and a player: the cursor couples the three pictures.
import { batch, computed, effect, signal } from "@preact/signals";
import type { Checked, Outcome, Packets } from "./core/messages";
import { seconds } from "./numbers";
import { Picture } from "./picture";
import { chosen, outcome, packets } from "./state";
import * as moment from "./views/moment";
import * as sequence from "./views/sequence";
import * as spacetime from "./views/spacetime";
import { rowsOf } from "./views/steps";

/** Time in ms that playing what is shown takes. Chosen. */
const PLAYS = 8000;
/** Steps of the cursor and of the slider across what is shown. */
const STEPS = 1000;
/** Time before and behind the request that is shown, as a share of its own. */
const MARGIN = 0.04;

/** What the colours of packets say. */
const KEY = [["request", "request, SYN, FIN"], ["data", "response"], ["ack", "ACK"], ["again", "again, × lost"], ["queue", "waits in a queue"], ["others", "others"]] as const;

/** What is shown and the cursor, in ns. */
const span = signal<[number, number]>([0, 1]);
const at = signal<number | null>(null);
const isPlaying = signal(false);

/** The run whose packets are drawn, and the row of the chosen request in it; null of none. */
const drawn = computed(() => {
  const [found, now, row] = [packets.value, outcome.value, chosen.value];
  if (typeof found === "string" || !now || row === null) return null;
  const there = found.run === now ? row : found.run.requests.request.indexOf(now.requests.request[row]!);
  return there < 0 ? null : { ...found, row: there };
});

/** Start and end of that request. */
const request = computed<[number, number]>(() => {
  if (!drawn.value) return [0, 1];
  const { run: { requests }, row } = drawn.value, [start, end] = [requests.start_ns[row]!, requests.end_ns[row]!];
  return [start, end > start ? end : start + 1e9];
});

function showRequest(): void {
  const [start, end] = request.value, margin = MARGIN * (end - start);
  batch(() => { span.value = [start - margin, end + margin]; at.value = null; isPlaying.value = false; });
}
effect(showRequest);

/** Shows less or more around the cursor. */
function zoom(by: number): void {
  const [begin, end] = span.value, centre = at.value ?? (begin + end) / 2;
  if ((end - begin) * by < 1000 || (end - begin) * by > 1e13) return;
  span.value = [centre - (centre - begin) * by, centre + (end - centre) * by];
}

function move(to: number): void {
  const [begin, end] = span.value;
  at.value = Math.max(begin, Math.min(end, to));
}

function play(): void {
  const [begin, end] = span.value;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    move((at.value ?? begin) + (end - begin) / 20);
    return;
  }
  isPlaying.value = !isPlaying.value;
  if (!isPlaying.value) return;
  let before = performance.now();
  if (at.value === null || at.value >= end) at.value = begin;
  const frame = (now: number) => {
    if (!isPlaying.value) return;
    const [from, to] = span.value;
    move(at.value! + (now - before) / PLAYS * (to - from));
    before = now;
    if (at.value! >= to) isPlaying.value = false;
    else requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}

function onKey(event: KeyboardEvent): void {
  const [begin, end] = span.value, step = (end - begin) / 100, now = at.value ?? begin;
  const act = {
    ArrowRight: () => move(now + step), ArrowLeft: () => move(now - step), Home: () => move(begin), End: () => move(end),
    "+": () => zoom(1 / 1.5), "-": () => zoom(1.5), " ": play,
  }[event.key];
  if (!act) return;
  event.preventDefault();
  act();
}

const timeAt = (event: PointerEvent | WheelEvent) => spacetime.timeAt(event.offsetX, (event.currentTarget as HTMLElement).clientWidth, span.value);

function onWheel(event: WheelEvent): void {
  if (!event.ctrlKey && !event.shiftKey) return;   // else the page scrolls
  event.preventDefault();
  move(timeAt(event));
  zoom(1.2 ** ((event.deltaY || event.deltaX) / 60));
}

function Pictures({ run, scenario: { effective, links }, all, row }: { run: Outcome; scenario: Checked; all: Packets; row: number }) {
  const { exchanges, requests } = run, number = requests.request[row];
  const rows = rowsOf(exchanges, number!);
  const connections = rows.length ? rows.map(each => exchanges.connection_down[each]!) : [requests.connection[row]!];
  const delays = links.map(({ up, down }) => (up.delay_ms + down.delay_ms) / 2);
  const [from, end] = request.value, [begin, last] = span.value, cursor = at.value;
  const model: spacetime.SpaceTime = { packets: all, nodes: effective.path.nodes, delays, own: new Set(connections), from, span: [begin, last], at: cursor };
  // Of a leg with splits, the long part is what the second sender sees.
  const stretch = effective.leg[0]?.split?.length ? 1 : 0;
  const label = `Packets from ${seconds((begin - from) / 1e9)} to ${seconds((last - from) / 1e9)} of a request of ${seconds((end - from) / 1e9)}. Arrow keys move the cursor, plus and minus zoom, space plays.`;
  return (
    <>
      <Picture name={moment.NAME} file="moment" id="moment" class="whole" label="Packets on the links and in the queues at the time of the cursor."
        paint={pen => moment.paint(pen, model)}>
        <span class="key">{KEY.map(([name, words]) => <><span key={name}><i class={name} />{words}</span> </>)}</span>
      </Picture>
      <div class="player">
        <button id="play" type="button" onClick={play} aria-pressed={isPlaying.value}>{isPlaying.value ? "Pause" : "Play"}</button>
        <input id="cursor" type="range" min="0" max={STEPS} step="1" aria-label="Time" value={cursor === null ? 0 : (cursor - begin) / (last - begin) * STEPS}
          aria-valuetext={cursor === null ? "none" : seconds((cursor - from) / 1e9)}
          onInput={event => move(begin + event.currentTarget.valueAsNumber / STEPS * (last - begin))} />
        <output>{cursor === null ? "" : seconds((cursor - from) / 1e9)}</output>
        <button type="button" aria-label="Zoom in" onClick={() => zoom(1 / 1.5)}>+</button>
        <button type="button" aria-label="Zoom out" onClick={() => zoom(1.5)}>−</button>
        <button type="button" onClick={showRequest}>The request</button>
      </div>
      <Picture name={spacetime.NAME} file="packets" id="spacetime" class="whole" label={label} tabindex={0} paint={pen => spacetime.paint(pen, model)}
        onKeyDown={onKey} onWheel={onWheel}
        onPointerDown={event => { event.currentTarget.setPointerCapture(event.pointerId); move(timeAt(event)); }}
        onPointerMove={event => { if (event.buttons) move(timeAt(event)); }} />
      <Picture name={sequence.NAME} file="sequence" id="sequence" class="whole" label="Segments of its connection and their acknowledgements, as the sender saw them."
        paint={pen => sequence.paint(pen, { packets: all, connection: connections[0]!, stretch, from, span: [begin, last], at: cursor })}>
        <span class="key"><span><i class="data" />segment</span> <span><i class="again" />again</span> <span><i class="ack" />acknowledged</span></span>
      </Picture>
    </>
  );
}

/** The packets of the chosen request, or why there are none. */
export function OnTheirWay() {
  const found = packets.value;
  if (typeof found === "string") return <p class="hint" id="packets">{found && `No packets are drawn: ${found}. Choose fewer requests.`}</p>;
  return drawn.value && <Pictures {...drawn.value} />;
}
