//! Stream of one direction of a connection: pieces of the messages of exchanges, with their framing.
//!
//! Models a byte stream as a queue of pieces: its reader knows the exchange of each byte. Carriers that multiplex put
//! pieces of several exchanges one behind the other and framing before them. The others have one exchange after another
//! and no framing. A writer may say where each of its writes ends. Leaves out the bytes themselves: a transport keeps
//! their order and delivers each once, so counting is enough, and one [`Stream`] serves the writer at one end and the
//! reader at the other. Source: RFC 9112, section 6.3, for messages one behind the other; J. Gettys and H. Nielsen,
//! "SMUX Protocol Specification", W3C WD-mux-19980710, for pieces of several with framing between them.

use std::collections::VecDeque;

/// The bytes of one direction of a connection, from the last pushed to the last read.
///
/// `E` names an exchange, or another owner of pieces. Three counts only ever grow, each at most the one before it:
/// bytes pushed, bytes written (taken by the transport), bytes read. Memory: pieces pushed and not yet read, and ends
/// of writes not yet taken. One piece of one write needs no allocation.
#[derive(Debug, Clone)]
pub struct Stream<E> {
    /// The oldest piece. `None` when everything has been read.
    first: Option<Piece<E>>,
    /// Pieces behind it, once there have been any. A word in each of the many streams that never have two pieces.
    rest: Option<Box<Rest<E>>>,
    pushed: u64,
    written: u64,
    read: u64,
}

/// The pieces behind the oldest, and where writes end.
#[derive(Debug, Clone)]
struct Rest<E> {
    pieces: VecDeque<Piece<E>>,
    /// Places behind the last byte of each write that was ended and is not taken whole yet.
    writes: VecDeque<u64>,
}

/// Bytes of one exchange that stand together, the framing first, without those read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Piece<E> {
    exchange: E,
    framing: u64,
    payload: u64,
}

impl<E: Copy + Eq> Stream<E> {
    /// A stream without bytes.
    #[must_use]
    pub const fn new() -> Self {
        Self { first: None, rest: None, pushed: 0, written: 0, read: 0 }
    }

    /// Appends `framing` bytes and then `payload` bytes of `exchange`.
    ///
    /// Without framing they lengthen the last piece where that is of the same exchange and not read to its end. The reader
    /// gets framing of no payload, but never hears of it.
    pub fn push(&mut self, exchange: E, payload: u64, framing: u64) {
        if payload + framing == 0 {
            return;
        }
        self.pushed += payload + framing;
        let piece = Piece { exchange, framing, payload };
        let last = self.rest.as_mut().and_then(|rest| rest.pieces.back_mut()).or(self.first.as_mut());
        match last {
            Some(last) if framing == 0 && last.exchange == exchange => last.payload += payload,
            Some(_) => self.rest.get_or_insert_default().pieces.push_back(piece),
            None => self.first = Some(piece),
        }
    }

    /// Appends a frame of `bytes`, at least 1, that carries no payload of an exchange: `sign` is returned once, when the reader has got
    /// its last byte, as one byte of payload.
    pub fn push_frame(&mut self, sign: E, bytes: u64) {
        self.push(sign, 1, bytes - 1);
    }

    /// Ends a write behind the last push: it is handed to the transport by itself.
    pub fn end_write(&mut self) {
        let end = self.pushed;
        let writes = &mut self.rest.get_or_insert_default().writes;
        if end > self.written && writes.back() != Some(&end) {
            writes.push_back(end);
        }
    }

    /// Bytes that were pushed and that the transport has not taken yet.
    #[must_use]
    pub const fn to_write(&self) -> u64 {
        self.pushed - self.written
    }

    /// Bytes of the next write: up to where it ends, else all that were pushed and not taken.
    #[inline]
    #[must_use]
    pub fn next_write(&self) -> u64 {
        let end = self.rest.as_ref().and_then(|rest| rest.writes.front().copied());
        end.unwrap_or(self.pushed) - self.written
    }

    /// The transport took the next `bytes`.
    ///
    /// # Panics
    /// When it took more than there were.
    #[inline]
    pub fn on_written(&mut self, bytes: u64) {
        assert!(bytes <= self.to_write(), "the transport took bytes that nobody pushed");
        self.written += bytes;
        if let Some(rest) = &mut self.rest {
            while rest.writes.front().is_some_and(|end| *end <= self.written) {
                rest.writes.pop_front();
            }
        }
    }

    /// The reader got the next `bytes`: returns the exchange of the first of them, and how much payload of it stands together.
    /// Takes that payload, and the framing before it, off `bytes`. Called until it returns nothing.
    ///
    /// An exchange with separate pieces is returned more than once, framing alone for none.
    ///
    /// # Panics
    /// When the reader got more than the transport took.
    #[inline(always)]
    pub fn read(&mut self, bytes: &mut u64) -> Option<(E, u64)> {
        assert!(*bytes <= self.written - self.read, "the reader got bytes that nobody wrote");
        while *bytes > 0 {
            let piece = self.first.as_mut().expect("what was pushed and not read is in pieces");
            let framing = piece.framing.min(*bytes);
            let payload = piece.payload.min(*bytes - framing);
            piece.framing -= framing;
            piece.payload -= payload;
            *bytes -= framing + payload;
            self.read += framing + payload;
            let Piece { exchange, .. } = *piece;
            if piece.framing + piece.payload == 0 {
                self.first = self.rest.as_mut().and_then(|rest| rest.pieces.pop_front());
            }
            if payload > 0 {
                return Some((exchange, payload));
            }
        }
        None
    }

    /// Bytes pushed so far: the place in the stream where the next push begins.
    #[must_use]
    pub const fn pushed(&self) -> u64 {
        self.pushed
    }

    /// Bytes that the transport has taken so far.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.written
    }

    /// True when every byte that was pushed has been read.
    #[must_use]
    pub const fn is_drained(&self) -> bool {
        self.read == self.pushed
    }
}

impl<E> Default for Rest<E> {
    fn default() -> Self {
        Self { pieces: VecDeque::new(), writes: VecDeque::new() }
    }
}

impl<E: Copy + Eq> Default for Stream<E> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Splits `bytes` into the payload of exchanges.
    fn read(stream: &mut Stream<char>, mut bytes: u64) -> Vec<(char, u64)> {
        std::iter::from_fn(|| stream.read(&mut bytes)).collect()
    }

    #[test]
    fn the_reader_learns_whose_bytes_it_got() {
        let mut stream = Stream::new();
        stream.push('a', 100, 0);
        stream.push('b', 50, 0);
        stream.push('a', 7, 0);
        assert_eq!((stream.to_write(), stream.pushed()), (157, 157));
        stream.on_written(157);
        assert_eq!((stream.to_write(), stream.written()), (0, 157));
        assert_eq!(read(&mut stream, 0), []);
        assert_eq!(read(&mut stream, 60), [('a', 60)]);
        assert_eq!(read(&mut stream, 95), [('a', 40), ('b', 50), ('a', 5)]);
        assert!(!stream.is_drained());
        assert_eq!(read(&mut stream, 2), [('a', 2)]);
        assert!(stream.is_drained());
    }

    #[test]
    fn framing_goes_before_its_payload_and_to_nobody() {
        let mut stream = Stream::new();
        stream.push('a', 100, 20);
        stream.push('b', 0, 5);
        stream.push('b', 10, 20);
        stream.on_written(155);
        assert_eq!(read(&mut stream, 19), []);
        assert_eq!(read(&mut stream, 2), [('a', 1)]);
        assert_eq!(read(&mut stream, 99 + 5 + 20), [('a', 99)]);
        assert_eq!(read(&mut stream, 10), [('b', 10)]);
    }

    #[test]
    fn pieces_of_one_exchange_without_framing_join() {
        let mut stream = Stream::new();
        for _ in 0..1000 {
            stream.push('a', 3, 0);
        }
        assert!(stream.rest.is_none(), "one exchange after another allocates nothing");
        stream.push('b', 1, 0);
        stream.push('b', 1, 20);
        stream.push('b', 1, 0);
        assert_eq!(
            stream.rest.as_ref().map(|rest| rest.pieces.len()),
            Some(2),
            "framing stands between two pieces of one exchange"
        );
        stream.on_written(3023);
        assert_eq!(read(&mut stream, 3023), [('a', 3000), ('b', 1), ('b', 2)]);
    }

    #[test]
    fn a_frame_is_returned_once_with_its_last_byte() {
        let mut stream = Stream::new();
        stream.push('a', 10, 4);
        stream.push_frame('!', 8);
        stream.push_frame('!', 1);
        stream.push('a', 10, 4);
        stream.on_written(37);
        assert_eq!(read(&mut stream, 21), [('a', 10)]);
        assert_eq!(read(&mut stream, 1), [('!', 1)]);
        assert_eq!(read(&mut stream, 15), [('!', 1), ('a', 10)]);
    }

    #[test]
    fn a_write_ends_where_its_writer_says() {
        let mut stream = Stream::new();
        stream.push('a', 100, 0);
        stream.end_write();
        stream.end_write();
        stream.push('a', 40, 0);
        stream.end_write();
        stream.push('a', 5, 0);
        assert_eq!((stream.next_write(), stream.to_write()), (100, 145));
        stream.on_written(60);
        assert_eq!(stream.next_write(), 40);
        stream.on_written(40);
        assert_eq!(stream.next_write(), 40);
        stream.on_written(40);
        assert_eq!((stream.next_write(), stream.to_write()), (5, 5), "no end was said");
        stream.on_written(5);
        stream.end_write();
        assert_eq!(stream.next_write(), 0);
    }

    #[test]
    fn exchanges_one_after_another_allocate_nothing() {
        let mut stream = Stream::new();
        for exchange in ['a', 'b', 'c'] {
            stream.push(exchange, 10, 0);
            stream.on_written(10);
            assert_eq!(read(&mut stream, 10), [(exchange, 10)]);
        }
        assert!(stream.rest.is_none());
    }

    #[test]
    fn nothing_pushed_is_no_piece() {
        let mut stream = Stream::new();
        stream.push('a', 0, 0);
        stream.push('b', 1, 0);
        stream.on_written(1);
        assert_eq!(read(&mut stream, 1), [('b', 1)]);
    }

    #[test]
    #[should_panic(expected = "nobody pushed")]
    fn a_transport_takes_no_more_than_there_is() {
        let mut stream = Stream::new();
        stream.push('a', 1, 0);
        stream.on_written(2);
    }

    #[test]
    #[should_panic(expected = "nobody wrote")]
    fn a_reader_gets_no_more_than_was_written() {
        let mut stream = Stream::new();
        stream.push('a', 2, 0);
        stream.on_written(1);
        stream.read(&mut 2);
    }

    #[derive(Debug, Clone)]
    enum Step {
        Push(u8, u64, u64),
        Write(u64),
        Read(u64),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            (0..4_u8, 0..9_u64, prop::sample::select(vec![0_u64, 0, 0, 1, 3]))
                .prop_map(|(exchange, payload, framing)| Step::Push(exchange, payload, framing)),
            (0..20_u64).prop_map(Step::Write),
            (0..20_u64).prop_map(Step::Read),
        ]
    }

    proptest! {
        /// Against a stream that keeps every byte: the exchange of a byte of payload, `None` for one of framing.
        #[test]
        fn every_byte_is_read_once_in_order_and_framing_by_nobody(
            steps in prop::collection::vec(step(), 0..60),
        ) {
            let mut stream = Stream::new();
            let mut bytes: Vec<Option<u8>> = Vec::new();
            let (mut written, mut got) = (0, 0);
            let mut all = steps;
            all.extend([Step::Write(u64::MAX), Step::Read(u64::MAX)]);
            for step in all {
                match step {
                    Step::Push(exchange, payload, framing) => {
                        stream.push(exchange, payload, framing);
                        bytes.extend((0..framing).map(|_| None).chain((0..payload).map(|_| Some(exchange))));
                    }
                    Step::Write(most) => {
                        let taken = most.min(stream.to_write());
                        stream.on_written(taken);
                        written += taken as usize;
                    }
                    Step::Read(most) => {
                        let taken = most.min((written - got) as u64);
                        let mut left = taken;
                        let mut read = Vec::new();
                        while let Some((exchange, payload)) = stream.read(&mut left) {
                            read.extend((0..payload).map(|_| exchange));
                        }
                        let part = &bytes[got..got + taken as usize];
                        prop_assert_eq!(read, part.iter().flatten().copied().collect::<Vec<_>>());
                        got += taken as usize;
                    }
                }
                prop_assert_eq!(stream.to_write(), (bytes.len() - written) as u64);
                prop_assert_eq!(stream.pushed(), bytes.len() as u64);
                prop_assert_eq!(stream.is_drained(), got == bytes.len());
            }
            prop_assert!(stream.is_drained() && stream.first.is_none() && stream.rest.is_none_or(|rest| rest.pieces.is_empty()));
        }
    }
}
