// The answer in a sentence, in the words of `farweb show`, and how it differs from the pinned run.
import type { Outcome, Summary } from "./core/messages";
import { count, percents, plural, seconds } from "./numbers";

/** Values beyond a quantile that is shown, as `quantiles.py` has it. */
const BEYOND = 5;

/** Quantiles that are shown where they mean something. */
export const SHARES = [0.5, 0.9, 0.99];

/** True of the median, and when enough of so many values lie beyond the quantile: from 50 on for 90 %, from 500 on for 99 %. */
export const hasQuantile = (number: number, share: number) => share <= 0.5 || number * (1 - share) >= BEYOND - 1e-9;

export function answer({ requests, failed, unfinished, left_out, latency }: Summary): string {
  if (!requests) return `No request began${left_out ? " after the warm-up" : ""}.`;
  const lost = `${count(failed)} failed${unfinished ? `, ${count(unfinished)} cut off by the end of the run` : ""}`;
  const of = plural(requests, "request"), [half, most] = latency.observed_s ?? [];
  if (half == null) return `At least half of ${of} failed or were cut off: ${lost}.`;
  if (requests === 1) return `The only request takes ${seconds(half)}.`;
  if (most == null || !hasQuantile(requests, 0.9)) return `Half of ${of} take ${seconds(half)} or less; ${lost}.`;
  return `Half of ${of} take ${seconds(half)} or less, 90 % take ${seconds(most)} or less; ${lost}.`;
}

/** True when two runs have the same requests: as many, each of the same host and size, and with one seed or the same starts. */
function areSame(one: Outcome, other: Outcome): boolean {
  const { requests: own } = one, { requests: theirs } = other;
  if (one.summary.requests !== other.summary.requests || own.request.length !== theirs.request.length) return false;
  const row = new Map(Array.from(theirs.request, (request, at) => [request, at]));
  return own.request.every((request, at) => {
    const there = row.get(request);
    return there !== undefined && own.response_bytes[at] === theirs.response_bytes[there]
      && one.hosts[own.host[at]!] === other.hosts[theirs.host[there]!]
      && (one.seed === other.seed || own.start_ns[at] === theirs.start_ns[there]);
  });
}

/** What changed against the pinned run: the mean, and each request where they are the same. Facts, and no verdict. */
export function change(now: Outcome, pinned: Outcome): string {
  const [mean, before] = [now.summary.latency.mean_s, pinned.summary.latency.mean_s];
  if (mean === null || before === null) return "";
  const part = mean / before - 1, words = Math.abs(part) < 5e-5 ? "As much time as the pinned run" : `${percents(part)} ${part < 0 ? "less" : "more"} time than the pinned run`;
  const of = ({ requests: { request, start_ns, end_ns }, ended }: Outcome) =>
    new Map(Array.from(ended, row => [request[row]!, end_ns[row]! - start_ns[row]!]));
  if (!areSame(now, pinned)) return `${words} on average, over other requests.`;
  const own = of(now);
  let [faster, slower] = [0, 0];
  for (const [request, time] of of(pinned)) {
    const after = own.get(request);
    if (after !== undefined && after < time) faster++;
    if (after !== undefined && after > time) slower++;
  }
  return `${words} on average; ${count(faster)} faster, ${count(slower)} slower.`;
}
