//! Unit of the spans of a log whose format leaves it open: one for the whole log, not one for each value.
//!
//! `time-taken` of the extended format is in ms in IIS and in s in CloudFront, Tomcat and WebLogic; `timeTaken` of Azure is in ms in
//! Application Gateway v1 and in s in v2 and Front Door; a `duration` in JSON may be anything. A log of a program that writes s is in s, and so
//! is one with decimals anywhere. Without either, spans of the first two are in ms, and the others have to be stated. `%D` counts µs in
//! Apache, and ms in Undertow and in Tomcat before 10.1, whose strings are Apache's: nothing in a log tells them apart.

use std::str::FromStr;

use super::field::Field;
use super::layout::Layout;
use super::names::UNITS;
use super::options::one_of;
use super::record::Record;
use super::spans::Unit;
use crate::workload::WorkloadError;

/// Beginning of the line of IIS that says who wrote a log.
const IIS: &[u8] = b"#Software: Microsoft Internet Information Services";

/// Assumption about `%D`, for people.
pub(super) const DOUBT: &str = "%D is taken for µs, as Apache and Tomcat from 10.1 write it; Tomcat before and Undertow write ms: \
    --elapsed-unit us or ms says which";

/// What decides about the spans of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Units {
    /// Nothing so far: a value is read by itself.
    #[default]
    Open,
    /// Somebody who knows.
    Stated(Unit),
    /// A program that writes s, or decimals.
    Seconds,
    /// A program that writes ms, or no decimals.
    Whole,
}

/// Signs of the unit in the lines of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Signs {
    /// Spans have decimals (some), or none.
    has_decimals: Option<bool>,
    /// A program wrote it whose unit is known.
    program: Option<Units>,
}

impl Signs {
    /// Signs at the `head` of a log.
    pub(super) fn of_head(layout: &Layout, head: &[u8]) -> Self {
        let mut signs = Self::default();
        if head.windows(IIS.len()).any(|part| part == IIS) {
            signs.program = Some(Units::Whole);
        }
        layout.each_of(head, |record| signs.add(&record));
        signs
    }

    /// Takes those of a line.
    pub(super) fn add(&mut self, record: &Record<'_>) {
        self.has_decimals = self.has_decimals.max(record.has_decimals);
        if record.is_in_seconds {
            self.program = Some(Units::Seconds);
        }
    }

    /// True if further lines may decide.
    pub(super) fn is_open(self) -> bool {
        self.has_decimals == Some(false) && self.program.is_none()
    }

    /// What follows from them.
    pub(super) fn units(self) -> Units {
        self.program.unwrap_or(if self.has_decimals == Some(true) { Units::Seconds } else { Units::Whole })
    }

    /// The program that decides, and its unit.
    const fn program(self) -> Option<&'static str> {
        match self.program {
            Some(Units::Whole) => Some("in ms, as IIS writes them"),
            Some(_) => Some("in s, as the program that wrote the log has them"),
            None => None,
        }
    }

    /// What was decided, why, and how to override it. `None`: there was nothing to decide.
    pub(super) fn said(self) -> Option<String> {
        let by_decimals = match self.has_decimals? {
            true => "in s, as some have decimals; --elapsed-unit ms takes them for ms",
            false => "in ms, as none has decimals; --elapsed-unit s takes them for s",
        };
        Some(self.program().unwrap_or(by_decimals).into())
    }
}

/// Checks that a log that begins with `head` leaves the unit of its spans open, for somebody to state.
///
/// # Errors
/// Who has stated it.
pub(super) fn check_open(layout: &Layout, head: &[u8]) -> Result<(), String> {
    if !layout.shown(head, |field| field.unit().is_some_and(Unit::is_open)).0 {
        return Err("its format states the units of its times, or has no times".into());
    }
    match Signs::of_head(layout, head).program() {
        Some(said) => Err(format!("its times are {said}")),
        None => Ok(()),
    }
}

impl Unit {
    /// True where a format leaves it open.
    pub(super) const fn is_open(self) -> bool {
        matches!(self, Self::SecondsOrMillis | Self::SecondsOrUnknown | Self::Unknown | Self::MicrosOrMillis)
    }

    /// The unit after a decision.
    pub(super) const fn by(self, units: Units) -> Self {
        match (units, self) {
            (Units::Open, _) => self,
            (Units::Stated(unit), _) if self.is_open() => unit,
            (Units::Seconds, Self::SecondsOrMillis | Self::SecondsOrUnknown) => Self::Seconds,
            (Units::Whole, Self::SecondsOrMillis) => Self::WholeMillis,
            (_, Self::SecondsOrUnknown | Self::Unknown) => Self::Unstated,
            _ => self,
        }
    }
}

impl Field {
    /// Unit of a span.
    pub(super) const fn unit(self) -> Option<Unit> {
        match self {
            Self::Elapsed(unit)
            | Self::FirstByte(unit)
            | Self::Server(unit)
            | Self::ServerHeader(unit)
            | Self::Peer(unit) => Some(unit),
            _ => None,
        }
    }

    /// The field after a decision about units.
    pub(super) const fn by(self, units: Units) -> Self {
        match self {
            Self::Elapsed(unit) => Self::Elapsed(unit.by(units)),
            Self::FirstByte(unit) => Self::FirstByte(unit.by(units)),
            Self::Server(unit) => Self::Server(unit.by(units)),
            Self::ServerHeader(unit) => Self::ServerHeader(unit.by(units)),
            _ => self,
        }
    }
}

impl FromStr for Unit {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        one_of("--elapsed-unit", text, UNITS)
    }
}
