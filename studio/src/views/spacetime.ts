// Packets on their way: time across, the nodes down by delay; a line a crossing of a link, a bar a wait in its queue, × a loss.
import { EVENT, type Packets } from "../core/messages";
import { mark } from "../numbers";
import { axes, box, linear } from "./axes";
import type { Pen } from "./pen";

export interface SpaceTime {
  packets: Packets;
  nodes: string[];
  /** Delays of the links one way, in ms. */
  delays: number[];
  /** Connections of the chosen request, and its start in ns. */
  own: Set<number>;
  from: number;
  /** What is shown, and the cursor, in ns. */
  span: [number, number];
  at: number | null;
}

export const NAME = "Packets on their way";
/** Room for the names of nodes. */
export const LEFT = 78;
/** Least share of the height that a link has. */
const THIN = 0.09;

/** Places of the nodes between two ends: as far apart as their delays, but none too near to see. */
export function places(delays: number[], from: number, to: number): number[] {
  const sum = delays.reduce((all, each) => all + each, 0) || 1;
  const shares = delays.map(delay => Math.max(THIN, delay / sum)), all = shares.reduce((sum, each) => sum + each, 0);
  return shares.reduce<number[]>((found, share) => [...found, found.at(-1)! + share / all * (to - from)], [from]);
}

/** The kind of a packet, which is its colour. */
export function kind({ retransmission, payload_bytes, control, direction }: Packets, row: number): "again" | "data" | "request" | "ack" {
  if (retransmission[row]) return "again";
  if (payload_bytes[row]! > 0 && direction[row] === 1) return "data";
  return payload_bytes[row]! > 0 || control[row] ? "request" : "ack";
}

export function paint(pen: Pen, { packets, nodes, delays, own, from, span, at }: SpaceTime): void {
  const room = { ...box(pen, LEFT), top: 14 }, heights = places(delays, room.top, room.bottom);
  const x = linear((span[0] - from) / 1e9, (span[1] - from) / 1e9, room.left, room.right), place = (ns: number) => x((ns - from) / 1e9);
  axes(pen, room, x, linear(0, 1, room.bottom, room.bottom - 1), { x: mark, y: () => "" });
  nodes.forEach((node, row) => {
    pen.line([room.left, heights[row]!, room.right, heights[row]!], { colour: "line" });
    pen.text(node, room.left - 8, heights[row]!, "right", "text");
  });
  const { event, link, direction, connection, reached_ns, left_ns, arrived_ns, time_ns } = packets;
  const lines: Record<string, number[]> = { others: [], ack: [], request: [], data: [], again: [] };
  const waits = { own: [] as number[], others: [] as number[] }, lost: number[] = [];
  const seen = (span[1] - span[0]) / (room.right - room.left) * 1.5;   // a shorter wait is not drawn
  for (let row = 0; row < event.length; row++) {
    const isDown = direction[row] === 1, of = link[row]!, isOwn = own.has(connection[row]!);
    const [near, far] = isDown ? [heights[of + 1]!, heights[of]!] : [heights[of]!, heights[of + 1]!];
    if (event[row] === EVENT.drop && time_ns[row]! >= span[0] && time_ns[row]! <= span[1]) {
      const when = place(time_ns[row]!);
      lost.push(when - 4, near - 4, when + 4, near + 4, when - 4, near + 4, when + 4, near - 4);
    }
    if (event[row] !== EVENT.pass || arrived_ns[row]! < span[0] || reached_ns[row]! > span[1]) continue;
    lines[isOwn ? kind(packets, row) : "others"]!.push(place(left_ns[row]!), near, place(arrived_ns[row]!), far);
    if (left_ns[row]! - reached_ns[row]! > seen) {
      const beside = near + (isDown ? 3 : -3);
      waits[isOwn ? "own" : "others"].push(place(reached_ns[row]!), beside, place(left_ns[row]!), beside);
    }
  }
  pen.inside({ ...room, top: 0 }, () => {
    for (const [name, ends] of Object.entries(lines)) {
      const many = ends.length / 4, opacity = name === "others" ? Math.max(0.12, Math.min(0.5, 400 / many)) : Math.max(0.35, Math.min(1, 1600 / many));
      pen.pieces(ends, { colour: name, width: name === "again" ? 2 : name === "others" || name === "ack" ? 1 : 1.5, opacity });
    }
    pen.pieces(waits.others, { colour: "queue", width: 2, opacity: 0.3 });
    pen.pieces(waits.own, { colour: "queue", width: 3 });
    pen.pieces(lost, { colour: "again", width: 2 });
    if (at !== null) pen.line([place(at), 0, place(at), room.bottom], { colour: "mark" });
  });
}

/** The time at a place of the picture, in ns. */
export const timeAt = (offset: number, width: number, [begin, end]: [number, number]): number =>
  begin + (offset - LEFT) / (width - 10 - LEFT) * (end - begin);
