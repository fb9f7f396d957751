//! Selects requests of some clients, of a span of time, or of a sample of clients or hosts.

use super::layout::Layout;
use super::record::Record;
use super::when::Bound;
use super::{LogOptions, Reason, values};
use crate::workload::ObjectId;

/// Unit of a sample, drawn as a whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SampleBy {
    /// A client with all its requests.
    #[default]
    Client,
    /// A host with all requests to it.
    Host,
}

/// A share of the clients or hosts of a log, drawn by a hash: one is in it whole or absent, in every log that has it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sample {
    /// Expected share, above 0 to 1.
    pub share: f64,
    /// Unit that is drawn.
    pub by: SampleBy,
    /// Another seed draws others.
    pub seed: u64,
}

impl Sample {
    /// True when the client or host `key` is in it.
    fn has(&self, key: &[u8]) -> bool {
        let hash = mixed(ObjectId::of_bytes(key).get() ^ mixed(self.seed));
        // The 53 bits that a float has.
        ((hash >> 11) as f64) / (1_u64 << 53) as f64 <= self.share
    }
}

/// Finaliser of SplitMix64: every bit of a hash depends on every bit of its input. Source: G. L. Steele and others,
/// "Fast splittable pseudorandom number generators" (OOPSLA 2014).
const fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

/// Checks that bounds count from where the times of a log that begins with `head` do.
///
/// # Errors
/// The bound that does not.
pub(super) fn check_bounds(options: &LogOptions, layout: &Layout, head: &[u8]) -> Result<(), String> {
    let given = [("--from", &options.from), ("--to", &options.to)];
    let bounds: Vec<_> = given.iter().filter_map(|(name, bound)| Some((name, bound.as_ref()?))).collect();
    let mut first = None;
    if !bounds.is_empty() {
        layout.each_of(head, |record| first = first.or(record.at));
    }
    let Some(is_since_start) = first.map(|at| values::is_since_start(at.nanos)) else { return Ok(()) };
    let fault = match is_since_start {
        true => "is a date, and the times of this log count from its start; write seconds, such as 60s",
        false => "counts from the start of a log, and the times of this one are dates; write a date",
    };
    let wrong = bounds.iter().find(|(_, bound)| bound.is_since_start() != is_since_start);
    wrong.map_or(Ok(()), |(name, _)| Err(format!("{name}: {fault}")))
}

/// Why a request that starts at `start` is not asked for, whatever became of it.
pub(super) fn unwanted(record: &Record<'_>, start: i64, options: &LogOptions) -> Option<Reason> {
    let zone_s = record.at.and_then(|at| at.zone_s);
    let before = |bound: &Bound| bound.is_after(start, zone_s);
    let client = record.client.as_deref().unwrap_or_default();
    let is_outside = options.from.as_ref().is_some_and(before)
        || options.to.as_ref().is_some_and(|to| !before(to))
        || options.span.as_ref().is_some_and(|span| !span.contains(&start));
    if is_outside {
        Some(Reason::OutsideTime)
    } else if options.client.as_ref().is_some_and(|pattern| !matches(pattern.as_bytes(), client)) {
        Some(Reason::OtherClient)
    } else if options.sample.is_some_and(|sample| sample.by == SampleBy::Client && !sample.has(client)) {
        Some(Reason::NotSampled)
    } else {
        None
    }
}

/// True when a sample of hosts leaves `host` out.
pub(super) fn is_host_left_out(host: &str, options: &LogOptions) -> bool {
    options.sample.is_some_and(|sample| sample.by == SampleBy::Host && !sample.has(host.as_bytes()))
}

/// True when `pattern` is of `text`: `*` stands for any bytes, `?` for one.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Where the last star is, and how far into the text it reaches: the only place to come back to.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == text[from] => {
                at += 1;
                from += 1;
            }
            _ => {
                let Some((place, reach)) = star else { return false };
                star = Some((place, reach + 1));
                at = place + 1;
                from = reach + 1;
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_clients() {
        let is = |pattern: &str, text: &str| matches(pattern.as_bytes(), text.as_bytes());
        assert!(
            is("10.0.*", "10.0.0.1") && is("*", "") && is("10.?.0.1", "10.0.0.1") && is("*.nz", "a.nz.nz")
        );
        assert!(!is("10.0.*", "10.1.0.1") && !is("10.0.0.1", "10.0.0.11") && !is("?", "") && !is("", "a"));
        assert!(is("*a*b*c", "xxaxxbxxabc") && !is("*a*b*c", "xxaxxbxxab"));
    }

    #[test]
    fn a_sample_has_its_share_of_clients_and_is_another_with_another_seed() {
        let drawn = |share: f64, seed: u64| -> Vec<u32> {
            let sample = Sample { share, by: SampleBy::Client, seed };
            (0..20_000).filter(|client: &u32| sample.has(client.to_string().as_bytes())).collect()
        };
        let tenth = drawn(0.1, 1);
        // Four standard deviations of a binomial distribution: 4 · sqrt(20000 · 0.1 · 0.9) = 170.
        assert!(tenth.len().abs_diff(2000) < 170, "{}", tenth.len());
        let fifth = drawn(0.2, 1);
        assert!(tenth.iter().all(|client| fifth.contains(client)), "a larger sample has a smaller one");
        let again = drawn(0.1, 2);
        let common = tenth.iter().filter(|client| again.contains(client)).count();
        assert!(common.abs_diff(200) < 60, "{common}");
        assert_eq!(drawn(1.0, 1).len(), 20_000);
    }
}
