//! MSS and buffer of the two ends of a leg: from the end's own keys or the leg's, and where these say "host", from the origin
//! server's row in the host table or the workload's default for hosts without one.

use crate::units::{Bytes, quantity_or_word};
use crate::workload::Host;

/// A size, or the value that the host table has for the request's server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostOr {
    /// From the host table.
    Host,
    /// This size.
    Size(Bytes),
}

quantity_or_word!(HostOr, "host", Bytes, Self::Host, Self::Size, |size| match size {
    HostOr::Host => None,
    HostOr::Size(size) => Some(*size),
});

/// Sizes that one end of a leg is set to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EndSizes {
    pub(crate) mss: HostOr,
    pub(crate) buffer: Option<HostOr>,
    pub(crate) default_mss: Bytes,
    pub(crate) default_window: Bytes,
}

impl EndSizes {
    /// MSS that the end advertises on connections for `host`, in bytes. `None` stands for a host that no table names.
    pub(crate) fn mss(&self, host: Option<&Host>) -> u16 {
        match self.mss {
            HostOr::Host => host.and_then(|host| host.mss).unwrap_or(self.default_mss.get() as u16),
            HostOr::Size(size) => size.get() as u16,
        }
    }

    /// Send and receive buffer of the end on connections for `host`, in bytes. `None`: the profile's own.
    pub(crate) fn buffer(&self, host: Option<&Host>) -> Option<u64> {
        self.buffer.map(|buffer| match buffer {
            HostOr::Host => host.and_then(|host| host.buffer).unwrap_or(self.default_window.get()),
            HostOr::Size(size) => size.get(),
        })
    }

    /// True for the MSS, and for the buffer, if the host gives it.
    pub(crate) fn asks_host(&self) -> (bool, bool) {
        (self.mss == HostOr::Host, self.buffer == Some(HostOr::Host))
    }
}
