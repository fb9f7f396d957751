// The state of the page. The text is the scenario: controls show it and edit it, and each change is checked and run.
import { batch, computed, signal } from "@preact/signals";
import { Core } from "./core/client";
import type { Checked, Edits, Load, Outcome, Packets, Preset, Problem, Table, Tables } from "./core/messages";
import { type Carried, tablesOf } from "./examples";
import { TABLE, fileOf, fromDisk } from "./names";
import { rewritten } from "./rewrite";
import { type Protocol, type Proxy, draftOf, kindOf, protocolEdits, tableEdits } from "./scenario";

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
/** The tables that the core has. */
export const tables = signal<Tables | null>(null);
/** The last text without problems, and what it says. */
export const checked = signal<Checked | null>(null);
/** The load of the last text that stood for a moment. */
export const load = signal<Load | null>(null);
export const problems = signal<Problem[]>([]);
/** Why there is no result, or what came of a file; it stands until the next action. */
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
/** Tables that belong to the scenario: they came with it, or took the place of others. */
let own: Table[] = [];
/** Tables dropped on the page, for any scenario that names them. */
const dropped = new Map<string, Table>();
let past: { text: string; own: Table[] }[] = [];
let gesture = { name: "", at: 0 };
const edits = new Map<string, string | null>();
let editing = Promise.resolve();
export const canUndo = signal(false);

const told = (error: unknown) => { notice.value = error instanceof Error ? error.message : String(error); };

/** Does what a control asks for; what goes wrong is said, and controls show the scenario again. */
export async function act(work: () => Promise<void>): Promise<void> {
  acting.value++;
  notice.value = "";
  await work().catch(error => {
    told(error);
    batch(() => { moving.value = {}; checked.value = checked.value && { ...checked.value }; });
  });
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
  past = [...past, { text: text.value, own }].slice(-UNDONE_MAX);
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
  ({ own } = last);
  text.value = last.text;
  proceed();
});

/** The tables that a scenario names; or the first name among them that is not here. */
function tablesFor({ requests, hosts }: Checked["effective"]["workload"]): Tables | string | null {
  if (requests === undefined) return null;
  const held = (name: string) => own.find(table => table.name === name) ?? dropped.get(fileOf(name));
  const found = held(requests);
  if (!found) return requests;
  if (hosts === undefined) return { requests: found };
  const theirs = held(hosts);
  return theirs ? { requests: found, hosts: theirs } : hosts;
}

async function give(next: Tables): Promise<void> {
  const now = tables.value;
  if (now?.requests.bytes === next.requests.bytes && now.hosts?.bytes === next.hosts?.bytes) return;
  await core.ask("tables", { tables: next });
  tables.value = next;
}

/** Opens a scenario with the tables that come with it, and no others. */
export const open = (scenario: Carried): Promise<void> => act(async () => {
  if (text.value) remember("");
  own = tablesOf(scenario);
  batch(() => { chosen.value = null; text.value = scenario.text; });
  proceed();
});

/** Keeps tables for scenarios that name them. */
export const keep = (tables: Table[]): void => tables.forEach(table => dropped.set(table.name, table));

/** Takes tables for the scenario at hand: those that it names, or else one in place of its requests. */
export const take = (given: Table[]): Promise<void> => act(async () => {
  keep(given);
  const found = await core.ask("check", { text: text.value });
  const { requests, hosts } = "effective" in found ? found.effective.workload : {};
  const named = [requests, hosts].flatMap(name => given.filter(table => name !== undefined && table.name === fileOf(name)).map(table => ({ ...table, name: name! })));
  if (named.length) {
    remember("");
    own = [...named, ...own.filter(table => !named.some(({ name }) => name === table.name))];
    proceed();
    return;
  }
  const next = given[0]!;
  await give({ requests: next });
  remember("");
  own = [next];
  edit(tableEdits(next.name));
  if (hosts !== undefined) notice.value = `${next.name} takes the place of ${requests} and its hosts, ${hosts}. Undo takes it back.`;
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
    write(await core.ask("edit", { text: text.value, edits: all }), name);
  });
}

/** Has all legs of HTTP speak one version; keys of theirs that it does not know go, and are named. */
export const speak = (protocol: Protocol): Promise<void> => act(async () => {
  const now = checked.value!, edits = protocolEdits(now.effective, protocol);
  const next = await core.ask("edit", { text: text.value, edits }), found = await core.ask("check", { text: next });
  const wrong = "problems" in found ? found.problems.filter(({ key }) => /^leg\.\d+\.(carrier|tcp)\./.test(key)).map(({ key }) => key) : [];
  write(await core.ask("edit", { text: next, edits: wrong.map(key => [key, null]) }));
  if (wrong.length) notice.value = `Not kept with ${protocol}: ${wrong.join(", ")}. Undo takes it back.`;
});

/** Writes the scenario over another kind of path or with another proxy; with its own long part, if `keep` says so. */
export const draft = (path: string, proxy: Proxy, keep: boolean): Promise<void> => act(async () => {
  const now = checked.value;
  if (!now) return write(await core.ask("draft", { choices: draftOf(path, proxy, null) }));
  if (problems.value.length) throw new Error("The text has problems: mend it first, or take it back with Undo.");
  const next = await rewritten(core, now, path, proxy, keep);
  write(next.text);
  if (next.lost.length) notice.value = `Not kept as it was: ${next.lost.join(", ")}. Undo takes it back.`;
});

/** The kind of path and the proxy of the scenario at hand. */
export const kind = computed(() => checked.value && kindOf(checked.value));

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
    await turn(text.value).catch(error => { if (!wanted) told(error); });
  }
  isRunning.value = false;
  await new Promise(go => setTimeout(go, STANDS));
  const now = outcome.value, scenario = checked.value;
  if (isBusy.value || !scenario || scenario.text !== text.value || typeof tablesFor(scenario.effective.workload) === "string") return;
  load.value = await core.ask("load", { text: scenario.text }).catch(error => { told(error); return null; });
  if (isBusy.value || !now || isStale.value) return;
  const found = await core.ask("packets", { text: now.text, links: scenario.links.length }).catch((error: Error) => error.message);
  if (found !== null && outcome.value === now) packets.value = typeof found === "string" ? found : { run: now, scenario, all: found };
}

/** The row of a request that nine tenths are as quick as; of the first where none ended, and null of none. */
function typical({ requests: { request, start_ns, end_ns }, ended }: Outcome): number | null {
  const time = (row: number) => end_ns[row]! - start_ns[row]!;
  return [...ended].sort((one, other) => time(one) - time(other))[Math.ceil(ended.length * 0.9) - 1] ?? (request.length ? 0 : null);
}

/** What is to be done for a table that is not here. */
function missing(name: string): string {
  const isText = TABLE.test(name);
  return `This scenario names ${name}, which is not here: ${isText ? "drop it on this page" : fromDisk(fileOf(name))}.`;
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
    if (!wanted && !edits.size) moving.value = {};
  });
  const needed = tablesFor(found.effective.workload);
  if (typeof needed === "string") {
    notice.value = missing(needed);
    return;
  }
  if (needed) await give(needed);
  const slow = setTimeout(() => { if (wanted) core.stop(); }, PATIENCE);
  try {
    const result = await core.ask("run", { text: of, seed: found.effective.run.seed });
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
