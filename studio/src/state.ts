// The state of the page. The text is the scenario: controls show it and edit it, and each change is checked and run.
import { batch, computed, signal } from "@preact/signals";
import { Core } from "./core/client";
import type { Checked, Edits, Outcome, Packets, Preset, Problem, Tables } from "./core/messages";
import { type Carried, examples, tablesOf } from "./examples";
import { type Proxy, draftOf, figuresOf, longLink, proxyOf, tableEdits } from "./scenario";

/** Time in ms after which a run makes way for a later text: before it, pictures follow a slider better. */
const PATIENCE = 150;
/** Most texts that undo goes back. */
const UNDONE_MAX = 100;
/** Movements of one control within this many ms are undone together. */
const GESTURE = 1000;
/** Time in ms that a result must stand before its packets are asked for: a slider that moves needs none. */
const STANDS = 60;

export const presets = signal<Preset[]>([]);
export const version = signal("");
export const text = signal("");
export const tables = signal<Tables | null>(null);
/** The last text without problems, and what it says. */
export const checked = signal<Checked | null>(null);
export const problems = signal<Problem[]>([]);
/** Why there is no result, or what came of a file. */
export const notice = signal("");
export const outcome = signal<Outcome | null>(null);
export const pinned = signal<Outcome | null>(null);
/** Row of the chosen request. */
export const chosen = signal<number | null>(null);
/** Packets with their run and its scenario, which last until those of a later run are there; or why there are none. */
export const packets = signal<{ run: Outcome; scenario: Checked; all: Packets } | string>("");
/** Positions of sliders whose edits are not checked yet. */
export const moving = signal<Record<string, number>>({});
/** Actions of controls that have not reached the text yet, and the runs that follow. */
const acting = signal(1), isRunning = signal(false);
export const isBusy = computed(() => acting.value > 0 || isRunning.value);
/** True while the result shown is not that of the text. */
export const isStale = computed(() => outcome.value !== null && outcome.value.text !== text.value);

let core: Core;
let wanted = false, began = 0;
let past: { text: string; tables: Tables | null }[] = [];
let gesture = { name: "", at: 0 };
const edits = new Map<string, string | null>();
let editing = Promise.resolve();
export const canUndo = signal(false);

const told = (error: unknown) => { notice.value = error instanceof Error ? error.message : String(error); };

/** Does what a control asks for; what goes wrong is said. */
export async function act(work: () => Promise<void>): Promise<void> {
  acting.value++;
  await work().catch(told);
  acting.value--;
}

export async function begin(): Promise<void> {
  const begun = await Core.begin();
  ({ core } = begun);
  batch(() => {
    presets.value = begun.presets;
    version.value = begun.version;
    acting.value--;
  });
}

function remember(name: string): void {
  const now = performance.now();
  if (name && gesture.name === name && now - gesture.at < GESTURE) {
    gesture.at = now;
    return;
  }
  gesture = { name, at: now };
  past = [...past, { text: text.value, tables: tables.value }].slice(-UNDONE_MAX);
  canUndo.value = true;
}

/** Takes a text; changes of one name in a row are undone together. */
export function write(next: string, name = ""): void {
  if (next === text.value) return;
  if (text.value) remember(name);
  text.value = next;
  proceed();
}

export const undo = (): Promise<void> => act(async () => {
  const last = past.pop();
  if (!last) return;
  canUndo.value = past.length > 0;
  gesture.name = "";
  if (last.tables !== tables.value) await give(last.tables);
  text.value = last.text;
  proceed();
});

async function give(next: Tables | null): Promise<void> {
  await core.ask("tables", { tables: next });
  tables.value = next;
}

/** Opens a scenario with its tables, or with none. */
export const open = (scenario: Carried): Promise<void> => act(async () => {
  if (text.value) remember("");
  await give(tablesOf(scenario));
  batch(() => { notice.value = ""; chosen.value = null; text.value = scenario.text; });
  proceed();
});

/** Takes a table of requests for the scenario at hand. */
export const take = (next: Tables): Promise<void> => act(async () => {
  await core.ask("tables", { tables: next });
  remember("");
  tables.value = next;
  edit(tableEdits(next.name));
  proceed();
});

/** Sets keys of the text, those of one drawing together. */
export function edit(next: Edits, name = ""): void {
  next.forEach(([key, value]) => edits.set(key, value));
  const before = editing;
  editing = act(async () => {
    await before;
    if (!edits.size) return;
    const all = [...edits];
    edits.clear();
    write(await core.ask("edit", { text: text.value, edits: all }).catch(error => { moving.value = {}; throw error; }), name);
  });
}

/** Writes a new scenario of a kind of path and a proxy; with the figures that were moved, if `keep` says so. */
export const draft = (path: string, proxy: Proxy, keep: boolean): Promise<void> => act(async () => {
  const now = checked.value;
  let next = await core.ask("draft", { choices: draftOf(path, proxy, now?.effective ?? null) });
  if (keep && now) {
    const fresh = await core.ask("check", { text: next });
    if ("effective" in fresh) next = await core.ask("edit", { text: next, edits: figuresOf(now, fresh) });
  }
  write(next);
});

/** The kind of path and the proxy of the scenario at hand. */
export const kind = computed(() => {
  const now = checked.value;
  return now && { path: now.effective.path.link[longLink(now)]!.preset ?? "", proxy: proxyOf(now.effective) };
});

function proceed(): void {
  wanted = true;
  if (!isRunning.value) void turns();
  else if (performance.now() - began > PATIENCE) core.stop();
}

async function turns(): Promise<void> {
  isRunning.value = true;
  while (wanted) {
    wanted = false;
    began = performance.now();
    await turn(text.value).catch(told);
  }
  isRunning.value = false;
  await new Promise(go => setTimeout(go, STANDS));
  const now = outcome.value, scenario = checked.value;
  if (isBusy.value || !now || !scenario || isStale.value) return;
  const found = await core.ask("packets", { text: now.text, links: scenario.links.length }).catch((error: Error) => error.message);
  if (found !== null && outcome.value === now) packets.value = typeof found === "string" ? found : { run: now, scenario, all: found };
}

/** The row of a request that nine tenths are as quick as, or null of none. */
function typical({ requests: { start_ns, end_ns }, ended }: Outcome): number | null {
  const time = (row: number) => end_ns[row]! - start_ns[row]!;
  return [...ended].sort((one, other) => time(one) - time(other))[Math.ceil(ended.length * 0.9) - 1] ?? null;
}

async function turn(of: string): Promise<void> {
  const found = await core.ask("check", { text: of });
  if ("problems" in found) {
    batch(() => { problems.value = found.problems; moving.value = {}; });
    return;
  }
  batch(() => {
    problems.value = [];
    checked.value = found;
    notice.value = "";
    if (!wanted && !edits.size) moving.value = {};
  });
  const named = found.effective.workload.requests;
  if (named !== undefined && tables.value?.name !== named) {
    const known = examples.find(example => example.tables?.name === named);
    if (known) await give(tablesOf(known));
    else {
      notice.value = `The requests of this scenario are in ${named}, which is not here: drop it on this page.`;
      return;
    }
  }
  const slow = setTimeout(() => { if (wanted) core.stop(); }, PATIENCE);
  try {
    const result = await core.ask("run", { text: of });
    if (result === null) return;
    batch(() => {
      const number = outcome.value?.requests.request[chosen.value ?? -1];
      outcome.value = result;
      const row = number === undefined ? -1 : result.requests.request.indexOf(number);
      chosen.value = row < 0 ? typical(result) : row;
    });
  } finally {
    clearTimeout(slow);
  }
}
