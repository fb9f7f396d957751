//! Two endpoints of any profiles on a pipe that loses, doubles and delays as the input says: every byte arrives once and both
//! ends finish.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use farweb::tcp::CloseReason;
use farweb::units::Duration;
use farweb::{tcp, units};
use farweb_fuzz::endpoints::Endpoint;
use libfuzzer_sys::fuzz_target;

#[path = "../../src/tcp/tests/invariants.rs"]
mod invariants;
#[path = "../../src/tcp/tests/pipe.rs"]
#[expect(dead_code, reason = "the tests of the crate look at times as well")]
mod pipe;

use invariants::Watch;
use pipe::{Application, End, Fate, Pipe};

/// Fates before the path becomes a good one, so that no connection is given up.
const FATES_MAX: usize = 200;
const LOSSES_MAX: usize = 60;

#[derive(Debug)]
struct Input {
    ends: [Side; 2],
    delay: Duration,
    answers: bool,
    /// Fates of the first segments. Later ones arrive once and in time.
    fates: Vec<Fate>,
}

#[derive(Debug)]
struct Side {
    endpoint: Endpoint,
    writes: Vec<u64>,
    read_max: u64,
    read_pause: Duration,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let ends = [side(u)?, side(u)?];
        let delay = Duration::from_millis(*u.choose(&[0, 1, 60, 320])?);
        let answers = u.arbitrary()?;
        let (mut fates, mut losses) = (Vec::new(), 0);
        while !u.is_empty() && fates.len() < FATES_MAX {
            let fate = fate(u, losses < LOSSES_MAX)?;
            losses += usize::from(fate.is_empty());
            fates.push(fate);
        }
        Ok(Self { ends, delay, answers, fates })
    }
}

fn side(u: &mut Unstructured<'_>) -> Result<Side> {
    let mut writes = Vec::new();
    for _ in 0..=u.int_in_range(0..=4)? {
        writes.push(u.int_in_range(1..=20_000)?);
    }
    let read_max = *u.choose(&[u64::MAX, 1, 100, 1000, 5000])?;
    // A byte at a time is read without a pause, or the transfer would take days.
    let pauses: &[u64] = if read_max < 1000 { &[0] } else { &[0, 1, 30, 700] };
    let read_pause = Duration::from_millis(*u.choose(pauses)?);
    Ok(Side { endpoint: u.arbitrary()?, writes, read_max, read_pause })
}

fn fate(u: &mut Unstructured<'_>, may_lose: bool) -> Result<Fate> {
    let late = |u: &mut Unstructured<'_>| u.int_in_range(0..=500).map(Duration::from_millis);
    Ok(match u.int_in_range(0..=7)? {
        0 | 1 if may_lose => vec![],
        2 => vec![late(u)?],
        3 => vec![Duration::ZERO, late(u)?],
        _ => vec![Duration::ZERO],
    })
}

fn application(side: &Side, answers: bool) -> Application {
    let new = if answers { Application::answering } else { Application::new };
    let mut application = new(side.writes.clone());
    application.read_max = side.read_max;
    application.read_pause = side.read_pause;
    application
}

fuzz_target!(|input: Input| {
    let ends = &input.ends;
    let configs = [0, 1].map(|end: usize| (ends[end].endpoint.config.clone(), ends[end].endpoint.host));
    let applications = [application(&ends[0], false), application(&ends[1], input.answers)];
    let mut fates = input.fates.iter();
    let mut watches = [Watch::default(), Watch::default()];
    let mut pipe = Pipe::new(input.delay, configs, applications, |sent, connection| {
        if let Some(connection) = connection {
            watches[sent.from as usize].check(&sent.segment, connection, sent.cwnd_before);
        }
        fates.next().cloned().unwrap_or_else(|| vec![Duration::ZERO])
    });
    pipe.run(invariants::check);
    for (end, peer) in [(End::Client, End::Server), (End::Server, End::Client)] {
        let written: u64 = ends[end as usize].writes.iter().sum();
        assert_eq!(pipe.applications[end as usize].reason, Some(CloseReason::Finished));
        assert_eq!(pipe.applications[peer as usize].received, written);
        assert_eq!(pipe.end(end).bytes_acknowledged(), written);
    }
});
