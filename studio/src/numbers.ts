// Numbers with their units, as farweb writes them everywhere: three significant digits.

export const NONE = "–";

/** Decimal places that tell a step from the next; 12 at most. */
function placesOf(step: number): number {
  for (let places = 0; places < 12; places++) {
    const whole = step * 10 ** places;
    if (Math.abs(whole - Math.round(whole)) < 1e-6 * whole) return places;
  }
  return 12;
}

function digits(value: number, step = Infinity): string {
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1000) return value.toFixed(0);
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))), Number.isFinite(step) ? placesOf(step) : 0);
  return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places, roundingMode: "halfEven" } as Intl.NumberFormatOptions);
}

/** A time in s: "342 ms", "5.21 s", "2 h 46 min"; with more digits where times are a smaller step apart. */
export function seconds(value: number | null, step = Infinity): string {
  if (value === null || Number.isNaN(value)) return NONE;
  if (!Number.isFinite(value)) return "more than any that ended";
  if (value === 0) return "0 s";
  if (Math.abs(value) < 1e-3) return `${digits(value * 1e6, step * 1e6)} µs`;
  if (Math.abs(value) < 0.9995) return `${digits(value * 1e3, step * 1e3)} ms`;
  if (Math.abs(value) < 600 || step < 60) return `${digits(value, step)} s`;
  const minutes = Math.round(value / 60);
  return minutes < 120 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")} min`;
}

/** A number of bytes, in powers of ten: "12.3 kB". */
export const size = (bytes: number): string => scaled(bytes, "B");

function scaled(value: number, unit: string): string {
  for (const prefix of ["", "k", "M", "G"]) {
    if (Math.abs(value) < 999.5) return `${digits(value)} ${prefix}${unit}`;
    value /= 1000;
  }
  return `${digits(value)} T${unit}`;
}

/** A share of 0 to 1 in percent: "87.3 %". */
export function share(value: number): string {
  const percent = value * 100;
  return percent > 0 && percent < 0.01 ? "< 0.01 %" : `${digits(percent)} %`;
}

/** A relative difference without its sign: "24.1 %", "<0.1 %". */
export function percents(value: number): string {
  const of = Math.abs(100 * value);
  const text = of < 0.005 ? "0" : of < 0.05 ? "<0.1" : of < 99.95 ? of.toFixed(1) : Math.round(of).toLocaleString("en-US");
  return `${text} %`;
}

/** A text whose numbers have their units on the same line. */
export const unbroken = (text: string): string => text.replace(/(?<=\d) (?=(?:[µm]?s|min|h|[kMGT]?B|%)(?!\w))/g, "\u00a0");

/** A whole number by thousands: "117,635". */
export const count = (value: number): string => value.toLocaleString("en-US", { maximumFractionDigits: 0 });

export const plural = (value: number, word: string): string => `${count(value)} ${word}${value === 1 ? "" : "s"}`;

/** A number with three digits at most, without zeros at its end: as a scenario has it, and beside an axis. */
export function three(value: number): string {
  if (value === 0) return "0";
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  const text = value.toFixed(places);
  return places ? text.replace(/\.?0+$/, "") : text;
}

/** A time beside an axis, whose next mark is a step away. */
export const mark = (value: number, step?: number): string => seconds(value, step).replace(/(\.\d*?)0+(?= )/, "$1").replace(". ", " ");
