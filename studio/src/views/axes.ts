// Scales of a picture, and its axes.
import type { Box, Pen } from "./pen";

export interface Scale {
  (value: number): number;
  /** The value at a place. */
  back(place: number): number;
  /** Round values along it, at most some `most`. */
  ticks(most: number): number[];
}

export const box = (pen: Pen, left = 52): Box => ({ left, right: pen.width - 10, top: 8, bottom: pen.height - 24 });

export function linear(low: number, high: number, from: number, to: number): Scale {
  const at = (value: number) => from + (value - low) / (high - low) * (to - from);
  return Object.assign(at, {
    back: (place: number) => low + (place - from) / (to - from) * (high - low),
    ticks(most: number) {
      const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 2.5, 5, 10].map(one => one * power).find(one => one >= rough * 0.95)!;
      const first = Math.ceil(low / step - 1e-9), last = Math.floor(high / step + 1e-9);
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, place) => (first + place) * step);
    },
  });
}

export function logarithmic(low: number, high: number, from: number, to: number): Scale {
  const inner = linear(Math.log10(low), Math.log10(high), from, to);
  const at = (value: number) => inner(Math.log10(value));
  return Object.assign(at, {
    back: (place: number) => 10 ** inner.back(place),
    ticks(most: number) {
      const of = (steps: number[]) => {
        const found: number[] = [];
        for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
          found.push(...steps.map(step => step * 10 ** power).filter(tick => tick >= low * 0.999 && tick <= high * 1.001));
        return found;
      };
      return [[1, 2, 5], [1, 3], [1]].map(of).find(ticks => ticks.length <= most) ?? of([1]);
    },
  });
}

/** A scale for positive values: logarithmic where they differ five times or more. */
export const fitting = (low: number, high: number, from: number, to: number): Scale =>
  (high / low > 5 ? logarithmic : linear)(low, high, from, to);

/** Horizontal lines with their texts, and marks below the picture. */
export function axes(pen: Pen, { left, right, bottom }: Box, x: Scale, y: Scale, words: { x(value: number, step: number): string; y(value: number): string }): void {
  for (const tick of y.ticks(4)) {
    const at = Math.round(y(tick)) + 0.5;
    pen.line([left, at, right, at], { colour: "line" });
    pen.text(words.y(tick), left - 6, at, "right", "quiet");
  }
  const ticks = x.ticks(Math.max(3, Math.floor((right - left) / 70)));
  const gap = ticks[1]! - ticks[0]!, step = Math.abs(ticks.at(-1)! - ticks.at(-2)! - gap) < gap * 1e-3 ? gap : Infinity;
  for (const tick of ticks) {
    const at = Math.round(x(tick)) + 0.5, text = words.x(tick, step), half = pen.textWidth(text) / 2;
    pen.line([at, bottom, at, bottom + 4], { colour: "line" });
    pen.text(text, Math.max(left - 30 + half, Math.min(at, right + 10 - half)), bottom + 14, "center", "quiet");
  }
}
