// The steps of a request on each leg, one behind the other.
import type { Exchanges } from "../core/messages";
import { mark, seconds } from "../numbers";
import { axes, box, linear } from "./axes";
import type { Pen } from "./pen";

export const STEPS = [
  ["wait", "waits for a connection", "start_ns", "connect_ns"],
  ["request", "request on its way", "connect_ns", "requested_ns"],
  ["server", "server", "requested_ns", "ready_first_ns"],
  ["send", "sending", "ready_first_ns", "sent_last_ns"],
  ["relay", "between relays", "sent_last_ns", "relayed_last_ns"],
  ["travel", "last byte on its way", "relayed_last_ns", "end_ns"],
] as const;

/** Rows of a request, from the leg of the clients on. */
export const rowsOf = ({ request, leg }: Exchanges, number: number): number[] =>
  Array.from(request.keys()).filter(row => request[row] === number).sort((one, other) => leg[one]! - leg[other]!);

export const NAME = "Steps of the request";

export function paint(pen: Pen, exchanges: Exchanges, rows: number[], names: string[]): void {
  if (!rows.length) return;
  const room = box(pen, 10), begin = exchanges.start_ns[rows[0]!]!, end = Math.max(...rows.map(row => exchanges.end_ns[row]! || 0));
  if (!(end > begin)) return;
  const x = linear(0, (end - begin) / 1e9, room.left, room.right), tall = Math.min(44, (room.bottom - 2) / rows.length);
  // A leg without splits has no relays: its last byte is relayed as it is sent.
  const at = (row: number, column: keyof Exchanges) => (column === "relayed_last_ns" && Number.isNaN(exchanges[column][row]!) ? exchanges.sent_last_ns : exchanges[column])[row]!;
  axes(pen, room, x, linear(0, 1, room.bottom, room.bottom - 1), { x: mark, y: () => "" });
  rows.forEach((row, place) => {
    const top = place * tall, middle = top + (tall + 16) / 2;
    pen.text(names[exchanges.leg[row]!] ?? "", room.left, top + 8, "left", "quiet");
    for (const [name, , from, to] of STEPS) {
      const [first, last] = [at(row, from) - begin, at(row, to) - begin].map(ns => x(ns / 1e9)) as [number, number];
      if (!(last > first)) continue;
      pen.pieces([first, middle, Math.max(first + 1, last), middle], { colour: name, width: tall - 20 });
      const text = seconds((at(row, to) - at(row, from)) / 1e9);
      if (pen.textWidth(text) < last - first - 8) pen.text(text, (first + last) / 2, middle, "center", "on-bar");
    }
  });
}
