//! Congestion control: how much may fly. What is lost is the matter of [`recovery`](super::recovery).

mod reno;

pub(super) use reno::Reno;

use super::profile::Profile;

/// The congestion control of a connection. All windows are in bytes.
#[derive(Debug, Clone)]
pub(super) enum Congestion {
    /// Reno as 4.4BSD has it.
    Reno(Reno),
}

impl Congestion {
    pub(super) const fn new(profile: &Profile) -> Self {
        Self::Reno(Reno::new(profile))
    }

    const fn inner(&self) -> &Reno {
        let Self::Reno(reno) = self;
        reno
    }

    const fn inner_mut(&mut self) -> &mut Reno {
        let Self::Reno(reno) = self;
        reno
    }

    /// Bytes that may be in flight.
    pub(super) const fn cwnd(&self) -> u64 {
        self.inner().cwnd()
    }

    /// Window up to which growth is exponential.
    pub(super) const fn ssthresh(&self) -> u64 {
        self.inner().ssthresh()
    }

    /// The window is set to `cwnd`: at the start, after idleness, when a host's own queue was full.
    pub(super) const fn set_cwnd(&mut self, cwnd: u64) {
        self.inner_mut().set_cwnd(cwnd);
    }

    /// New data was acknowledged; cwnd does not grow beyond `limit`.
    pub(super) fn on_ack(&mut self, mss: u64, limit: u64) {
        self.inner_mut().on_ack(mss, limit);
    }

    /// The retransmission timer expired with `window` bytes allowed.
    pub(super) fn on_timeout(&mut self, window: u64, mss: u64) {
        self.inner_mut().on_timeout(window, mss);
    }

    /// A fast retransmit starts with `window` bytes allowed: for the time of one segment, that is all that may go.
    pub(super) fn on_fast_retransmit(&mut self, window: u64, mss: u64) {
        self.inner_mut().on_timeout(window, mss);
    }

    /// The lost segment was sent again; `duplicates` segments are known to have left the network.
    pub(super) const fn enter_recovery(&mut self, duplicates: u64, mss: u64) {
        self.inner_mut().enter_recovery(duplicates, mss);
    }

    /// One more segment has left the network.
    pub(super) const fn on_further_duplicate(&mut self, mss: u64) {
        self.inner_mut().inflate(mss);
    }

    /// The lost segment was acknowledged.
    pub(super) fn leave_recovery(&mut self) {
        self.inner_mut().deflate();
    }
}
