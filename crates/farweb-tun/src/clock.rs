//! The real clock, as time since the start of a talk, and waiting on it.

use std::io;
use std::os::fd::BorrowedFd;

use farweb::units::{Duration, Instant};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::time::{ClockId, clock_gettime};

const NANOSECONDS: i64 = 1_000_000_000;

/// Real time since [`Clock::start`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    start: u64,
    epoch: u64,
}

impl Clock {
    /// A clock that begins now.
    pub(crate) fn start() -> Self {
        Self { start: read(ClockId::Monotonic), epoch: read(ClockId::Realtime) }
    }

    /// The time of day at the start, in nanoseconds since 1970.
    pub(crate) const fn epoch(&self) -> u64 {
        self.epoch
    }

    pub(crate) fn now(&self) -> Instant {
        Instant::from_nanos(read(ClockId::Monotonic) - self.start)
    }

    /// Waits until `deadline` or until one of `files` can be read, and says of each if it can.
    ///
    /// May return some 50 µs late (the kernel's slack for timers), later on a busy machine.
    pub(crate) fn wait<const N: usize>(
        &self,
        deadline: Instant,
        files: [BorrowedFd<'_>; N],
    ) -> io::Result<[bool; N]> {
        let left = deadline.saturating_since(self.now());
        let mut polled = files.map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN));
        match poll(&mut polled, Some(&timespec(left))) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(polled.map(|file| !file.revents().is_empty())),
            Err(error) => Err(error.into()),
        }
    }
}

fn read(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    (time.tv_sec * NANOSECONDS + time.tv_nsec) as u64
}

const fn timespec(span: Duration) -> Timespec {
    let nanos = span.as_nanos() as i64;
    Timespec { tv_sec: nanos / NANOSECONDS, tv_nsec: nanos % NANOSECONDS }
}
