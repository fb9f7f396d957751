// The core in a thread of its own. Between steps of a run, some 10 ms each, it takes messages.
import { Run, Tables, check, draft, edit, initSync, presets, version } from "../../../build/web/farweb_web.js";
import { COLUMNS, type Ask, type Columns, type Outcome, type Question, type Questions, type Said } from "./messages";

type Scope = typeof globalThis & { farwebPanicked(message: string): void; onmessage: unknown; postMessage(said: Said, moved?: Transferable[]): void };
const scope = globalThis as unknown as Scope;

/** Events of a step. */
const EVENTS = 40_000;
/** Most packets over links that a run in a tab takes; `farweb run` takes any number. Chosen: some ten seconds. */
const HOPS_MAX = 20_000_000;
/** The word of the column `status` for requests with a whole response. */
const DONE = 0;

let tables: Tables;
let panic = "";
let latest = 0;
scope.farwebPanicked = message => { panic = message; };

const channel = new MessageChannel();
const turn = () => new Promise(go => { channel.port1.onmessage = go; channel.port2.postMessage(0); });

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
    const opened = given ? new Tables(given.file, given.requests, given.hosts?.name ?? "", given.hosts?.bytes) : Tables.none();
    tables.free();
    tables = opened;
    return null;
  },
  check: ({ text }) => JSON.parse(check(text, tables)),
  run: ({ text }, id) => run(text, id),
  stop: () => { latest = 0; return null; },
};

async function run(text: string, id: number): Promise<Outcome | null> {
  latest = id;
  const began = performance.now(), own = new Run(text, tables);
  try {
    while (own.advance(EVENTS)) {
      const { packet_hops } = JSON.parse(own.progress());
      if (packet_hops > HOPS_MAX) throw new Error(`more than ${HOPS_MAX.toLocaleString("en")} packets over links: too many for a tab. Save the scenario, and farweb run takes them`);
      await turn();
      if (latest !== id) return null;
    }
    const numbers = COLUMNS.map(column => [column, own.numbers("requests", column)]);
    const summary = JSON.parse(own.summary());
    if (summary === null) throw new Error("no request began");
    const requests = Object.fromEntries(numbers) as Columns, from = own.warmup_ns();
    const ended = Uint32Array.from(requests.start_ns.keys()).filter(row => requests.status[row] === DONE && requests.start_ns[row]! >= from);
    const { packet_hops } = JSON.parse(own.progress());
    return { text, summary, requests, ended, hosts: own.words("requests", "host"), hops: packet_hops, ms: performance.now() - began };
  } finally {
    own.free();
  }
}

scope.onmessage = async ({ data: { id, question, of } }: MessageEvent<Ask>) => {
  try {
    const answer = await (answers[question] as (of: unknown, id: number) => unknown)(of, id);
    const columns = question === "run" && answer ? Object.values((answer as Outcome).requests).map(column => column.buffer) : [];
    scope.postMessage({ id, answer }, columns);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    if (error instanceof WebAssembly.RuntimeError || panic) scope.postMessage({ id, broken: panic || message });
    else scope.postMessage({ id, refused: message });
  }
};
