// Time and sequence of a connection as the sender of its responses saw them: a stroke a segment, a stair for acknowledgements.
import { EVENT, type Packets } from "../core/messages";
import { mark, size } from "../numbers";
import { axes, box, linear } from "./axes";
import type { Pen } from "./pen";
import { LEFT } from "./spacetime";

export interface Sequence { packets: Packets; connection: number; stretch: number; from: number; span: [number, number]; at: number | null }

export const NAME = "Time and sequence";

export function paint(pen: Pen, { packets, connection, stretch, from, span, at }: Sequence): void {
  const { event, time_ns, seq, ack, payload_bytes, direction, retransmission } = packets, room = box(pen, LEFT);
  const own = (row: number) => packets.connection[row] === connection && packets.stretch[row] === stretch;
  const segments: number[] = [], acks: number[] = [];
  for (let row = 0; row < event.length; row++) {
    if (!own(row) || time_ns[row]! > span[1]) continue;
    if (event[row] === EVENT.send && direction[row] === 1 && payload_bytes[row]! > 0 && time_ns[row]! >= span[0]) segments.push(row);
    if (event[row] === EVENT.receive && direction[row] === 0) acks.push(row);
  }
  if (!segments.length) {
    pen.text("no response data in this time", pen.width / 2, pen.height / 2, "center", "quiet");
    return;
  }
  const foot = Math.min(...segments.map(row => seq[row]!)), high = Math.max(...segments.map(row => seq[row]! + payload_bytes[row]!)) - foot;
  const x = linear((span[0] - from) / 1e9, (span[1] - from) / 1e9, room.left, room.right), y = linear(0, high * 1.06, room.bottom, room.top);
  const place = (ns: number) => x((ns - from) / 1e9);
  axes(pen, room, x, y, { x: mark, y: size });
  pen.inside(room, () => {
    const stair = [room.left, y(0)];
    let level = 0;
    for (const row of acks) {
      stair.push(place(time_ns[row]!), y(level));
      level = Math.max(level, ack[row]! - foot);
      stair.push(place(time_ns[row]!), y(level));
    }
    pen.line(stair, { colour: "ack", width: 1.5 });
    for (const again of [0, 1]) {
      const ends = segments.filter(row => retransmission[row] === again).flatMap(row => {
        const when = place(time_ns[row]!), low = y(seq[row]! - foot);
        return [when, low, when, Math.min(low - 2, y(seq[row]! + payload_bytes[row]! - foot))];
      });
      pen.pieces(ends, { colour: again ? "again" : "data", width: 2 });
    }
    if (at !== null) pen.line([place(at), room.top, place(at), room.bottom], { colour: "mark" });
  });
}
