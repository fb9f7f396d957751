// Results of a run: figures, pictures, the chosen request, and all numbers as a table.
import { useComputed, useSignal } from "@preact/signals";
import { SHARES, hasQuantile } from "./answer";
import type { Outcome, Times } from "./core/messages";
import { NONE, count, seconds, size, unbroken } from "./numbers";
import { Picture } from "./picture";
import { checked, chosen, load, outcome, pinned } from "./state";
import * as distribution from "./views/distribution";
import * as sizes from "./views/sizes";
import * as steps from "./views/steps";

/** A time with its exact value, in s. */
const Time = ({ of }: { of: number | null | undefined }) => of == null ? <>{NONE}</> : <data value={String(of)}>{seconds(of)}</data>;

/** Quantiles with a column: those that one of the rows shows. */
const sharesOf = (...requests: number[]) => SHARES.filter(share => requests.some(each => hasQuantile(each, share)));

function Cells({ times: { mean_s, observed_s }, requests, shares }: { times: Times; requests: number; shares: number[] }) {
  return (
    <>
      {shares.map(share => <td key={share}>{hasQuantile(requests, share) && <Time of={observed_s?.[SHARES.indexOf(share)]} />}</td>)}
      <td><Time of={mean_s} /></td>
    </>
  );
}

const Head = ({ first, shares, last }: { first: string; shares: number[]; last: string }) => (
  <thead><tr>{[first, ...shares.map(share => share === 0.5 ? "median" : `${100 * share} %`), "mean", last].map(word => <th key={word} scope="col">{word}</th>)}</tr></thead>
);

function Row({ name, of: { summary }, shares }: { name: string; of: Outcome; shares: number[] }) {
  return <tr class={name}><th scope="row">{name}</th><Cells times={summary.latency} requests={summary.requests} shares={shares} /><td><data value={String(summary.failed)}>{count(summary.failed)}</data></td></tr>;
}

export function Figures() {
  const [now, before] = [outcome.value, pinned.value];
  if (!now) return null;
  const shares = sharesOf(now.summary.requests, before?.summary.requests ?? 0);
  return (
    <table id="figures">
      <Head first="latency" shares={shares} last="failed" />
      <tbody><Row name="now" of={now} shares={shares} />{before && <Row name="pinned" of={before} shares={shares} />}</tbody>
    </table>
  );
}

/** The load held against the path, and settings that may be mistakes. */
export function Load() {
  const now = load.value?.text === checked.value?.text ? load.value : null;
  const warnings = [...checked.value?.report.warnings ?? [], ...now?.warnings ?? []];
  if (!now?.answer && !warnings.length) return null;
  return (
    <div id="load" class="hint">
      {now?.answer && <p>{unbroken(now.answer)}</p>}
      {warnings.map(({ key, words }) => <p key={key + words} class="warning"><code>{key}</code>: {unbroken(words)}</p>)}
    </div>
  );
}

export function Distribution() {
  const hover = useSignal<number | null>(null);
  const curves = useComputed(() => outcome.value && { now: distribution.curve(outcome.value), pinned: pinned.value && distribution.curve(pinned.value) });
  const now = curves.value, [half, most] = now?.now.marks ?? [], at = hover.value;
  return (
    <Picture name={distribution.NAME} file="distribution" id="distribution" label={half == null ? "Fewer than half of the requests ended." : `Half of the requests within ${seconds(half)}${most == null ? "" : `, 90 % within ${seconds(most)}`}.`}
      paint={pen => { if (now) distribution.paint(pen, now, at); }}
      onPointerMove={event => { hover.value = event.offsetX; }} onPointerLeave={() => { hover.value = null; }} />
  );
}

/** Dots as they were painted last, to find the one that is meant. */
let dots: sizes.Dot[] = [];

function choose(event: { offsetX: number; offsetY: number }): void {
  const away = (dot: sizes.Dot) => Math.hypot(dot.x - event.offsetX, dot.y - event.offsetY);
  const near = dots.reduce<sizes.Dot | null>((best, dot) => best && away(best) <= away(dot) ? best : dot, null);
  if (near && away(near) < 24) chosen.value = near.row;
}

function step(event: KeyboardEvent): void {
  const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
  if (!by || !dots.length) return;
  event.preventDefault();
  const order = [...dots].sort((one, other) => one.x - other.x || one.y - other.y), now = order.findIndex(dot => dot.row === chosen.value);
  chosen.value = order[(now + by + order.length) % order.length]!.row;
}

export function Sizes() {
  const now = outcome.value, row = chosen.value;
  return (
    <Picture name={sizes.NAME} file="sizes" id="sizes" label={`${count(now?.ended.length ?? 0)} requests by size and latency. Arrow keys choose one.`} tabindex={0}
      paint={pen => { dots = now ? sizes.paint(pen, now, row) : []; }} onClick={choose} onKeyDown={step}>
      <span class="key"><span><i class="first" />first of a visit</span> <span><i class="now" />later</span></span>
    </Picture>
  );
}

/** Steps of the chosen request. */
export function Steps() {
  const now = outcome.value, row = chosen.value;
  if (!now || row === null) return null;
  const rows = steps.rowsOf(now.exchanges, now.requests.request[row]!), legs = checked.value?.effective.leg ?? [];
  if (!rows.length) return null;
  return (
    <Picture name={steps.NAME} file="steps" id="steps" label="Its steps on each leg, as the text above says." class="whole"
      paint={pen => steps.paint(pen, now.exchanges, rows, legs.map(({ from, to, carrier }) => `${from} → ${to}, ${carrier.kind}`))}>
      <span class="key">{steps.STEPS.map(([name, words]) => <><span key={name}><i class={name} />{words}</span> </>)}</span>
    </Picture>
  );
}

/** The chosen request: how long it took, and until when it connected and waited. */
export function Chosen() {
  const now = outcome.value, row = chosen.value;
  if (!now || row === null) return <p class="hint" id="chosen">Choose a request in the picture, by pointer or by arrow keys.</p>;
  const { request, start_ns, connect_ns, first_byte_ns, end_ns, response_bytes, visit_request, status, host } = now.requests;
  const at = (column: Float64Array) => (column[row]! - start_ns[row]!) / 1e9;
  const visit = visit_request[row] === 0 ? ", the first of its visit" : visit_request[row] === 1 ? ", a later one of its visit" : "";
  const waited = Math.max(0, at(connect_ns));
  return (
    <p id="chosen" role="status">
      Request {count(request[row]!)}, {unbroken(size(response_bytes[row]!))} from {now.hosts[host[row]!]}{visit}: {["", "failed", "cut off by the end of the run"][status[row]!] || unbroken(seconds(at(end_ns)))}
      {Number.isNaN(at(first_byte_ns)) ? "." : unbroken(`; its connection was there after ${seconds(waited)}, its first byte after ${seconds(at(first_byte_ns))}.`)}
    </p>
  );
}

export function Numbers() {
  const now = outcome.value;
  if (!now) return null;
  const { requests, done, failed, unfinished, left_out, latency, first_byte } = now.summary, shares = sharesOf(requests);
  return (
    <details id="numbers">
      <summary>Numbers</summary>
      <table>
        <Head first="time" shares={shares} last="max" />
        <tbody>
          <tr><th scope="row">latency</th><Cells times={latency} requests={requests} shares={shares} /><td><Time of={latency.max_s} /></td></tr>
          <tr><th scope="row">first byte</th><Cells times={first_byte} requests={requests} shares={shares} /><td><Time of={first_byte.max_s} /></td></tr>
        </tbody>
      </table>
      <p>{count(requests)} requests: {count(done)} done, {count(failed)} failed, {count(unfinished)} cut off by the end of the run{left_out ? `; ${count(left_out)} more in the warm-up, in no number` : ""}.
        {" "}{count(now.hops)} packets over links, simulated in {seconds(now.ms / 1e3)}.</p>
    </details>
  );
}
