// The path at one moment: packets on their way as dots and bars, queues as stacks, × where one is lost.
import { EVENT } from "../core/messages";
import type { Pen } from "./pen";
import { type SpaceTime, kind, places } from "./spacetime";

export const NAME = "The path at this moment";
/** Time for which a loss is seen, as a share of what is shown. */
const LINGERS = 0.02;
/** Packets of a stack beside each other. */
const COLUMN = 6;

export function paint(pen: Pen, { packets, nodes, delays, own, span, at }: SpaceTime): void {
  const left = 30, right = pen.width - 30, middle = pen.height / 2 + 2, where = places(delays, left, right);
  for (const side of [-7, 7]) pen.line([left, middle + side, right, middle + side], { colour: "line", width: 2 });
  if (at !== null) {
    const { event, link, direction, connection, reached_ns, left_ns, arrived_ns, time_ns, payload_bytes } = packets;
    const stacks = new Map<number, number>(), lingers = (span[1] - span[0]) * LINGERS;
    for (let row = 0; row < event.length; row++) {
      const isDown = direction[row] === 1, of = link[row]!, y = middle + (isDown ? 7 : -7);
      const [near, far] = isDown ? [where[of + 1]!, where[of]!] : [where[of]!, where[of + 1]!];
      const opacity = own.has(connection[row]!) ? 1 : 0.35;
      if (event[row] === EVENT.drop && at >= time_ns[row]! && at < time_ns[row]! + lingers) {
        pen.pieces([near - 5, y - 5, near + 5, y + 5, near + 5, y - 5, near - 5, y + 5], { colour: "again", width: 2, opacity });
      }
      if (event[row] !== EVENT.pass || at < reached_ns[row]! || at > arrived_ns[row]!) continue;
      if (at < left_ns[row]!) {
        const queue = 2 * of + Number(isDown), height = stacks.get(queue) ?? 0;
        stacks.set(queue, height + 1);
        const x = near + (isDown ? -1 : 1) * (3 + 6 * Math.floor(height / COLUMN)), bottom = y + (isDown ? 7 : -7) + (isDown ? 4 : -4) * (height % COLUMN);
        pen.pieces([x - 2, bottom, x + 2, bottom], { colour: "queue", width: 3, opacity });
      } else {
        const x = near + (far - near) * (at - left_ns[row]!) / (arrived_ns[row]! - left_ns[row]!), colour = kind(packets, row);
        if (payload_bytes[row]! > 0) pen.pieces([x - 4, y, x + 4, y], { colour, width: 6, opacity });
        else pen.dots([x, y], 2.2, { colour, opacity });
      }
    }
  }
  nodes.forEach((node, place) => {
    const x = where[place]!, isFirst = place === 0, isLast = place === nodes.length - 1;
    pen.pieces([x, middle - 12, x, middle + 12], { colour: "text", width: 6 });
    // Names of the ends below, and of nodes between them, which may be near to an end, above.
    if (isFirst || isLast) pen.text(node, isFirst ? 2 : pen.width - 2, pen.height - 7, isFirst ? "left" : "right", "text");
    else pen.text(node, Math.max(40, Math.min(pen.width - 40, x)), 7, "center", "text");
  });
}
