//! The documents of a workload: how often each is asked for, how large it is, which host has it.
//!
//! Sizes have a lognormal body below the start of the tail and a Pareto tail from there on. With a correlation of 1 the most
//! popular document is the largest, with −1 the smallest. Without correlation sizes are shuffled, but a document that is
//! asked for 100 times or more is below 10,240 B, as long as there are as many such sizes.

use super::Parameters;
use super::parameters::Correlation;
use super::popularity::requests_by_rank;
use crate::rng::{LogNormal, Pareto, RandomStream, RandomStreams, Zipf};
use crate::units::Bytes;

/// Requests that make a document popular, and size that makes it large: no document is both without correlation.
/// Source: ProWGen, `stream.cc`.
const POPULAR: u32 = 100;
const LARGE: u32 = 10_240;

/// All documents, the most popular first: a value for each in every list.
#[derive(Debug)]
pub(super) struct Documents {
    /// Number of requests for it.
    pub(super) requests: Vec<u32>,
    /// Its size.
    pub(super) bytes: Vec<u32>,
    /// Number of its host, from 0.
    pub(super) host: Vec<u32>,
}

impl Documents {
    pub(super) fn new(parameters: &Parameters, streams: &RandomStreams) -> Self {
        let (documents, onetimers) = (parameters.documents(), parameters.onetimers());
        let requests =
            requests_by_rank(parameters.requests.into(), documents, onetimers, parameters.zipf_slope);
        let mut bytes = sizes(documents, parameters, &mut streams.stream("prowgen sizes", 0));
        match parameters.correlation {
            Correlation::Positive => bytes.sort_unstable_by(|one, other| other.cmp(one)),
            Correlation::Negative => bytes.sort_unstable(),
            Correlation::None => {
                let random = &mut streams.stream("prowgen correlation", 0);
                shuffle(&mut bytes, random);
                let popular = requests.partition_point(|requests| *requests >= POPULAR);
                make_popular_small(&mut bytes, popular, random);
            }
        }
        let random = &mut streams.stream("prowgen hosts", 0);
        let hosts = Zipf::new(parameters.hosts.into(), parameters.host_popularity).expect("checked");
        let host = (0..documents).map(|_| (hosts.sample(random) - 1) as u32).collect();
        Self { requests, bytes, host }
    }
}

/// Sizes of so many documents: the share of the tail is exact.
fn sizes(documents: u32, parameters: &Parameters, random: &mut RandomStream) -> Vec<u32> {
    let number = |bytes: Bytes| bytes.get() as f64;
    let (from, end) = (number(parameters.tail_from), number(parameters.response_max));
    let body =
        LogNormal::from_mean_deviation(number(parameters.body_mean), number(parameters.body_deviation))
            .expect("checked");
    let tail = Pareto::bounded(from, parameters.tail_shape, end).expect("checked");
    let in_tail = (f64::from(documents) * parameters.tail_share) as u32;
    let of_body = (in_tail..documents).map(|_| body_size(&body, from, random));
    let mut sizes: Vec<u32> = of_body.collect();
    sizes.extend((0..in_tail).map(|_| tail.sample(random).min(end - 1.0) as u32));
    sizes
}

fn body_size(body: &LogNormal, tail_from: f64, random: &mut RandomStream) -> u32 {
    loop {
        let size = body.sample(random);
        if size < tail_from {
            return (size as u32).max(1);
        }
    }
}

/// Source: R. Durstenfeld, "Algorithm 235: Random permutation", Communications of the ACM 7(7), 1964.
fn shuffle(values: &mut [u32], random: &mut RandomStream) {
    for last in (1..values.len()).rev() {
        values.swap(last, random.below(last as u64 + 1) as usize);
    }
}

/// Exchanges large sizes of the first `popular` documents for small ones of the others, drawn at random, until there are no
/// more.
fn make_popular_small(bytes: &mut [u32], popular: usize, random: &mut RandomStream) {
    let others = (bytes.len() - popular) as u64;
    let mut small = bytes[popular..].iter().filter(|size| **size < LARGE).count();
    for document in 0..popular {
        if bytes[document] < LARGE {
            continue;
        }
        if small == 0 {
            return;
        }
        let other = loop {
            let other = popular + random.below(others) as usize;
            if bytes[other] < LARGE {
                break other;
            }
        };
        bytes.swap(document, other);
        small -= 1;
    }
}
