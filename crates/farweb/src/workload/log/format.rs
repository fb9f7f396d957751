//! Formats of logs: each is a layout of fields with a name, and a file shows which one it has.

use std::fmt;
use std::str::FromStr;

use super::layout::Layout;
use super::options::one_of;
use super::pattern::Pattern;
use super::{LogOptions, rules};
use crate::workload::WorkloadError;

/// Native `access.log` of Squid, versions 1.1 to 6, and of version 1.0.
const SQUID: &[&str] = &[
    "%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/",
    "%ts.%03tu %6tr %>a %Ss/%03>Hs/%Sh %<st %rm %ru",
];

/// Squid's `common` and `combined`.
const SQUID_COMMON: &[&str] = &[
    "%>a %[ui %[un [%tl] \"%rm %ru HTTP/%rv\" %>Hs %<st %Ss:%Sh",
    "%>a %[ui %[un [%tl] \"%rm %ru HTTP/%rv\" %>Hs %<st \"%{Referer}>h\" \"%{User-Agent}>h\" %Ss:%Sh",
];

/// Common log format; the combined one has two fields more, which are of no use.
const CLF: &[&str] = &["%h %l %u %t \"%r\" %>s %b"];

/// The same with the virtual host in front: `vhost_combined` of Apache, and without a port.
const VHOST: &[&str] = &["%v:%p %h %l %u %t \"%r\" %>s %O", "%v %h %l %u %t \"%r\" %>s %b"];

/// Lines that are looked at to find a format. Chosen: more than a log has of any kind in a row.
const DETECTION_LINES: usize = 200;

/// Format of a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// The one that the first lines show.
    #[default]
    Auto,
    /// Native `access.log` of Squid.
    Squid,
    /// `common` or `combined` of Squid, with its result code.
    SquidCommon,
    /// Common or combined log format of a web server, or a tab-separated table of the same fields with a header line.
    Clf,
    /// The same with the virtual host in front.
    VhostCombined,
    /// Extended log format of the W3C, as IIS and CloudFront write it.
    W3c,
    /// A JSON object a line, as Caddy and nginx write it.
    Json,
    /// A format string: Squid's `logformat`, nginx's `log_format` or Apache's `LogFormat`.
    Custom(String),
}

/// Formats that can be named, those with more signs of their own before others.
const NAMED: [(&str, LogFormat); 8] = [
    ("squid", LogFormat::Squid),
    ("squid-common", LogFormat::SquidCommon),
    ("json", LogFormat::Json),
    ("w3c", LogFormat::W3c),
    ("vhost-combined", LogFormat::VhostCombined),
    ("clf", LogFormat::Clf),
    ("combined", LogFormat::Clf),
    ("auto", LogFormat::Auto),
];

impl LogFormat {
    /// Layout of the lines of a log that begins with `head`.
    ///
    /// # Errors
    /// When it is a format string that lacks a field.
    ///
    /// # Panics
    /// When it is still to be found.
    pub(super) fn layout(&self, head: &[u8]) -> Result<Layout, WorkloadError> {
        let patterns = |texts: &[&str]| {
            let compiled: Result<_, _> = texts.iter().map(|text| Pattern::compile(text)).collect();
            compiled.map(Layout::Patterns).map_err(WorkloadError)
        };
        match self {
            Self::Auto => unreachable!("a format is found before lines are read"),
            Self::Squid => patterns(SQUID),
            Self::SquidCommon => patterns(SQUID_COMMON),
            Self::Clf => Layout::table(head).map_or_else(|| patterns(CLF), Ok),
            Self::VhostCombined => patterns(VHOST),
            Self::Custom(text) => patterns(&[text]),
            Self::W3c => Ok(Layout::Columns(None)),
            Self::Json => Ok(Layout::Json),
        }
    }

    /// The format of a log that begins with `head`; `None` when less than half of the lines of any can be read.
    #[must_use]
    pub fn of_head(head: &[u8]) -> Option<Self> {
        let options = LogOptions { server_name: "server".into(), ..LogOptions::default() };
        let mut best = (None, 0);
        for (_, format) in NAMED.iter().filter(|(_, format)| *format != Self::Auto) {
            let mut layout = format.layout(head).ok()?;
            let (mut lines, mut read) = (0, 0);
            for (number, line) in head.split(|byte| *byte == b'\n').take(DETECTION_LINES).enumerate() {
                let line = line.strip_suffix(b"\r").unwrap_or(line);
                if line.trim_ascii().is_empty() || layout.heads(line, number == 0) {
                    continue;
                }
                lines += 1;
                let verdict = layout.read(line).and_then(|record| rules::verdict(&record, &options));
                read += usize::from(verdict.is_ok());
            }
            if read * 2 >= lines && read > best.1 {
                best = (Some(format.clone()), read);
            }
        }
        best.0
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Custom(text) => f.write_str(text),
            named => {
                let found = NAMED.iter().find(|(_, format)| format == named);
                f.write_str(found.map_or("", |(name, _)| name))
            }
        }
    }
}

impl FromStr for LogFormat {
    type Err = WorkloadError;
    fn from_str(text: &str) -> Result<Self, WorkloadError> {
        one_of("format", text, &NAMED)
    }
}
