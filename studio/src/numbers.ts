// Numbers with their units, as farweb writes them everywhere: three significant digits.

export const NONE = "–";

function digits(value: number): string {
  if (value === 0) return "0";
  if (Number.isInteger(value) && Math.abs(value) < 1000) return value.toFixed(0);
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places, roundingMode: "halfEven" } as Intl.NumberFormatOptions);
}

/** A time in s: "342 ms", "5.21 s", "2 h 46 min". */
export function seconds(value: number | null): string {
  if (value === null || Number.isNaN(value)) return NONE;
  if (!Number.isFinite(value)) return "more than any that ended";
  if (value === 0) return "0 s";
  if (Math.abs(value) < 1e-3) return `${digits(value * 1e6)} µs`;
  if (Math.abs(value) < 0.9995) return `${digits(value * 1e3)} ms`;
  if (Math.abs(value) < 600) return `${digits(value)} s`;
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

/** A time beside an axis. */
export const mark = (value: number): string => seconds(value).replace(/(\.\d*?)0+(?= )/, "$1").replace(". ", " ");
