// Another kind of path or proxy for a scenario: its path and legs are written anew, and everything else stays as it was.
import type { Core } from "./core/client";
import type { Checked, Edits, Effective } from "./core/messages";
import { type Proxy, draftOf, isHttp, kindOf, longLink } from "./scenario";

/** A part of a text: tables of one key at the top, with the comments above them. */
interface Part { key: string; text: string }

const DRAWN = ["path", "leg"];
/** The path that a draft has where a scenario's long part is of its own. */
const ANY_PATH = "geo-viasat";
/** Most times that keys with problems are left out. */
const TRIES = 4;

/** The parts of a text; what stands above the first table has no key. */
function partsOf(text: string): Part[] {
  const parts: Part[] = [{ key: "", text: "" }];
  let comments = "";
  for (const line of text.split(/(?<=\n)/)) {
    const key = line.match(/^\s*\[{1,2}\s*([\w-]+)\s*[.\]]/)?.[1];
    if (key === undefined && /^\s*#/.test(line)) comments += line;
    else {
      if (key !== undefined && key !== parts.at(-1)!.key) parts.push({ key, text: "" });
      parts.at(-1)!.text += comments + line;
      comments = "";
    }
  }
  parts.at(-1)!.text += comments;
  return parts;
}

/** A text with the path and the legs of `fresh`, and with its other parts where `mine` has them as a draft does. */
function joined(mine: string, base: string, fresh: string, without: Set<string>): string {
  const [drafted, next] = [base, fresh].map(text => new Map(partsOf(text).map(part => [part.key, part.text])));
  const others = partsOf(mine).filter(({ key }) => !DRAWN.includes(key) && !without.has(key));
  const kept = others.map(({ key, text }) => text === drafted!.get(key) ? next!.get(key) ?? "" : text.replace(/\n*$/, "\n\n"));
  const drawn = DRAWN.map(key => next!.get(key) ?? "");
  return [kept[0], ...drawn, ...kept.slice(1)].join("").replace(/\n+$/, "\n");
}

const isTable = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null && !Array.isArray(value);

/** A value as TOML has it. */
function toml(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(toml).join(", ")}]`;
  return isTable(value) ? `{ ${Object.entries(value).map(([key, each]) => `${key} = ${toml(each)}`).join(", ")} }` : JSON.stringify(value);
}

const isEqual = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** Edits at a key that give its table, `to`, the values of another one. */
function carried(key: string, to: Record<string, unknown>, from: Record<string, unknown>): Edits {
  return [...new Set([...Object.keys(to), ...Object.keys(from)])].flatMap((each): Edits => {
    const [old, next] = [to[each], from[each]], place = `${key}.${each}`;
    if (isEqual(old, next)) return [];
    if (isTable(old) && isTable(next) && old.kind === next.kind) return carried(place, old, next);
    return [[place, next === undefined ? null : toml(next)]];
  });
}

/** The name of what is between two nodes. */
const between = (nodes: string[], link: number) => `${nodes[link]} ${nodes[link + 1]}`;

/** Edits that give a draft links and legs of a scenario: the long part and the last link, those between the same nodes, HTTP to the servers. */
function drawnEdits(now: Checked, fresh: Checked, hasLong: boolean): Edits {
  const { path, leg } = now.effective, long = path.link[longLink(now)]!, ends = path.link.map((_, link) => between(path.nodes, link));
  const links = fresh.effective.path.link.map((link, place): Edits => {
    const key = `path.link.${place}`;
    if (place === longLink(fresh)) return hasLong ? carried(key, long.preset === undefined ? { preset: link.preset } : { ...link }, { ...long }) : [];
    const isLast = place === fresh.links.length - 1 && longLink(now) < path.link.length - 1;
    const same = path.link[ends.indexOf(between(fresh.effective.path.nodes, place))] ?? (isLast ? path.link.at(-1) : undefined);
    return same ? carried(key, { ...link }, { ...same }) : [];
  });
  const served = leg.findLast(({ carrier }) => isHttp(carrier.kind));
  const legs = fresh.effective.leg.map((each, place): Edits => {
    const { from, to, split, carrier } = each, has = isHttp(carrier.kind);
    const same = leg.find(other => other.from === from && other.to === to && isHttp(other.carrier.kind) === has) ?? (has ? served : undefined);
    return same ? carried(`leg.${place}`, { ...each }, { ...same, from, to, split }) : [];
  });
  const edits = [...links, ...legs].flat();
  return [...edits.filter(([, value]) => value !== null), ...edits.filter(([, value]) => value === null)];
}

/** A scenario, what it says, and which of its keys could not be kept. */
interface Rewritten { text: string; effective: Effective; lost: string[] }

async function written(core: Core, now: Checked, path: string, proxy: Proxy, hasLong: boolean): Promise<Rewritten> {
  const own = kindOf(now), drafted = (of: string, with_: Proxy) => core.ask("draft", { choices: draftOf(of || ANY_PATH, with_, now.effective) });
  const [base, plain] = [await drafted(own.path, own.proxy ?? "none"), await drafted(path, proxy)];
  const draft = path ? plain : plain.replace(/(: the long part\.\n)(#.*\n)+/, "$1");   // not the sources of another path
  const fresh = await core.ask("check", { text: draft });
  if ("problems" in fresh) throw new Error(fresh.problems[0]!.message);
  const partOf = (text: string, key: string) => partsOf(text).find(part => part.key === key)?.text;
  const isOwn = (key: string) => partOf(now.text, key) !== partOf(base, key);
  const without = new Set<string>(), lost = new Set<string>();
  if (isOwn("sweep") && /\b(path|leg)\./.test(partOf(now.text, "sweep") ?? "")) without.add("sweep");   // it varies other links then
  let edits = drawnEdits(now, fresh, hasLong), text = draft, found: Checked = fresh;
  for (let tries = 0; tries < TRIES; tries++) {
    const next = joined(now.text, base, draft, without);
    const edited = await core.ask("edit", { text: next, edits }).catch(() => null), said = edited === null ? null : await core.ask("check", { text: edited });
    if (said === null) break;
    if (!("problems" in said)) {
      [text, found] = [edited!, said];
      break;
    }
    for (const { key } of said.problems) {
      const [top = "", ...rest] = key.split("."), part = [top, ...rest.slice(0, 2)].join(".");
      if (DRAWN.includes(top)) {
        lost.add(part);
        edits = edits.filter(([each]) => !`${each}.`.startsWith(`${part}.`));
      } else without.add(top);
    }
  }
  const [before, after] = [now.effective, found.effective].map(of => of as unknown as Record<string, unknown>);
  for (const key of Object.keys(before!)) {
    if (!DRAWN.includes(key) && isOwn(key) && key !== "name" && !isEqual(before![key], after![key])) lost.add(key);
  }
  return { text, effective: found.effective, lost: [...lost] };
}

/** A scenario over another kind of path or with another proxy; with its own long part, if `hasLong` says so. */
export async function rewritten(core: Core, now: Checked, path: string, proxy: Proxy, hasLong: boolean): Promise<Rewritten> {
  const next = await written(core, now, path, proxy, hasLong), own = kindOf(now);
  // What does not come back where nothing changes is lost in any change.
  const same = await written(core, now, own.path, own.proxy ?? "none", true);
  const drawn = (["path", "leg"] as const).filter(key => !isEqual(same.effective[key], now.effective[key]));
  return { ...next, lost: [...drawn, ...next.lost] };
}
