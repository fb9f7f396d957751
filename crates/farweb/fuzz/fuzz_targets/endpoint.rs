//! Any sequence of segments, timeouts and calls on one endpoint of any profile.

#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use farweb::tcp::{Codepoint, Flags, Options};
use farweb::{tcp, units};
use farweb_fuzz::endpoints::{self, Endpoint};
use libfuzzer_sys::fuzz_target;

#[path = "../../src/tcp/tests/invariants.rs"]
mod invariants;
#[path = "../../src/tcp/tests/operation.rs"]
mod operation;

use operation::Operation;

#[derive(Debug)]
struct Input {
    endpoint: Endpoint,
    /// Options of the SYN that it accepts. Without them it connects.
    opening: Option<Options>,
    operations: Vec<Operation>,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let endpoint = u.arbitrary()?;
        let opening = if u.arbitrary()? { Some(endpoints::options(u)?) } else { None };
        let mut operations = Vec::new();
        while !u.is_empty() && operations.len() < 200 {
            operations.push(operation(u)?);
        }
        Ok(Self { endpoint, opening, operations })
    }
}

fn operation(u: &mut Unstructured<'_>) -> Result<Operation> {
    Ok(match u.int_in_range(0..=15)? {
        0..=7 => segment(u)?,
        8 | 9 => Operation::Write(u.int_in_range(1..=50_000)?),
        10 => Operation::Read(u.int_in_range(1..=50_000)?),
        11 => Operation::Wait(u.int_in_range(0..=500)?),
        12 => Operation::Wait(u.int_in_range(0..=90_000)?),
        13 => Operation::Shutdown,
        14 => Operation::Close,
        _ if u.arbitrary()? => Operation::LocalDrop,
        _ => Operation::Abort,
    })
}

fn segment(u: &mut Unstructured<'_>) -> Result<Operation> {
    let flags = if u.ratio(3, 4)? { Flags::ACK.bits() } else { u.arbitrary()? };
    let mut sack = Vec::new();
    for _ in 0..u.int_in_range(0..=4)? {
        sack.push((u.int_in_range(-5000..=60_000)?, u.int_in_range(0..=4000)?));
    }
    Ok(Operation::Segment {
        flags,
        seq: near(u)?,
        ack: near(u)?,
        len: u.int_in_range(0..=3000)?,
        window: u.arbitrary()?,
        ecn: *u.choose(&Codepoint::ALL)?,
        options: if u.arbitrary()? { endpoints::options(u)? } else { Options::NONE },
        sack,
    })
}

/// A distance from the number that is expected: often none, seldom far.
fn near(u: &mut Unstructured<'_>) -> Result<i64> {
    match u.int_in_range(0..=3)? {
        0 | 1 => Ok(0),
        2 => u.int_in_range(-3000..=3000),
        _ => u.int_in_range(-40_000..=200_000),
    }
}

fuzz_target!(|input: Input| {
    let Endpoint { config, host } = input.endpoint;
    operation::perform(&config, host, input.opening, &input.operations);
});
