//! Selects the next frame of an end of an HTTP/2 connection: DATA, by credits and by turns.
//!
//! Models the windows of the connection and of each stream, the cutting of messages into frames, and the turns of
//! streams. A frame is cut only when it is sent. Leaves out padding, and programs' limits on the buffered bytes of a
//! message.
//!
//! Source: RFC 9113, sections 5.2 and 6.9; RFC 9218, section 10. Each order names its own.

use crate::http::credit::{CreditOverflow, Window};

use super::settings::Settings;

/// Rule for turns among the streams that have something to send and the credit for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// The one with the fewest bytes sent, starting from the count of the last turn's one: a frame of each in turn if
    /// all frames are full.
    ///
    /// Source: nghttp2 1.52, `nghttp2_stream.c`, `stream_next_cycle()`.
    RoundRobin,
    /// The one that began first, header included, until the connection's credit is used up, which puts it behind those
    /// begun.
    ///
    /// Source: nginx 1.22, `ngx_http_v2_filter_module.c`, `ngx_http_v2_waiting_queue()`.
    InOrder,
    /// The most urgent one, among equally urgent ones the first begun or, if incremental, one after the other.
    ///
    /// Source: RFC 9218, section 10; Go `net/http2`, `writesched_priority_rfc9218.go`.
    Urgency,
}

/// Urgency of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Urgency {
    /// 0, the most urgent, to 7.
    pub urgency: u8,
    /// True when a part of it is of use.
    pub incremental: bool,
}

impl Default for Urgency {
    /// Source: RFC 9218, section 4.
    fn default() -> Self {
        Self { urgency: 3, incremental: false }
    }
}

/// A DATA frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data<S> {
    /// Its stream.
    pub stream: S,
    /// Its payload, in bytes.
    pub bytes: u64,
    /// True when the message ends with it.
    pub ends: bool,
}

/// The messages that an end sends, by stream (`S`).
#[derive(Debug, Clone)]
pub struct Sender<S> {
    schedule: Schedule,
    /// Most bytes that go into a frame, of its own and of the other end.
    fragment: u64,
    max_frame: u64,
    connection: Window,
    initial: u64,
    /// In the order of their beginning.
    streams: Vec<Outgoing<S>>,
    turn: u64,
    /// Bytes sent of the stream that had its turn last, from where it began to count.
    cycle: u64,
}

#[derive(Debug, Clone)]
struct Outgoing<S> {
    id: S,
    window: Window,
    urgency: Urgency,
    /// True when there is a message.
    is_there: bool,
    /// Bytes that are there and not sent.
    waiting: u64,
    /// True when they are the last ones.
    is_whole: bool,
    /// True when its header has left.
    has_begun: bool,
    /// Time of its last turn, or of its beginning.
    turn: u64,
    /// Bytes sent, from where it began to count.
    cycle: u64,
}

impl<S: Copy + Eq> Sender<S> {
    /// An end that puts up to `fragment` bytes into a frame, and knows nothing of the other end yet.
    #[must_use]
    pub const fn new(schedule: Schedule, fragment: u64) -> Self {
        let Settings { initial_window, max_frame, .. } = Settings::DEFAULT;
        Self {
            schedule,
            fragment,
            max_frame,
            connection: Window::new(initial_window),
            initial: initial_window,
            streams: Vec::new(),
            turn: 0,
            cycle: 0,
        }
    }

    /// The other end has said how it wants to be sent to.
    ///
    /// # Errors
    /// When the window of a stream would be too large.
    pub fn on_settings(&mut self, settings: &Settings) -> Result<(), CreditOverflow> {
        for stream in &mut self.streams {
            stream.window.change_initial(self.initial, settings.initial_window)?;
        }
        self.initial = settings.initial_window;
        self.max_frame = settings.max_frame;
        Ok(())
    }

    /// The other end has granted `bytes`, on a stream or, with none, on the connection. A stream that has ended takes no notice.
    ///
    /// # Errors
    /// When a window would be too large.
    pub fn on_grant(&mut self, stream: Option<S>, bytes: u64) -> Result<(), CreditOverflow> {
        let window = match stream {
            None => Some(&mut self.connection),
            Some(id) => self.stream(id).map(|stream| &mut stream.window),
        };
        window.map_or(Ok(()), |window| window.grant(bytes))
    }

    /// The other end has opened a stream: it may grant something on it before there is a message.
    pub fn expect(&mut self, id: S) {
        self.streams.push(Outgoing {
            id,
            window: Window::new(self.initial),
            urgency: Urgency::default(),
            is_there: false,
            waiting: 0,
            is_whole: false,
            has_begun: false,
            turn: 0,
            cycle: 0,
        });
    }

    /// A message is there to be sent, its header first.
    pub fn open(&mut self, id: S, urgency: Urgency) {
        if self.stream(id).is_none() {
            self.expect(id);
        }
        let stream = self.stream(id).expect("it was there, or has been added");
        (stream.urgency, stream.is_there) = (urgency, true);
    }

    /// The header of a message has left.
    pub fn begin(&mut self, id: S) {
        let (turn, cycle) = (self.next_turn(), self.cycle);
        if let Some(stream) = self.stream(id) {
            stream.has_begun = true;
            (stream.turn, stream.cycle) = (turn, cycle);
        }
    }

    /// True when a header that waits leaves after the data of messages that have begun.
    #[must_use]
    pub fn puts_data_first(&self) -> bool {
        self.schedule == Schedule::InOrder && self.is_ready()
    }

    /// The next `bytes` of a message are there, at least one in all. `is_whole` marks the last ones.
    pub fn queue(&mut self, id: S, bytes: u64, is_whole: bool) {
        if let Some(stream) = self.stream(id) {
            stream.waiting += bytes;
            stream.is_whole |= is_whole;
        }
    }

    /// Nothing more of a message is sent.
    pub fn reset(&mut self, id: S) {
        self.streams.retain(|stream| stream.id != id);
    }

    /// Credit of the connection, in bytes.
    #[must_use]
    pub const fn connection(&self) -> Window {
        self.connection
    }

    /// Credit of a message that has not been sent to its end.
    #[must_use]
    pub fn window(&self, id: S) -> Option<Window> {
        self.streams.iter().find(|stream| stream.id == id).map(|stream| stream.window)
    }

    /// Bytes of data that may be sent before another grant: the credit of streams with an unfinished message, and the
    /// connection's. None without such a message.
    #[must_use]
    pub fn available(&self) -> Option<u64> {
        let there = self.streams.iter().filter(|stream| stream.is_there);
        let of_streams = there.map(|stream| stream.window.available()).reduce(|sum, bytes| sum + bytes)?;
        Some(of_streams.min(self.connection.available()))
    }

    /// True when a message that has begun has data to send and no credit for it, of its stream or of the connection.
    #[must_use]
    pub fn waits_for_credit(&self) -> bool {
        let mut sending = self.streams.iter().filter(|stream| stream.has_begun && stream.waiting > 0);
        sending.any(|stream| stream.window.available().min(self.connection.available()) == 0)
    }

    /// The next frame, charged, or none without data or credit.
    pub fn next_frame(&mut self) -> Option<Data<S>> {
        let most = self.fragment.min(self.max_frame).min(self.connection.available());
        let place = self.choose().filter(|_| most > 0)?;
        let turn = self.next_turn();
        let stream = &mut self.streams[place];
        let bytes = most.min(stream.waiting).min(stream.window.available());
        stream.window.charge(bytes);
        self.connection.charge(bytes);
        stream.waiting -= bytes;
        self.cycle = stream.cycle;
        stream.cycle += bytes;
        stream.turn = match self.schedule {
            Schedule::RoundRobin => turn,
            Schedule::InOrder if self.connection.available() == 0 => turn,
            Schedule::Urgency if stream.urgency.incremental => turn,
            Schedule::InOrder | Schedule::Urgency => stream.turn,
        };
        let (stream, ends) = (stream.id, stream.is_whole && stream.waiting == 0);
        if ends {
            self.streams.remove(place);
        }
        Some(Data { stream, bytes, ends })
    }

    /// True when there is a frame that may be sent.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.connection.available() > 0 && self.choose().is_some()
    }

    /// The stream that has its turn.
    fn choose(&self) -> Option<usize> {
        let ready = self.streams.iter().enumerate();
        let ready = ready.filter(|(_, stream)| stream.can_send());
        let rank = |stream: &Outgoing<S>| match self.schedule {
            Schedule::RoundRobin => (stream.cycle, stream.turn),
            Schedule::InOrder => (0, stream.turn),
            Schedule::Urgency => (u64::from(stream.urgency.urgency), stream.turn),
        };
        ready.min_by_key(|(_, stream)| rank(stream)).map(|(place, _)| place)
    }

    const fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    fn stream(&mut self, id: S) -> Option<&mut Outgoing<S>> {
        self.streams.iter_mut().find(|stream| stream.id == id)
    }
}

impl<S> Outgoing<S> {
    /// True when it has something to send and the credit for it.
    const fn can_send(&self) -> bool {
        self.has_begun && self.waiting > 0 && self.window.available() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sender to a peer without limits, with messages of these sizes.
    fn sender(schedule: Schedule, fragment: u64, sizes: &[u64]) -> Sender<usize> {
        let mut sender = Sender::new(schedule, fragment);
        sender.on_grant(None, Window::MAX - 65_535).expect("up to the greatest credit");
        let unlimited = Settings { initial_window: Window::MAX, ..Settings::DEFAULT };
        sender.on_settings(&unlimited).expect("no stream is open");
        for (stream, size) in sizes.iter().enumerate() {
            open(&mut sender, stream, Urgency::default());
            sender.queue(stream, *size, true);
        }
        sender
    }

    fn open(sender: &mut Sender<usize>, stream: usize, urgency: Urgency) {
        sender.open(stream, urgency);
        sender.begin(stream);
    }

    fn frames(sender: &mut Sender<usize>) -> Vec<(usize, u64)> {
        std::iter::from_fn(|| sender.next_frame()).map(|data| (data.stream, data.bytes)).collect()
    }

    #[test]
    fn a_message_is_cut_into_frames_and_the_last_one_ends_it() {
        let mut sender = sender(Schedule::RoundRobin, 16_384, &[100_000]);
        let all: Vec<_> = std::iter::from_fn(|| sender.next_frame()).collect();
        assert_eq!(all.len(), 7);
        assert!(all[..6].iter().all(|data| data.bytes == 16_384 && !data.ends));
        assert_eq!((sender.available(), sender.waits_for_credit()), (None, false));
        assert_eq!(all[6], Data { stream: 0, bytes: 100_000 - 6 * 16_384, ends: true });
    }

    #[test]
    fn round_robin_gives_each_a_frame() {
        let mut sender = sender(Schedule::RoundRobin, 10, &[25, 10, 25]);
        assert_eq!(frames(&mut sender), [(0, 10), (1, 10), (2, 10), (0, 10), (2, 10), (0, 5), (2, 5)]);
    }

    #[test]
    fn round_robin_goes_by_bytes() {
        // The connection's credit cuts the seventh of ten messages: it goes on when all have as much.
        let mut sender = Sender::new(Schedule::RoundRobin, 16_384);
        for stream in 0..10 {
            open(&mut sender, stream, Urgency::default());
            sender.queue(stream, 10_000, true);
        }
        assert_eq!(frames(&mut sender).last(), Some(&(6, 5535)));
        sender.on_grant(None, 32_000).expect("below the greatest");
        assert_eq!(frames(&mut sender), [(7, 10_000), (8, 10_000), (9, 10_000), (6, 2000)]);
    }

    #[test]
    fn a_message_that_has_not_begun_sends_nothing() {
        let mut sender = Sender::new(Schedule::InOrder, 16_384);
        open(&mut sender, 0, Urgency::default());
        sender.open(1, Urgency::default());
        sender.queue(1, 10, true);
        assert!(!sender.is_ready());
        sender.queue(0, 10, true);
        assert!(sender.puts_data_first());
        assert_eq!(frames(&mut sender), [(0, 10)]);
        sender.begin(1);
        assert_eq!(frames(&mut sender), [(1, 10)]);
    }

    #[test]
    fn what_is_granted_before_there_is_a_message_counts() {
        let mut sender = Sender::new(Schedule::RoundRobin, 16_384);
        sender.expect(0);
        sender.on_grant(Some(0), 1000).expect("below the greatest");
        assert_eq!(sender.available(), None, "no message is there");
        open(&mut sender, 0, Urgency::default());
        assert_eq!(sender.window(0).map(Window::credit), Some(66_535));
        assert_eq!(sender.available(), Some(65_535), "of the connection");
    }

    #[test]
    fn in_order_goes_on_until_the_connection_has_no_credit() {
        let mut sender = Sender::new(Schedule::InOrder, 8192);
        for stream in 0..3 {
            open(&mut sender, stream, Urgency::default());
            sender.queue(stream, 50_000, true);
        }
        let first = frames(&mut sender);
        assert_eq!(
            first.iter().filter(|(stream, _)| *stream == 0).map(|(_, bytes)| bytes).sum::<u64>(),
            50_000
        );
        assert_eq!(first.last(), Some(&(1, 65_535 - 50_000 - 8192)));
        assert_eq!(sender.next_frame(), None);
        open(&mut sender, 3, Urgency::default());
        sender.queue(3, 50_000, true);
        sender.on_grant(None, 10_000).expect("below the greatest");
        assert_eq!(frames(&mut sender), [(2, 8192), (2, 1808)], "the second one has had its turn");
        sender.on_grant(None, 10_000).expect("below the greatest");
        assert_eq!(frames(&mut sender), [(1, 8192), (1, 1808)], "before one that has begun since");
        sender.on_grant(None, 10_000).expect("below the greatest");
        assert_eq!(frames(&mut sender), [(3, 8192), (3, 1808)]);
    }

    #[test]
    fn the_urgent_go_first_and_the_incremental_share() {
        let mut sender = sender(Schedule::Urgency, 10, &[]);
        let kinds = [(3, false), (3, false), (1, true), (1, true)];
        for (stream, (urgency, incremental)) in kinds.into_iter().enumerate() {
            open(&mut sender, stream, Urgency { urgency, incremental });
            sender.queue(stream, 20, true);
        }
        assert_eq!(
            frames(&mut sender),
            [(2, 10), (3, 10), (2, 10), (3, 10), (0, 10), (0, 10), (1, 10), (1, 10)]
        );
    }

    #[test]
    fn both_windows_are_charged_and_either_stops_a_message() {
        let mut sender = Sender::new(Schedule::RoundRobin, 16_384);
        let small = Settings { initial_window: 20_000, ..Settings::DEFAULT };
        sender.on_settings(&small).expect("no stream is open");
        for stream in 0..4 {
            open(&mut sender, stream, Urgency::default());
            sender.queue(stream, 100_000, true);
        }
        let sent: u64 = frames(&mut sender).iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(sent, 65_535, "the connection is shorter than four times 20,000 B");
        assert_eq!(sender.window(0).map(Window::credit), Some(20_000 - 16_384));
        assert_eq!((sender.available(), sender.waits_for_credit()), (Some(0), true));
        sender.on_grant(None, 100_000).expect("below the greatest");
        let sent: u64 = frames(&mut sender).iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(sent, 80_000 - 65_535, "what is left of the streams");
        assert_eq!((sender.available(), sender.waits_for_credit()), (Some(0), true));
        sender.on_grant(Some(2), 7).expect("below the greatest");
        assert_eq!(frames(&mut sender), [(2, 7)]);
        sender.on_grant(Some(9), 7).expect("nobody takes notice");
    }

    #[test]
    fn settings_move_the_windows_of_open_streams() {
        // RFC 9113, section 6.9.2: 60 KB are sent, and then the initial window is 16 KB.
        let mut sender = Sender::new(Schedule::RoundRobin, 16_384);
        open(&mut sender, 0, Urgency::default());
        sender.queue(0, 60 * 1024, false);
        frames(&mut sender);
        sender.on_settings(&Settings { initial_window: 16 * 1024, ..Settings::DEFAULT }).expect("less");
        assert_eq!(sender.window(0).map(Window::credit), Some(-44 * 1024));
        sender.queue(0, 1000, true);
        sender.on_grant(Some(0), 44 * 1024).expect("below the greatest");
        assert_eq!(sender.next_frame(), None);
        sender.on_grant(Some(0), 400).expect("below the greatest");
        assert_eq!(sender.next_frame(), Some(Data { stream: 0, bytes: 400, ends: false }));
    }

    #[test]
    fn a_message_that_is_reset_sends_no_more() {
        let mut sender = sender(Schedule::RoundRobin, 10, &[20, 20]);
        sender.next_frame();
        sender.reset(0);
        sender.queue(0, 5, true);
        assert_eq!(frames(&mut sender), [(1, 10), (1, 10)]);
    }
}
