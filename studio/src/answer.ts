// The answer in a sentence, in the words of `farweb show`, and how it differs from the pinned run.
import type { Outcome, Summary } from "./core/messages";
import { count, percents, plural, seconds } from "./numbers";

/** True when one of so many values at least lies beyond the quantile of a share. */
export const hasQuantile = (number: number, share: number) => number * (1 - share) >= 1 - 1e-9;

export function answer({ requests, failed, unfinished, left_out, latency }: Summary): string {
  if (!requests) return `No request began${left_out ? " after the warm-up" : ""}.`;
  const lost = `${count(failed)} failed${unfinished ? `, ${count(unfinished)} cut off by the end of the run` : ""}`;
  const of = plural(requests, "request"), [half, most] = latency.observed_s ?? [];
  if (half == null) return `At least half of ${of} failed or were cut off: ${lost}.`;
  if (requests === 1) return `The only request takes ${seconds(half)}.`;
  if (most == null || !hasQuantile(requests, 0.9)) return `Half of ${of} take ${seconds(half)} or less; ${lost}.`;
  return `Half of ${of} take ${seconds(half)} or less, 90 % take ${seconds(most)} or less; ${lost}.`;
}

/** What changed against the pinned run: the mean, and requests of the same number. Facts, and no verdict. */
export function change(now: Outcome, pinned: Outcome): string {
  const [mean, before] = [now.summary.latency.mean_s, pinned.summary.latency.mean_s];
  if (mean === null || before === null) return "";
  const part = mean / before - 1, words = Math.abs(part) < 5e-5 ? "As much time as the pinned run" : `${percents(part)} ${part < 0 ? "less" : "more"} time than the pinned run`;
  const of = ({ requests: { request, start_ns, end_ns }, ended }: Outcome) =>
    new Map(Array.from(ended, row => [request[row]!, end_ns[row]! - start_ns[row]!]));
  if (now.summary.requests !== pinned.summary.requests) return `${words} on average, over other requests.`;
  const own = of(now);
  let [faster, slower] = [0, 0];
  for (const [request, time] of of(pinned)) {
    const after = own.get(request);
    if (after !== undefined && after < time) faster++;
    if (after !== undefined && after > time) slower++;
  }
  return `${words} on average; ${count(faster)} faster, ${count(slower)} slower.`;
}
