// Shares of requests that took at most so long, of this run and of the pinned one.
import { SHARES, hasQuantile } from "../answer";
import { mark, seconds, share } from "../numbers";
import type { Outcome } from "../core/messages";
import { axes, box, fitting, linear } from "./axes";
import type { Pen } from "./pen";

export interface Distribution { now: Curve; pinned: Curve | null }

/** Latencies in s in order, of those that ended; `n` counts all. */
export interface Curve { times: Float64Array; n: number; marks: (number | null)[] }

export const NAME = "Share of requests within a time";

export function curve({ requests: { start_ns, end_ns }, ended, summary }: Outcome): Curve {
  const times = Float64Array.from(ended, row => (end_ns[row]! - start_ns[row]!) / 1e9).sort();
  return { times, n: summary.requests, marks: SHARES.map((share, place) => hasQuantile(summary.requests, share) ? summary.latency.observed_s?.[place] ?? null : null) };
}

export function paint(pen: Pen, { now, pinned }: Distribution, hover: number | null): void {
  const room = box(pen), curves = [pinned, now].filter(each => each !== null && each.times.length > 0) as Curve[];
  if (!curves.length) return pen.text("no request ended", pen.width / 2, pen.height / 2, "center", "quiet");
  const low = Math.min(...curves.map(each => each.times[0]!)) * 0.9, high = Math.max(...curves.map(each => each.times.at(-1)!)) * 1.1;
  const x = fitting(low, high, room.left, room.right), y = linear(0, 1, room.bottom, room.top);
  axes(pen, room, x, y, { x: mark, y: part => `${Math.round(part * 100)} %` });
  for (const { times, n, marks } of curves) {
    const isNow = times === now.times, colour = isNow ? "now" : "pinned";
    const points = [x(times[0]!), y(0)];
    times.forEach((time, place) => points.push(x(time), y(place / n), x(time), y((place + 1) / n)));
    pen.line(points, { colour, width: isNow ? 2 : 1.5, dashed: !isNow });
    const dots = SHARES.flatMap((part, place) => marks[place] ? [x(marks[place]!), y(part)] : []);
    pen.dots(dots, isNow ? 3.5 : 2.5, { colour });
  }
  if (hover === null || hover < room.left || hover > room.right) return;
  const time = x.back(hover), within = now.times.filter(each => each <= time).length / now.n;
  pen.line([hover, room.top, hover, room.bottom], { colour: "quiet" });
  const right = hover > (room.left + room.right) / 2;
  pen.text(`${share(within)} within ${seconds(time)}`, hover + (right ? -8 : 8), Math.max(room.top + 8, y(within) - 12), right ? "right" : "left", "text");
}
