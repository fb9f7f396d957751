// Latency by size of the response, a dot a request; one is chosen.
import { mark, size } from "../numbers";
import type { Outcome } from "../core/messages";
import { axes, box, fitting, logarithmic } from "./axes";
import type { Pen } from "./pen";

export interface Dot { x: number; y: number; row: number }

export const NAME = "Latency by response size";

/** Paints the dots, and says where they are. */
export function paint(pen: Pen, { requests: { start_ns, end_ns, response_bytes, visit_request }, ended }: Outcome, chosen: number | null): Dot[] {
  const room = box(pen), shown = Array.from(ended, row => ({ row, bytes: response_bytes[row]!, latency: (end_ns[row]! - start_ns[row]!) / 1e9 }));
  if (!shown.length) {
    pen.text("no request ended", pen.width / 2, pen.height / 2, "center", "quiet");
    return [];
  }
  const least = (of: (each: (typeof shown)[0]) => number) => shown.reduce((low, each) => Math.min(low, of(each)), Infinity);
  const most = (of: (each: (typeof shown)[0]) => number) => shown.reduce((high, each) => Math.max(high, of(each)), 0);
  const x = logarithmic(least(each => each.bytes) * 0.8, most(each => each.bytes) * 1.3, room.left, room.right);
  const y = fitting(least(each => each.latency) * 0.85, most(each => each.latency) * 1.15, room.bottom, room.top);
  axes(pen, room, x, y, { x: size, y: mark });
  const dots = shown.map(({ row, bytes, latency }) => ({ x: x(bytes), y: y(latency), row }));
  const isFirst = ({ row }: Dot) => visit_request[row] === 0;
  const centres = (of: Dot[]) => of.flatMap(dot => [dot.x, dot.y]);
  const opacity = Math.max(0.08, Math.min(0.5, 300 / dots.length));
  pen.dots(centres(dots.filter(dot => !isFirst(dot))), 3, { colour: "now", opacity });
  pen.dots(centres(dots.filter(isFirst)), 3, { colour: "first", opacity: Math.max(opacity, 0.3) });
  const own = dots.find(dot => dot.row === chosen);
  if (own) {
    pen.dots([own.x, own.y], 7, { colour: "back" });
    pen.dots([own.x, own.y], 5.5, { colour: "mark" });
  }
  return dots;
}
