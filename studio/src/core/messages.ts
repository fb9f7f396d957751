// Questions of the page to its worker, and the answers. Trees of the core keep its names; times are in ns, or in s where they say so.

/** A value of a draft, an edit or a run that the core refuses, in its words. */
export class Refused extends Error {}

export interface Problem { line: number; column: number; key: string; message: string }

/** Figures of a direction of a link; null where it has no such number, as a queue that counts packets; and the key of the queue's limit. */
export interface Figures { rate_mbps: number | null; delay_ms: number; queue_ms: number | null; queue_key: string; loss: number | null }

export interface Leg { from: string; to: string; carrier: { kind: string; [key: string]: unknown }; tls?: { version: string }; split?: { at: string }[] }

/** A scenario with every default spelled out, as far as controls show it. */
export interface Effective {
  name: string;
  path: { nodes: string[]; link: { preset?: string }[] };
  leg: Leg[];
  workload: { family?: string; requests?: string; hosts?: string };
  run: { seed: number };
}

/** A setting that may be a mistake, and why. */
export interface Warning { key: string; words: string }

/** What a text says. */
export interface Checked { text: string; effective: Effective; links: { up: Figures; down: Figures }[]; report: { warnings: Warning[] } }

/** A distribution of times in s, null where a time is infinite: failed requests are slower than any that ended. */
export interface Times {
  n: number;
  mean_s: number | null;
  max_s: number | null;
  observed_s: (number | null)[] | null;
}

export interface Summary {
  requests: number; done: number; failed: number; unfinished: number; left_out: number;
  latency: Times; first_byte: Times;
}

/** The load of a text's requests held against its path, in a sentence; null without requests. */
export interface Load { text: string; answer: string | null; warnings: Warning[] }

/** Columns of the requests, a number a row. */
export const COLUMNS = ["request", "start_ns", "connect_ns", "first_byte_ns", "end_ns", "response_bytes", "visit_request", "status", "host", "connection"] as const;
export type Columns = Record<(typeof COLUMNS)[number], Float64Array>;

/** Columns of requests on each leg; none where the scenario does not record them. */
export const EXCHANGES = ["request", "leg", "connection_down", "start_ns", "connect_ns", "requested_ns", "ready_first_ns", "sent_last_ns", "relayed_last_ns", "end_ns", "cwnd_ns", "window_ns"] as const;
export type Exchanges = Record<(typeof EXCHANGES)[number], Float64Array>;

/** Columns of packets where ends, links and drops saw them; times that do not apply are NaN. */
export const PACKETS = ["time_ns", "connection", "stretch", "link", "event", "direction", "seq", "ack", "payload_bytes", "retransmission", "packet", "left_ns", "arrived_ns"] as const;
export type Packets = Record<(typeof PACKETS)[number], Float64Array> & {
  /** 1 for packets with SYN, FIN or RST. */
  control: Float64Array;
  /** Time at which a packet reached the link that it passed, or that dropped it. */
  reached_ns: Float64Array;
};
/** Codes of the column `event`. */
export const EVENT = { send: 0, receive: 1, drop: 2, pass: 3 } as const;

/** What a run found; `ended` are the rows of requests that ended and began after the warm-up. */
export interface Outcome {
  text: string; seed: number; summary: Summary; requests: Columns; exchanges: Exchanges; ended: Uint32Array; hosts: string[]; hops: number; ms: number;
}

export interface Preset { name: string; title: string; rate: { dated: string }; facts: string[] }

/** Choices that a scenario is written from, as `scenario/draft.rs` has them. */
export interface Draft {
  file: string;
  ways: { path: string; proxy: string }[];
  serving: { carrier: string; tls: boolean; nagle: boolean; reasons: string[] };
  release: string;
  requests: "web" | { table: { requests: string } };
  span_s: number;
}

/** A table under the name that a scenario has for it, and the name that says its form; and the example that it belongs to. */
export interface Table { name: string; file: string; bytes: Uint8Array; example?: string }

/** The tables of a scenario. */
export interface Tables { requests: Table; hosts?: Table }

/** Edits of a text: a key and its new value, null for a key that goes. */
export type Edits = [key: string, value: string | null][];

/** Questions, each with its answer. */
export interface Questions {
  begin: { of: { core: ArrayBuffer }; answer: { version: string; presets: Preset[] } };
  draft: { of: { choices: Draft }; answer: string };
  edit: { of: { text: string; edits: Edits }; answer: string };
  tables: { of: { tables: Tables | null }; answer: null };
  check: { of: { text: string }; answer: Checked | { problems: Problem[] } };
  load: { of: { text: string }; answer: Load };
  /** null: another run came before its end. */
  run: { of: { text: string; seed: number }; answer: Outcome | null };
  /** Every packet of a run; null as of a run. */
  packets: { of: { text: string; links: number }; answer: Packets | null };
  stop: { of: object; answer: null };
}
export type Question = keyof Questions;

export interface Ask { id: number; question: Question; of: unknown }
export interface Said { id: number; answer?: unknown; refused?: string; broken?: string }
