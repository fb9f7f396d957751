//! Behaviour of the programs at both ends of a leg's connections.
//!
//! Models what a real program adds to a transport: it takes time to run when something has happened, and it writes in pieces of its
//! own. Leaves out the time that it computes, and threads that share a processor.
//!
//! Source: chosen. W3C Jigsaw writes a file in pieces of 4096 bytes, behind a head that is written by itself.

use crate::http::stream::Stream;
use crate::units::Duration;

use super::{Content, ExchangeId};

/// The programs at the ends of a leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Application {
    /// Time from the notice that it can read or write until it does.
    pub(crate) wake: Duration,
    /// Largest piece of a response that it writes, in bytes. None: all that there is.
    pub(crate) chunk: Option<u64>,
    /// First bytes of a response, which it writes by themselves.
    pub(crate) head: u64,
}

impl Application {
    /// A program that writes all that it has at once.
    pub(crate) const WHOLE: Self = Self { wake: Duration::ZERO, chunk: None, head: 0 };

    /// Puts `bytes` of a response behind `framing` bytes into a stream, write by write. `before` of it are written already.
    #[inline]
    pub(crate) fn write_to(
        &self,
        stream: &mut Stream<Content>,
        of: ExchangeId,
        before: u64,
        bytes: u64,
        framing: u64,
    ) {
        if self.chunk.is_none() && self.head == 0 {
            return stream.push(Content::Message(of), bytes, framing);
        }
        self.write_pieces_to(stream, of, before, bytes, framing);
    }

    fn write_pieces_to(
        &self,
        stream: &mut Stream<Content>,
        of: ExchangeId,
        before: u64,
        bytes: u64,
        framing: u64,
    ) {
        stream.push(Content::Message(of), 0, framing);
        let end = before + bytes;
        let mut at = before;
        while at < end {
            let next = end.min(self.end_of_write(at));
            stream.push(Content::Message(of), next - at, 0);
            stream.end_write();
            at = next;
        }
    }

    /// Where the write ends that has the byte at this place of a response.
    fn end_of_write(&self, at: u64) -> u64 {
        match self.chunk {
            _ if at < self.head => self.head,
            Some(chunk) => at + chunk - (at - self.head) % chunk,
            None => u64::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Slab;

    /// Sizes of the writes of a response that comes in these parts, framing of 20 bytes before each.
    fn writes(application: Application, parts: &[u64]) -> Vec<u64> {
        let (mut stream, of) = (Stream::new(), Slab::new().insert(()));
        let mut before = 0;
        for part in parts {
            application.write_to(&mut stream, of, before, *part, 20);
            before += part;
        }
        let mut sizes = Vec::new();
        while stream.next_write() > 0 {
            sizes.push(stream.next_write());
            stream.on_written(stream.next_write());
        }
        sizes
    }

    #[test]
    fn a_head_and_pieces_are_writes_of_their_own() {
        let plain = Application::WHOLE;
        assert_eq!(writes(plain, &[1000, 500]), [1540], "nobody says where a write ends");
        let pieces = Application { chunk: Some(4096), ..plain };
        assert_eq!(writes(pieces, &[10_000]), [4116, 4096, 1808]);
        assert_eq!(
            writes(pieces, &[4000, 4196]),
            [4020, 116, 4096, 4],
            "at most what is there, up to the same places"
        );
        let head = Application { head: 250, ..pieces };
        assert_eq!(writes(head, &[250 + 4096 + 1]), [270, 4096, 1]);
        assert_eq!(writes(Application { head: 250, ..plain }, &[1000]), [270, 750]);
    }
}
