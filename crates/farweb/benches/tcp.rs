//! Cost of the TCP endpoint alone: segments processed by two ends that hand them to each other, without links or queue.

use divan::{Bencher, counter::ItemsCount};
use farweb::tcp::{Config, Connection, HostClock, Notice, Output, ProfileName, Random, Segment};
use farweb::units::{Duration, Instant};

fn main() {
    divan::main();
}

/// Two ends and the segments on their way, 1 ms each way.
struct Pair {
    ends: [Connection; 2],
    under_way: [Vec<Segment>; 2],
    now: Instant,
    segments: u64,
}

fn config() -> Config {
    Config {
        profile: ProfileName::Bsd44Lite.profile(),
        mss: 1460,
        send_buffer: None,
        receive_buffer: None,
        random: Random::default(),
    }
}

fn connect(out: &mut Output) -> Pair {
    let (now, host) = (Instant::ZERO, HostClock::default());
    let client = Connection::connect(now, &config(), host, out);
    let syn = out.segments.pop().expect("a SYN");
    let server = Connection::accept(now, &config(), host, &syn, out);
    let syn_ack = out.segments.drain(..).collect();
    Pair { ends: [client, server], under_way: [syn_ack, Vec::new()], now, segments: 1 }
}

impl Pair {
    /// Delivers everything under way to `end`, lets its application read at once, and sends its answers.
    fn deliver(&mut self, end: usize, out: &mut Output) {
        self.now += Duration::from_millis(1);
        let connection = &mut self.ends[end];
        let mut arriving = std::mem::take(&mut self.under_way[end]);
        for segment in arriving.drain(..) {
            self.segments += 1;
            connection.on_segment(self.now, &segment, out);
            if out.notices.drain(..).any(|notice| notice == Notice::Readable) {
                connection.read(self.now, u64::MAX, out);
            }
            self.under_way[1 - end].append(&mut out.segments);
        }
        self.under_way[end] = arriving;
        if connection.next_timeout().is_some_and(|due| due <= self.now) {
            connection.on_timeout(self.now, out);
            self.under_way[1 - end].append(&mut out.segments);
        }
    }

    /// With nothing under way, moves on to the next timer.
    fn skip_silence(&mut self) {
        if self.under_way.iter().all(Vec::is_empty) {
            let due = self.ends.iter().filter_map(Connection::next_timeout).min();
            self.now = self.now.max(due.expect("a transfer that is not over waits for something"));
        }
    }

    /// Sends `bytes` from the server to the client, and gives the number of segments that arrived anywhere.
    fn transfer(&mut self, bytes: u64, out: &mut Output) -> u64 {
        let mut left = bytes;
        while self.ends[1].bytes_acknowledged() < bytes {
            left -= self.ends[1].write(self.now, left, out);
            self.under_way[0].append(&mut out.segments);
            self.skip_silence();
            self.deliver(0, out);
            self.deliver(1, out);
        }
        self.segments
    }
}

/// A long transfer: nearly every segment is predicted.
#[divan::bench(args = [10_000_000])]
fn bulk(bencher: Bencher<'_, '_>, bytes: u64) {
    let mut out = Output::default();
    let segments = connect(&mut out).transfer(bytes, &mut out);
    bencher.counter(ItemsCount::new(segments)).bench_local(|| connect(&mut out).transfer(bytes, &mut out));
}

/// A short transfer on a connection of its own: opening and slow start weigh.
#[divan::bench(args = [12_000])]
fn short(bencher: Bencher<'_, '_>, bytes: u64) {
    let mut out = Output::default();
    let segments = connect(&mut out).transfer(bytes, &mut out);
    bencher.counter(ItemsCount::new(segments)).bench_local(|| connect(&mut out).transfer(bytes, &mut out));
}

/// Opening alone: both ends made, and the SYN and the SYN-ACK.
#[divan::bench]
fn open(bencher: Bencher<'_, '_>) {
    let mut out = Output::default();
    bencher.counter(ItemsCount::new(1_u32)).bench_local(|| connect(&mut out));
}
