// The state of the page. The text is the scenario: controls show it and edit it, and each change is checked and run.
import { batch, computed, signal } from "@preact/signals";
import { Core } from "./core/client";
import type { Checked, Edits, Outcome, Preset, Problem, Tables } from "./core/messages";
import { type Carried, examples, tablesOf } from "./examples";
import { type Proxy, draftOf, figuresOf, longLink, proxyOf, tableEdits } from "./scenario";

/** Time in ms after which a run makes way for a later text: before it, pictures follow a slider better. */
const PATIENCE = 150;
/** Most texts that undo goes back. */
const UNDONE_MAX = 100;
/** Movements of one control within this many ms are undone together. */
const GESTURE = 1000;

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
/** Positions of sliders whose edits are not checked yet. */
export const moving = signal<Record<string, number>>({});
export const isBusy = signal(true);
/** True while the result shown is not that of the text. */
export const isStale = computed(() => outcome.value !== null && outcome.value.text !== text.value);

let core: Core;
let wanted = false, isRunning = false, began = 0;
let past: { text: string; tables: Tables | null }[] = [];
let gesture = { name: "", at: 0 };
const edits = new Map<string, string | null>();
let editing = Promise.resolve();
export const canUndo = signal(false);

const told = (error: unknown) => { notice.value = error instanceof Error ? error.message : String(error); };

export async function begin(): Promise<void> {
  const begun = await Core.begin();
  ({ core } = begun);
  batch(() => {
    presets.value = begun.presets;
    version.value = begun.version;
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

export async function undo(): Promise<void> {
  const last = past.pop();
  if (!last) return;
  canUndo.value = past.length > 0;
  gesture.name = "";
  if (last.tables !== tables.value) await give(last.tables);
  text.value = last.text;
  proceed();
}

async function give(next: Tables | null): Promise<void> {
  await core.ask("tables", { tables: next });
  tables.value = next;
}

/** Opens a scenario with its tables, or with none. */
export async function open(scenario: Carried): Promise<void> {
  const next = tablesOf(scenario);
  try {
    if (text.value) remember("");
    await give(next);
    batch(() => { notice.value = ""; chosen.value = null; text.value = scenario.text; });
    proceed();
  } catch (error) {
    told(error);
  }
}

/** Takes a table of requests for the scenario at hand. */
export async function take(next: Tables): Promise<void> {
  try {
    await core.ask("tables", { tables: next });
    remember("");
    tables.value = next;
    edit(tableEdits(next.name));
    proceed();
  } catch (error) {
    told(error);
  }
}

/** Sets keys of the text, those of one drawing together. */
export function edit(next: Edits, name = ""): void {
  next.forEach(([key, value]) => edits.set(key, value));
  editing = editing.then(async () => {
    if (!edits.size) return;
    const all = [...edits];
    edits.clear();
    write(await core.ask("edit", { text: text.value, edits: all }), name);
  }).catch(error => { moving.value = {}; told(error); });
}

/** Writes a new scenario of a kind of path and a proxy; with the figures that were moved, if `keep` says so. */
export async function draft(path: string, proxy: Proxy, keep: boolean): Promise<void> {
  try {
    const now = checked.value;
    let next = await core.ask("draft", { choices: draftOf(path, proxy, now?.effective ?? null) });
    if (keep && now) {
      const fresh = await core.ask("check", { text: next });
      if ("effective" in fresh) next = await core.ask("edit", { text: next, edits: figuresOf(now, fresh) });
    }
    write(next);
  } catch (error) {
    told(error);
  }
}

/** The kind of path and the proxy of the scenario at hand. */
export const kind = computed(() => {
  const now = checked.value;
  return now && { path: now.effective.path.link[longLink(now)]!.preset ?? "", proxy: proxyOf(now.effective) };
});

function proceed(): void {
  wanted = true;
  isBusy.value = true;
  if (!isRunning) void turns();
  else if (performance.now() - began > PATIENCE) core.stop();
}

async function turns(): Promise<void> {
  isRunning = true;
  while (wanted) {
    wanted = false;
    began = performance.now();
    await turn(text.value).catch(told);
  }
  isRunning = isBusy.value = false;
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
      outcome.value = result;
      if (chosen.value !== null && chosen.value >= result.requests.request.length) chosen.value = null;
    });
  } finally {
    clearTimeout(slow);
  }
}
