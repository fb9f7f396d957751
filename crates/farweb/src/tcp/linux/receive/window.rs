//! The window to offer.
//!
//! Models the window as Linux derives it from memory. A segment takes more memory than its payload: headers, the kernel's
//! own records, and rounding to a power of two. The share of payload in the memory of the last full segment (in 256ths,
//! half before the first) turns memory into window. `rcv_ssthresh` bounds the offered window, and grows by two segments
//! for each that arrives: a sender of small segments cannot be offered more than memory holds. Without scaling the window
//! is a multiple of the segment size. Its right edge never moves back.
//!
//! A window that a scenario sets is a bound on all of this (as by `TCP_WINDOW_CLAMP`), with memory enough, and is not tuned.
//! Leaves out memory pressure of the host, and joining small segments in the buffer.
//!
//! Source: Linux 6.18 `tcp_output.c`, `__tcp_select_window()`, `tcp_select_window()`, `tcp_select_initial_window()`;
//! `tcp_input.c`, `tcp_grow_window()`, `tcp_init_buffer_space()`, `tcp_measure_rcv_mss()`, `tcp_clamp_window()`; `tcp.c`, `tcp_set_window_clamp()`;
//! `include/net/tcp.h`, `tcp_win_from_space()`; `include/linux/skbuff.h`, `SKB_TRUESIZE()`.

use super::super::profile::Profile;
use super::tuning::window_for;
use crate::tcp::segment::{WINDOW_FIELD_MAX, WINDOW_MAX, WINDOW_SCALE_MAX};

/// Payload in 256ths of memory before the first full segment (`TCP_DEFAULT_SCALING_RATIO`).
const RATIO_INITIAL: u64 = 128;
/// Unit of the ratio (`1 << TCP_RMEM_TO_WIN_SCALE`).
const RATIO_UNIT: u64 = 256;
/// Memory of a segment beside its packet: head room, the record of shared data, and the buffer's own record (x86-64).
const HEAD_ROOM: u64 = 64;
const SHARED_INFO: u64 = 320;
const BUFFER_RECORD: u64 = 256;
/// Smallest piece of memory that holds a segment's head.
const MEMORY_PIECE_MIN: u64 = 512;
/// Memory for each byte of a window that a scenario sets. Chosen: enough for segments of a few hundred bytes.
const MEMORY_PER_WINDOW: u64 = 8;

/// Window, and the memory behind it, in bytes.
#[derive(Debug, Clone)]
pub(super) struct ReceiveWindow {
    /// Size of the receive buffer in memory (`sk_rcvbuf`), and the most that tuning makes of it.
    memory: u64,
    memory_max: u64,
    ratio: u64,
    /// Largest window (`window_clamp`), and the one that a scenario sets, if it does.
    clamp: u64,
    fixed: u64,
    /// Bound of the window offered (`rcv_ssthresh`).
    ssthresh: u64,
    /// Last advertised window and its left edge.
    advertised: u64,
    from: u64,
    shift: u8,
    /// MSS that we offer, less agreed options.
    mss: u64,
    tuned: bool,
    /// Shift that our SYN offers.
    offered: Option<u8>,
}

/// Memory that a packet of `bytes` takes.
pub(super) fn memory_of(bytes: u64) -> u64 {
    (HEAD_ROOM + bytes + SHARED_INFO).next_power_of_two().max(MEMORY_PIECE_MIN) + BUFFER_RECORD
}

impl ReceiveWindow {
    pub(super) fn new(profile: &Profile, mss: u64, fixed: Option<u64>) -> Self {
        let initial = profile.receive_buffer_initial.get();
        let memory = fixed.map_or(initial, |window| initial.max(window * MEMORY_PER_WINDOW));
        let mut window = Self {
            memory,
            memory_max: profile.receive_buffer_max.get().max(memory),
            ratio: RATIO_INITIAL,
            clamp: fixed.unwrap_or(WINDOW_MAX),
            fixed: fixed.unwrap_or(u64::MAX),
            ssthresh: 0,
            advertised: 0,
            from: 0,
            shift: 0,
            mss,
            tuned: fixed.is_none() && profile.receive_buffer_tuning,
            offered: None,
        };
        window.advertised = window.initial(mss);
        // A shift for the largest window that may ever be.
        let largest = memory.max(window.memory_max).min(window.clamp);
        let shift = largest.ilog2().saturating_sub(15).min(u32::from(WINDOW_SCALE_MAX)) as u8;
        window.offered = profile.window_scaling.then_some(shift);
        window
    }

    /// Window that `memory` bytes of memory hold.
    const fn window_in(&self, memory: u64) -> u64 {
        memory * self.ratio / RATIO_UNIT
    }

    /// `window` in whole units of the window field, rounded up.
    const fn scaled_up(&self, window: u64) -> u64 {
        let unit = 1 << self.shift;
        (window + unit - 1) & !(unit - 1)
    }

    /// The first window, in whole segments of `mss`.
    fn initial(&self, mss: u64) -> u64 {
        let space = self.window_in(self.memory).min(self.clamp);
        if space > mss { space - space % mss } else { space }
    }

    /// Shift that our SYN offers.
    pub(super) const fn scale_offered(&self) -> Option<u8> {
        self.offered
    }

    /// Window field of a SYN.
    pub(super) fn syn_field(&self) -> u16 {
        self.advertised.min(WINDOW_FIELD_MAX) as u16
    }

    /// The connection opens. Segments of the peer have `option_bytes` of options.
    pub(super) fn start(&mut self, rcv_nxt: u64, scaling: bool, option_bytes: u64, passive: bool) {
        if passive {
            self.advertised = self.initial(self.mss - option_bytes);
        } else {
            self.mss -= option_bytes;
        }
        self.from = rcv_nxt;
        self.shift = if scaling { self.offered.unwrap_or(0) } else { 0 };
        self.clamp = self.clamp.min(WINDOW_FIELD_MAX << self.shift);
        let full = self.window_in(self.memory);
        self.clamp = self.clamp.min(full);
        // Room for one segment beyond the window is kept.
        if self.clamp > 2 * self.mss && self.clamp + self.mss > full {
            self.clamp = (2 * self.mss).max(full.saturating_sub(self.mss));
        }
        self.ssthresh = self.advertised.min(self.clamp);
    }

    /// Bytes that a round trip brings at first, for tuning.
    pub(super) fn initial_round(&self, segments: u64) -> u64 {
        self.ssthresh.min(self.advertised).min(segments * self.mss)
    }

    pub(super) const fn mss(&self) -> u64 {
        self.mss
    }

    pub(super) const fn shift(&self) -> u8 {
        self.shift
    }

    pub(super) const fn memory(&self) -> u64 {
        self.memory
    }

    pub(super) const fn clamp(&self) -> u64 {
        self.clamp
    }

    /// Window that was last advertised, in bytes.
    pub(super) const fn advertised(&self) -> u64 {
        self.advertised
    }

    /// Left edge of the last advertised window: the last ACK.
    pub(super) const fn last_ack(&self) -> u64 {
        self.from
    }

    /// Right edge of the window, as it was advertised.
    pub(super) const fn edge(&self) -> u64 {
        self.from + self.advertised
    }

    /// Rest of the window beyond `rcv_nxt`.
    pub(super) const fn left(&self, rcv_nxt: u64) -> u64 {
        self.edge().saturating_sub(rcv_nxt)
    }

    /// A segment of a size not seen before, with `len` bytes of payload in `memory`. The new clamp, if it changes.
    pub(super) fn on_new_size(&mut self, len: u64, memory: u64) -> Option<u64> {
        let ratio = (len * RATIO_UNIT / memory).clamp(1, RATIO_UNIT - 1);
        if ratio == self.ratio {
            return None;
        }
        self.ratio = ratio;
        let before = self.clamp;
        self.set_clamp();
        self.ssthresh = if self.clamp < before {
            self.ssthresh.min(self.clamp)
        } else {
            self.ssthresh.max(self.advertised.min(self.clamp))
        };
        Some(self.clamp)
    }

    fn set_clamp(&mut self) {
        let full = self.window_in(self.memory);
        self.clamp = self.fixed.min(full);
    }

    /// A segment of `len` bytes in `memory` came, `used` memory being taken. True when the window may grow by it. `segment` is
    /// the size of the peer's segments.
    pub(super) fn grow(&mut self, len: u64, memory: u64, used: u64, segment: u64) -> bool {
        let space = self.window_in(self.memory.saturating_sub(used));
        let room = self.clamp.min(space).saturating_sub(self.ssthresh);
        if room == 0 {
            return false;
        }
        let increment = if self.window_in(memory) <= len {
            2 * self.mss
        } else {
            self.growth_by_small(len, memory, segment)
        };
        if increment == 0 {
            return false;
        }
        self.ssthresh += room.min(increment.max(2 * len));
        true
    }

    /// Growth by a segment that takes much memory for its payload: none, unless the window is far below what memory holds.
    const fn growth_by_small(&self, len: u64, memory: u64, segment: u64) -> u64 {
        let mut overhead = self.window_in(memory) / 2;
        let mut window = self.window_in(self.memory_max) / 2;
        while self.ssthresh <= window {
            if overhead <= len {
                return 2 * segment;
            }
            overhead /= 2;
            window /= 2;
        }
        0
    }

    /// The application has read `copied` bytes in a round trip, `before` in the best one before, and `early` bytes lie beyond a
    /// gap: memory grows for the window that the sender can use.
    pub(super) fn tune(&mut self, copied: u64, before: u64, early: u64) {
        if !self.tuned {
            return;
        }
        let wanted = (window_for(copied, before) + early).saturating_mul(RATIO_UNIT) / self.ratio;
        let memory = wanted.min(self.memory_max);
        if memory > self.memory {
            self.memory = memory;
            self.set_clamp();
        }
    }

    /// A segment came and found no memory, `used` being taken. True when there is now.
    pub(super) fn make_room(&mut self, used: u64) -> bool {
        if used > self.memory {
            self.memory = used.min(self.memory_max);
        }
        if used > self.memory {
            self.ssthresh = self.clamp.min(2 * self.mss);
        }
        used <= self.memory
    }

    /// Window for `used` bytes of memory and segments of `segment` bytes, and true if memory is short.
    pub(super) fn choose(&self, used: u64, segment: u64) -> (u64, bool) {
        let allowed = self.window_in(self.memory);
        let full = self.clamp.min(allowed);
        let segment = segment.min(full);
        if segment == 0 {
            return (0, false);
        }
        let mut free = self.window_in(self.memory.saturating_sub(used));
        let is_short = free < full / 2;
        if is_short {
            free = free >> self.shift << self.shift;
            if free < allowed / 16 || free < segment {
                return (0, true);
            }
        }
        free = free.min(self.ssthresh);
        if self.shift > 0 {
            return (self.scaled_up(free), is_short);
        }
        let current = self.advertised;
        let window = if current + segment <= free || current > free {
            free - free % segment
        } else if segment == full && free > current + full / 2 {
            free
        } else {
            current
        };
        (window, is_short)
    }

    /// Advertises the window `chosen` with the ACK of `rcv_nxt`, or the old one if that reaches further. The header's field.
    pub(super) fn advertise(&mut self, rcv_nxt: u64, chosen: u64) -> u16 {
        let left = self.left(rcv_nxt);
        self.advertised = if chosen < left { self.scaled_up(left) } else { chosen };
        self.from = rcv_nxt;
        (self.advertised >> self.shift).min(WINDOW_FIELD_MAX) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(profile: &Profile, fixed: Option<u64>) -> ReceiveWindow {
        let mut window = ReceiveWindow::new(profile, 1460, fixed);
        window.start(1, profile.window_scaling, if profile.timestamps { 12 } else { 0 }, false);
        window
    }

    #[test]
    fn a_packet_takes_a_power_of_two_and_a_record() {
        assert_eq!([1500, 576, 340, 40].map(memory_of), [2304, 1280, 1280, 768]);
    }

    #[test]
    fn the_first_windows_are_those_that_the_kernel_offers() {
        let linux = ReceiveWindow::new(&Profile::linux(), 1460, None);
        assert_eq!((linux.syn_field(), linux.scale_offered()), (64240, Some(10)));
        let classic = ReceiveWindow::new(&Profile::linux_classic(), 1460, Some(32767));
        assert_eq!((classic.syn_field(), classic.scale_offered()), (32120, None));
        // A passive opener knows of the options.
        let mut passive = linux;
        passive.start(1, true, 12, true);
        assert_eq!((passive.syn_field(), passive.scale_offered()), (65160, Some(10)));
    }

    #[test]
    fn full_segments_open_the_window_as_captured() {
        let mut window = opened(&Profile::linux(), None);
        let (chosen, _) = window.choose(0, 536);
        assert_eq!(window.advertise(1, chosen), 63);
        let mut fields = Vec::new();
        window.on_new_size(1448, 2304);
        for segment in 1..=7 {
            window.grow(1448, 2304, 2304, 1448);
            let (chosen, is_short) = window.choose(0, 1448);
            assert!(!is_short);
            fields.push(window.advertise(1 + 1448 * segment, chosen));
        }
        assert_eq!(fields, [66, 69, 72, 75, 78, 79, 79]);
    }

    #[test]
    fn without_scaling_the_window_is_whole_segments() {
        let mut window = opened(&Profile::linux_classic(), Some(32767));
        // A request of 300 B lifts the bound to the clamp, and segments are taken to have 536 B until a larger one comes.
        assert!(window.grow(300, 1280, 1280, 536));
        assert_eq!(window.choose(0, 536), (32696, false));
        assert_eq!(window.choose(0, 1460), (32120, false));
    }

    #[test]
    fn the_right_edge_never_moves_back() {
        let mut window = opened(&Profile::linux_classic(), Some(8760));
        window.advertise(1, 8760);
        assert_eq!((window.advertise(1461, 0), window.edge()), (7300, 8761));
    }

    #[test]
    fn a_full_buffer_shuts_the_window() {
        let window = opened(&Profile::linux(), None);
        assert_eq!(window.choose(131_072, 1448), (0, true));
        // A sixteenth of the buffer is too little to be offered.
        assert_eq!(window.choose(131_072 / 16 * 15 + 2048, 1448), (0, true));
    }

    #[test]
    fn tuning_gives_memory_for_the_wanted_window() {
        let mut window = opened(&Profile::linux(), None);
        window.on_new_size(1448, 2304);
        window.tune(100_000, 50_000, 0);
        // Twice 100 kB, and twice that again for the doubling: 600 kB at 160 / 256.
        assert_eq!((window.memory(), window.clamp()), (960_000, 600_000));
        window.tune(100_000_000, 1, 0);
        assert_eq!(window.memory(), 33_554_432);
    }
}
