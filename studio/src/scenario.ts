// Controls as views of a scenario: where its keys are, what they say now, and the edits of a movement.
import type { Checked, Draft, Edits, Effective } from "./core/messages";
import { three } from "./numbers";

export const FILE = "studio.toml";
export const PROTOCOLS = [["http/1.0", "HTTP/1.0"], ["http/1.1", "HTTP/1.1"], ["http/2", "HTTP/2"]] as const;
export const PROXIES = ["none", "split", "mux", "pep"] as const;
export type Proxy = (typeof PROXIES)[number];
export type Protocol = (typeof PROTOCOLS)[number][0];

/** Place of the long part among the links: the one with a preset, or else the one with the longest delay. */
export function longLink({ effective, links }: Checked): number {
  const preset = effective.path.link.findIndex(link => link.preset !== undefined);
  if (preset >= 0) return preset;
  const delays = links.map(({ up, down }) => up.delay_ms + down.delay_ms);
  return delays.indexOf(Math.max(...delays));
}

/** Figures of a link in both directions. */
type Ways = Checked["links"][number];

/** A figure of the long part with a slider of its own. */
export interface Knob {
  name: string;
  label: string;
  unit: string;
  /** Ends of the slider, which is logarithmic. */
  from: number;
  to: number;
  /** True where its lowest position stands for zero. */
  hasZero: boolean;
  value(ways: Ways): number | null;
  edits(link: string, value: number, ways: Ways): Edits;
}

const both = (link: string, key: string, value: string): Edits => [[`${link}.up.${key}`, value], [`${link}.down.${key}`, value]];
const mean = (one: number, other: number) => (one + other) / 2;

export const KNOBS: Knob[] = [
  {
    name: "delay", label: "Delay one way", unit: "ms", from: 0.1, to: 1000, hasZero: false,
    value: ({ up, down }) => mean(up.delay_ms, down.delay_ms),
    edits: (link, ms) => both(link, "delay", `"${three(ms)} ms"`),
  },
  {
    name: "down", label: "Rate down", unit: "Mbit/s", from: 0.05, to: 5000, hasZero: false,
    value: ({ down }) => down.rate_mbps,
    edits: (link, rate) => [[`${link}.down.rate`, `"${three(rate)} Mbit/s"`]],
  },
  {
    name: "up", label: "Rate up", unit: "Mbit/s", from: 0.05, to: 5000, hasZero: false,
    value: ({ up }) => up.rate_mbps,
    edits: (link, rate) => [[`${link}.up.rate`, `"${three(rate)} Mbit/s"`]],
  },
  {
    name: "loss", label: "Loss", unit: "%", from: 0.0001, to: 20, hasZero: true,
    value: ({ up, down }) => up.loss === null || down.loss === null ? null : 100 * Math.max(up.loss, down.loss),
    edits: (link, percent) => both(link, "loss", percent > 0 ? `{ kind = "bernoulli", probability = ${Number((percent / 100).toPrecision(3))} }` : '{ kind = "none" }'),
  },
  {
    name: "queue", label: "Queue", unit: "ms", from: 1, to: 5000, hasZero: false,
    value: ({ down }) => down.queue_ms,
    edits: (link, ms, { up, down }) =>
      [[`${link}.up.${up.queue_key}`, `"${three(ms)} ms"`], [`${link}.down.${down.queue_key}`, `"${three(ms)} ms"`]],
  },
];

/** Positions of a slider. */
export const POSITIONS = 400;

export function valueAt({ from, to, hasZero }: Knob, position: number): number {
  if (hasZero && position === 0) return 0;
  return Number((from * (to / from) ** (position / POSITIONS)).toPrecision(position === POSITIONS ? 12 : 2));
}

export function positionOf({ from, to, hasZero }: Knob, value: number): number {
  if (hasZero && value === 0) return 0;
  const position = Math.log(value / from) / Math.log(to / from) * POSITIONS;
  return Math.round(Math.max(hasZero ? 1 : 0, Math.min(POSITIONS, position)));
}

export const isHttp = (kind: string): kind is Protocol => PROTOCOLS.some(([name]) => name === kind);
export const httpLegs = ({ leg }: Effective) => leg.flatMap(({ carrier }, place) => isHttp(carrier.kind) ? [place] : []);

/** The version of HTTP of all legs that speak it; null where they differ, or none does. */
export function protocolOf({ leg }: Effective): Protocol | null {
  const kinds = new Set(leg.map(({ carrier }) => carrier.kind).filter(isHttp));
  return kinds.size === 1 ? [...kinds][0]! : null;
}

export const protocolEdits = (effective: Effective, protocol: string): Edits =>
  httpLegs(effective).map(place => [`leg.${place}.carrier.kind`, JSON.stringify(protocol)]);

/** Edits that take the requests of a table in place of others. */
export const tableEdits = (name: string): Edits =>
  [["workload.requests", JSON.stringify(name)], ...["hosts", "family", "parameters", "days"].map(key => [`workload.${key}`, null] as [string, null])];

/** Versions of TLS on the legs, each once. */
export const tlsOf = ({ leg }: Effective): string[] => [...new Set(leg.flatMap(({ tls, carrier }) => tls && isHttp(carrier.kind) ? [tls.version] : []))];

export const tlsEdits = (effective: Effective, on: boolean): Edits =>
  httpLegs(effective).map(place => [`leg.${place}.tls`, on ? '{ version = "1.3" }' : null]);

/** The proxy on the path; null where it is another arrangement. */
export function proxyOf({ leg }: Effective): Proxy | null {
  const kinds = leg.map(({ carrier }) => carrier.kind), splits = leg.some(each => each.split?.length);
  if (leg.length === 1 && isHttp(kinds[0]!)) return splits ? "pep" : "none";
  if (leg.length !== 2 || splits || !isHttp(kinds[1]!)) return null;
  return kinds[0] === "mux" ? "mux" : isHttp(kinds[0]!) ? "split" : null;
}

/** Choices for a scenario of this kind of path and proxy, with the protocol and the requests of the present one. */
export function draftOf(path: string, proxy: Proxy, now: Effective | null): Draft {
  const carrier = `{ kind = "${now && protocolOf(now) || "http/1.1"}" }`, tls = now ? tlsOf(now).length > 0 : true;
  const requests = now?.workload.requests;
  return {
    file: FILE, ways: [{ path, proxy }], release: "delayed", span_s: 600,
    serving: { carrier, tls, nagle: false, reasons: ["HTTP, TLS and Nagle's rule as chosen in the studio; a log says more: farweb new --log."] },
    requests: requests === undefined ? "web" : { table: { requests } },
  };
}

/** The kind of path and the proxy of a scenario. */
export const kindOf = (now: Checked) => ({ path: now.effective.path.link[longLink(now)]!.preset ?? "", proxy: proxyOf(now.effective) });
