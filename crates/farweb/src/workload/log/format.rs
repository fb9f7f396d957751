//! Formats of logs: each is a layout of fields with a name, and a file shows which one it has.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::keys::{self, Keys};
use super::known::{self, KNOWN, Known, Shape};
use super::layout::Layout;
use super::pattern::Pattern;
use super::{LogOptions, Reason, Verdict, rules, statement, wrapped};
use crate::workload::WorkloadError;
use crate::workload::table::near;

/// Lines that are looked at to find a format. Chosen: more than a log has of any kind in a row.
const DETECTION_LINES: usize = 200;

/// Longest name of a server, in bytes. Chosen: more than any has.
const SOFTWARE_BYTES: usize = 100;

/// Format of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// The one that the first lines show.
    #[default]
    Auto,
    /// One that has a name.
    Known(&'static Known),
    /// A format string: Squid's `logformat`, nginx's `log_format`, Apache's `LogFormat`, or one with farweb's own names.
    Custom(String),
    /// JSON objects with these keys, each `NAME=KEY`: a name of farweb's own and the key of its value.
    Fields(Vec<String>),
}

impl LogFormat {
    /// Native `access.log` of Squid.
    pub const SQUID: Self = Self::Known(known::SQUID);
    /// `common` or `combined` of Squid, with its result code.
    pub const SQUID_COMMON: Self = Self::Known(known::SQUID_COMMON);
    /// Common or combined log format of a web server, or a tab-separated table of the same fields with a header line.
    pub const CLF: Self = Self::Known(known::CLF);
    /// The same with the virtual host in front.
    pub const VHOST_COMBINED: Self = Self::Known(known::VHOST_COMBINED);
    /// Extended log format of the W3C, as IIS and CloudFront write it.
    pub const W3C: Self = Self::Known(known::W3C);
    /// A JSON object a line, as Caddy and nginx write it.
    pub const JSON: Self = Self::Known(known::JSON_LINES);

    /// The format of a format string, which may stand in its statement of a configuration.
    ///
    /// # Errors
    /// When a statement has no format.
    pub fn custom(text: &str) -> Result<Self, WorkloadError> {
        statement::format_of(text).map(|format| Self::Custom(format.into())).map_err(WorkloadError)
    }

    /// Names of formats, each with true where sizes of responses are without headers.
    pub fn names() -> impl Iterator<Item = (&'static str, bool)> {
        KNOWN.iter().map(|known| (known.name, known.has_body_sizes()))
    }

    /// Layout of the lines of a log that begins with `head`.
    ///
    /// # Errors
    /// When a format string or keys lack a field.
    ///
    /// # Panics
    /// When it is still to be found.
    pub(super) fn layout(&self, head: &[u8]) -> Result<Layout, WorkloadError> {
        let layout = match self {
            Self::Auto => unreachable!("a format is found before lines are read"),
            Self::Known(known) => Layout::of(known, head),
            Self::Custom(text) => Layout::patterns(&[text]),
            Self::Fields(pairs) => Keys::named(pairs).map(Layout::Json),
        };
        layout.map_err(WorkloadError)
    }

    /// Server that wrote a log that begins with `head`, where its lines or their format say it.
    pub(super) fn software(&self, head: &[u8]) -> Option<String> {
        let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
        match self {
            Self::Known(known) => match (known.software, &known.lines) {
                (
                    Some(name),
                    Shape::Text(_) | Shape::TextOrTable(_) | Shape::JsonOnly(_) | Shape::JsonWith(..),
                ) => Some(name.into()),
                (_, Shape::Json(_)) => keys::software(lines.next()?).map(Into::into),
                (name, Shape::Columns(_)) => named_software(lines).or_else(|| name.map(Into::into)),
                (None, _) => None,
            },
            Self::Custom(text) => Pattern::compile(text).ok()?.software().map(Into::into),
            Self::Auto | Self::Fields(_) => None,
        }
    }

    /// The format of a log that begins with `head`. `None` when less than half of the lines of any can be read.
    #[must_use]
    pub fn of_head(head: &[u8]) -> Option<Self> {
        let head = &*wrapped::joined(head);
        let options = LogOptions { server_name: "server".into(), ..LogOptions::default() };
        let end = if head.contains(&b'\n') { b'\n' } else { b'\r' };
        let mut best = (None, 0);
        for known in KNOWN.iter().filter(|known| known.is_found) {
            let mut layout = Layout::of(known, head).ok()?;
            // An object with a time may be anything that a program says.
            let (mut lines, mut read, mut requests) = (0, 0, 0);
            for (number, line) in head.split(|byte| *byte == end).take(DETECTION_LINES).enumerate() {
                let line = wrapped::message(line.strip_suffix(b"\r").unwrap_or(line));
                if line.trim_ascii().is_empty() || layout.heads(&line, number == 0) {
                    continue;
                }
                let verdict =
                    layout.read(&line).and_then(|record| rules::verdict(&record, &options, || None));
                lines += usize::from(verdict.is_ok() || !layout.is_other(&line));
                read += usize::from(verdict.is_ok());
                let is_empty = matches!(verdict, Ok(Verdict::Dropped(Reason::NoSize | Reason::NoRequest)));
                let is_said = !(is_empty && matches!(layout, Layout::Json(_)));
                let is_host = *known != known::VHOST_COMBINED || begins_with_name(&line);
                requests += usize::from(verdict.is_ok() && is_said && is_host);
            }
            if read * 2 >= lines && read > best.1 && requests > 0 {
                best = (Some(Self::Known(known)), read);
            }
        }
        best.0
    }

    /// The format of the first line of a log that begins with `head`, for a log without a format: its other lines say why not.
    pub(super) fn of_first(head: &[u8]) -> Option<Self> {
        let mut lines = head.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        match lines.next()? {
            [b'#', ..] if head.windows(8).any(|part| part == b"#Fields:") => Some(Self::W3C),
            line => Self::of_head(line),
        }
    }

    /// The format that a line has but for one or two values, and their faults.
    pub(super) fn nearly(line: &[u8]) -> Option<(Self, Vec<String>)> {
        let faults = |known: &'static Known| {
            let (fit, wrong) = Layout::of(known, line).ok()?.faults(line)?;
            Some((fit, Self::Known(known), wrong))
        };
        let found = KNOWN.iter().rev().filter(|known| known.is_found).filter_map(|known| faults(known));
        found.max_by_key(|(fit, ..)| *fit).map(|(_, format, wrong)| (format, wrong))
    }
}

/// True if a line begins with a name: an address before the client may be `X-Forwarded-For` as well as a host.
fn begins_with_name(line: &[u8]) -> bool {
    let word = line.split(|byte| *byte == b' ').next().unwrap_or_default();
    word != b"-" && !std::str::from_utf8(word).is_ok_and(|word| word.parse::<IpAddr>().is_ok())
}

/// Server that the head lines of the extended log format name.
fn named_software<'a>(mut lines: impl Iterator<Item = &'a [u8]> + Clone) -> Option<String> {
    let has = |line: &[u8], part: &[u8]| line.windows(part.len()).any(|window| window == part);
    let named = lines.clone().find_map(|line| line.strip_prefix(b"#Software:"));
    match named.map(<[u8]>::trim_ascii).filter(|name| !name.is_empty()) {
        Some(name) => Some(String::from_utf8_lossy(&name[..name.len().min(SOFTWARE_BYTES)]).into_owned()),
        None => {
            let is_cloudfront = |line: &[u8]| line.starts_with(b"#Fields:") && has(line, b"x-edge-location");
            lines.any(is_cloudfront).then(|| "CloudFront".into())
        }
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Known(known) => f.write_str(known.name),
            Self::Custom(text) => f.write_str(text),
            Self::Fields(pairs) => f.write_str(&pairs.join(" ")),
        }
    }
}

impl FromStr for LogFormat {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        if text == "auto" {
            return Ok(Self::Auto);
        }
        KNOWN.iter().find(|known| known.name == text).map(|known| Self::Known(known)).ok_or_else(|| {
            let names: Vec<_> = KNOWN.iter().map(|known| known.name).chain(["auto"]).collect();
            let near = near(text, &names);
            WorkloadError(format!("--format: found \"{text}\"{near}; write one of: {}", names.join(", ")))
        })
    }
}
