// The core in a thread of its own. Between steps of a run, some 10 ms each, it takes messages.
import { Run, Tables, check, draft, edit, initSync, load, presets, version } from "../../../build/web/farweb_web.js";
import { type Ask, COLUMNS, type Columns, EXCHANGES, type Exchanges, type Outcome, PACKETS, type Packets, type Question, type Questions, type Said } from "./messages";

type Scope = typeof globalThis & { farwebPanicked(message: string): void; onmessage: unknown; postMessage(said: Said, moved?: Transferable[]): void };
const scope = globalThis as unknown as Scope;

/** Events of a step. */
const EVENTS = 40_000;
/** Most packets over links that a run in a tab takes; `farweb run` takes any number. Chosen: some ten seconds. */
const HOPS_MAX = 20_000_000;
/** Most packets over links that a page takes to draw them. Chosen: 200 MB. */
const PACKET_HOPS_MAX = 600_000;
/** The word of the column `status` for requests with a whole response. */
const DONE = 0;

let tables: Tables;
let panic = "";
let latest = 0;
scope.farwebPanicked = message => { panic = message; };

const channel = new MessageChannel();
channel.port1.start();
/** Lets messages in. Several runs may wait for that: the earlier ones then end. */
const turn = () => new Promise(go => { channel.port1.addEventListener("message", go, { once: true }); channel.port2.postMessage(0); });

type Answers = { [Q in Question]: (of: Questions[Q]["of"], id: number) => Questions[Q]["answer"] | Promise<Questions[Q]["answer"]> };

const answers: Answers = {
  begin({ core }) {
    initSync({ module: core });
    tables = Tables.none();
    return { version: version(), presets: JSON.parse(presets()) };
  },
  draft: ({ choices }) => draft(JSON.stringify(choices)),
  edit: ({ text, edits }) => edit(text, JSON.stringify(edits)),
  tables({ tables: given }) {
    const opened = given ? new Tables(given.requests.file, given.requests.bytes, given.hosts?.file ?? "", given.hosts?.bytes) : Tables.none();
    tables.free();
    tables = opened;
    return null;
  },
  check: ({ text }) => ({ text, ...JSON.parse(check(text, tables)) }),
  load: ({ text }) => ({ text, ...JSON.parse(load(text, tables)) }),
  run: ({ text, seed }, id) => run(text, seed, id),
  packets: ({ text, links }, id) => packets(text, links, id),
  stop: () => { latest = 0; return null; },
};

/** Runs a scenario to its end, and gives it to `take`; null where another run came before that. */
async function whole<T>(text: string, id: number, hopsMax: number, take: (run: Run) => T): Promise<T | null> {
  latest = id;
  const run = new Run(text, tables);
  try {
    while (run.advance(EVENTS)) {
      if (isTooLong(run, hopsMax)) throw new Error(`more than ${hopsMax.toLocaleString("en")} packets over links: too many for a tab`);
      await turn();
      if (latest !== id) return null;
    }
    return take(run);
  } finally {
    run.free();
  }
}

/** True when a run has too many packets over links already, or is on the way to twice as many. */
function isTooLong(run: Run, hopsMax: number): boolean {
  const { packet_hops, requests_started, requests_total } = JSON.parse(run.progress());
  if (packet_hops <= hopsMax / 10 || !requests_total) return packet_hops > hopsMax;
  return packet_hops > hopsMax || packet_hops * requests_total / requests_started > 2 * hopsMax;
}

const hops = (run: Run): number => JSON.parse(run.progress()).packet_hops;
const columns = (run: Run, table: string, names: readonly string[]) => Object.fromEntries(names.map(name => [name, run.numbers(table, name)]));

function run(text: string, seed: number, id: number): Promise<Outcome | null> {
  const began = performance.now();
  return whole(text, id, HOPS_MAX, run => {
    const summary = JSON.parse(run.summary());
    if (summary === null) throw new Error("no request began");
    const requests = columns(run, "requests", COLUMNS) as Columns, exchanges = columns(run, "exchanges", EXCHANGES) as Exchanges;
    const from = run.warmup_ns();
    const ended = Uint32Array.from(requests.start_ns.keys()).filter(row => requests.status[row] === DONE && requests.start_ns[row]! >= from);
    return { text, seed, summary, requests, exchanges, ended, hosts: run.words("requests", "host"), hops: hops(run), ms: performance.now() - began };
  });
}

function packets(text: string, links: number, id: number): Promise<Packets | null> {
  const points = ["ends", ...Array.from({ length: links }, (_, link) => `link ${link}`)];
  const recording = edit(text, JSON.stringify([["record.packets", '"all"'], ["record.points", JSON.stringify(points)]]));
  return whole(recording, id, PACKET_HOPS_MAX, run => {
    const words = run.words("packets", "flags"), isControl = words.map(flags => /[SFR]/.test(flags) ? 1 : 0);
    const control = run.numbers("packets", "flags").map(code => isControl[code]!);
    const seen = columns(run, "packets", PACKETS) as Omit<Packets, "control" | "reached_ns">;
    return { ...seen, control, reached_ns: run.reached() };
  });
}

/** Memory of the columns in an answer, which moves to the page. */
const moved = (answer: unknown): Transferable[] =>
  answer !== null && typeof answer === "object" ? Object.values(answer).flatMap(each => each instanceof Float64Array || each instanceof Uint32Array ? [each.buffer] : moved(each)) : [];

scope.onmessage = async ({ data: { id, question, of } }: MessageEvent<Ask>) => {
  try {
    const answer = await (answers[question] as (of: unknown, id: number) => unknown)(of, id);
    scope.postMessage({ id, answer }, question === "run" || question === "packets" ? moved(answer) : []);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof WebAssembly.RuntimeError || panic) scope.postMessage({ id, broken: panic || message });
    else scope.postMessage({ id, refused: message });
  }
};
