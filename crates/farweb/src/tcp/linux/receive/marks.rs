//! Marks of routers: noticed on data, and echoed until the peer says that it has reduced its window (RFC 3168).
//!
//! Models the receiver of ECN. The first mark has two segments acknowledged at once. So has data without ECT once some had it,
//! as it is likely sent again. Leaves out accurate ECN (RFC 9768), which counts marks.
//!
//! Source: Linux 6.18 `tcp_input.c`, `tcp_data_ecn_check()`; `include/net/tcp_ecn.h`, `tcp_ecn_accept_cwr()`; RFC 3168, section
//! 6.1.3.

use super::super::input::Incoming;
use super::super::shared::SharedProfile;
use super::Receiver;
use crate::tcp::segment::Codepoint;

/// Segments that are acknowledged at once.
const QUICK: u32 = 2;

/// Marks that the receiver has seen.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks {
    /// Data came that was ECT or marked (`TCP_ECN_SEEN`).
    has_seen_ect: bool,
    /// A mark came that the peer has not answered (`TCP_ECN_DEMAND_CWR`).
    is_unanswered: bool,
}

impl Marks {
    /// Data came with `ecn` in its header. True when it is to be acknowledged at once.
    fn on_data(&mut self, ecn: Codepoint) -> bool {
        if ecn == Codepoint::NotEct {
            return self.has_seen_ect;
        }
        self.has_seen_ect = true;
        ecn == Codepoint::Ce && !std::mem::replace(&mut self.is_unanswered, true)
    }
}

impl Receiver {
    /// Looks for a mark on data that is taken.
    #[inline]
    pub(super) fn note_mark(&mut self, profile: &SharedProfile, segment: Incoming<'_>) {
        if self.marks.is_some() {
            self.note_codepoint(profile, segment.ecn());
        }
    }

    #[cold]
    fn note_codepoint(&mut self, profile: &SharedProfile, ecn: Codepoint) {
        if self.marks.as_mut().is_some_and(|marks| marks.on_data(ecn)) {
            self.acking.go_quick(self.half_window(), QUICK, profile);
        }
    }

    /// True when segments that leave echo a mark.
    pub(in crate::tcp::linux) fn echoes_mark(&self) -> bool {
        self.marks.is_some_and(|marks| marks.is_unanswered)
    }

    /// The peer has reduced its window, perhaps to a segment: data that says so is acknowledged at once.
    pub(in crate::tcp::linux) const fn on_cwr(&mut self, is_data: bool) {
        if let Some(marks) = &mut self.marks {
            marks.is_unanswered = false;
        }
        if is_data {
            self.acking.schedule_at_once();
        }
    }
}
