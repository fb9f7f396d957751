//! Segments in the lines of a script.

use std::ops::Range;

use crate::tcp::{Codepoint, Flags, Options, SackBlocks, Segment, Timestamps};

/// A segment as a line gives it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    /// Everything in the line. The window is 0.
    pub(super) segment: Segment,
    pub(super) window: Option<u16>,
    /// Payload of each of several segments. The line gives the range of all together.
    each: Option<u32>,
}

const LETTERS: [(char, Flags); 7] = [
    ('S', Flags::SYN),
    ('F', Flags::FIN),
    ('R', Flags::RST),
    ('P', Flags::PSH),
    ('.', Flags::ACK),
    ('E', Flags::ECE),
    ('W', Flags::CWR),
];

impl Line {
    /// The segment that `words` describe.
    ///
    /// # Errors
    /// Why they describe none.
    pub(super) fn parse(words: &[&str]) -> Result<Self, String> {
        let [flags, range, rest @ ..] = words else { return Err("a segment has flags and a range".into()) };
        let flags = flags.chars().try_fold(Flags::NONE, |all, letter| {
            let flag = LETTERS.iter().find(|(name, _)| *name == letter);
            flag.map(|(_, flag)| all | *flag).ok_or("flags are S F R P . E W")
        })?;
        let Range { start: seq, end } = self::range(range)?;
        let len = u32::try_from(end - seq).map_err(|_| "the range is too long")?;
        let segment =
            Segment { seq, ack: 0, len, window: 0, flags, ecn: Codepoint::NotEct, options: Options::NONE };
        let mut line = Self { segment, window: None, each: None };
        line.parse_rest(rest)?;
        Ok(line)
    }

    fn parse_rest(&mut self, mut rest: &[&str]) -> Result<(), String> {
        let mut blocks = Vec::new();
        while !rest.is_empty() {
            rest = match rest {
                ["sackOK", more @ ..] => {
                    self.segment.options.sack_permitted = true;
                    more
                }
                ["ect", more @ ..] => {
                    self.segment.ecn = Codepoint::Ect0;
                    more
                }
                ["ce", more @ ..] => {
                    self.segment.ecn = Codepoint::Ce;
                    more
                }
                ["sack", list, more @ ..] => {
                    blocks = list.split(',').map(range).collect::<Result<_, _>>()?;
                    more
                }
                [name, value, more @ ..] => {
                    self.parse_number(name, value)?;
                    more
                }
                _ => {
                    return Err(
                        "after the range come names, each with a value, and `sackOK`, `ect`, `ce`".into()
                    );
                }
            };
        }
        self.segment.options.sack = SackBlocks::new(self.segment.ack, blocks);
        Ok(())
    }

    fn parse_number(&mut self, name: &str, value: &str) -> Result<(), String> {
        let options = &mut self.segment.options;
        match name {
            "ack" => self.segment.ack = number(value)?,
            "win" => self.window = Some(number(value)?),
            "each" => self.each = Some(number(value)?),
            "mss" => options.mss = Some(number(value)?),
            "scale" => options.window_scale = Some(number(value)?),
            "ts" => {
                let (value, echo) = value.split_once(':').ok_or("`ts` is `value:echo`")?;
                options.timestamps = Some(Timestamps { value: number(value)?, echo: number(echo)? });
            }
            _ => {
                return Err(
                    "after the range come `ack`, `win`, `mss`, `scale`, `ts`, `sack` and `each`".into()
                );
            }
        }
        Ok(())
    }

    /// The segments that the line stands for: one, or with `each` as many as its range holds.
    pub(super) fn segments(self) -> Vec<Segment> {
        let Some(each) = self.each else { return vec![self.segment] };
        let end = self.segment.seq + u64::from(self.segment.len);
        let starts = (self.segment.seq..end).step_by(each as usize);
        starts.map(|seq| Segment { seq, len: each.min((end - seq) as u32), ..self.segment }).collect()
    }
}

/// `first:end`.
fn range(text: &str) -> Result<Range<u64>, String> {
    let (start, end) = text.split_once(':').ok_or("a range is `first:end`")?;
    let range = number(start)?..number(end)?;
    if range.start > range.end { Err("the range ends before it starts".into()) } else { Ok(range) }
}

fn number<N: std::str::FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| format!("{text} is not such a number"))
}

/// A segment as a line of a script has it.
pub(in crate::tcp::tests) fn written(segment: &Segment) -> String {
    let Segment { seq, ack, len, window, flags, ecn, options } = segment;
    let mut text = format!("{flags} {seq}:{} ", seq + u64::from(*len));
    if flags.contains(Flags::ACK) {
        text += &format!("ack {ack} ");
    }
    text += &format!("win {window}");
    if let Some(mss) = options.mss {
        text += &format!(" mss {mss}");
    }
    match ecn {
        Codepoint::NotEct => {}
        Codepoint::Ect0 => text += " ect",
        Codepoint::Ce => text += " ce",
        Codepoint::Ect1 => text += " ect1",
    }
    if options.sack_permitted {
        text += " sackOK";
    }
    if let Some(Timestamps { value, echo }) = options.timestamps {
        text += &format!(" ts {value}:{echo}");
    }
    if let Some(scale) = options.window_scale {
        text += &format!(" scale {scale}");
    }
    if !options.sack.is_empty() {
        let blocks = segment.sack_blocks().map(|block| format!("{}:{}", block.start, block.end));
        text += &format!(" sack {}", blocks.collect::<Vec<_>>().join(","));
    }
    text
}
