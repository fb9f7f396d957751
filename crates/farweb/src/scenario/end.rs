//! MSS and buffer of the two ends of a leg: from the end's own keys or the leg's, and where these say "host", from the origin
//! server's row in the host table or the workload's default for hosts without one.

use super::{HostOr, Tcp, Workload};
use crate::units::Bytes;
use crate::workload::Host;

/// Sizes that one end of a leg is set to.
#[derive(Debug, Clone, Copy)]
pub struct EndSizes {
    mss: HostOr,
    buffer: Option<HostOr>,
    default_mss: Bytes,
    default_window: Bytes,
}

impl EndSizes {
    /// Those of a transport, nearer to the clients first.
    #[must_use]
    pub fn of(tcp: &Tcp, workload: &Workload) -> [Self; 2] {
        [tcp.from, tcp.to].map(|end| Self {
            mss: end.and_then(|end| end.mss).unwrap_or(tcp.mss),
            buffer: end.and_then(|end| end.buffer).or(tcp.buffer),
            default_mss: workload.default_mss,
            default_window: workload.default_window,
        })
    }

    /// MSS that the end advertises on connections for `host`, in bytes; `None` stands for a host that no table names.
    #[must_use]
    pub fn mss(&self, host: Option<&Host>) -> u16 {
        match self.mss {
            HostOr::Host => host.and_then(|host| host.mss).unwrap_or(self.default_mss.get() as u16),
            HostOr::Size(size) => size.get() as u16,
        }
    }

    /// Send and receive buffer of the end on connections for `host`, in bytes; `None`: the profile's own.
    #[must_use]
    pub fn buffer(&self, host: Option<&Host>) -> Option<u64> {
        self.buffer.map(|buffer| match buffer {
            HostOr::Host => host.and_then(|host| host.buffer).unwrap_or(self.default_window.get()),
            HostOr::Size(size) => size.get(),
        })
    }

    /// True for MSS and for buffer where they are those of the host.
    #[must_use]
    pub fn asks_host(&self) -> (bool, bool) {
        (self.mss == HostOr::Host, self.buffer == Some(HostOr::Host))
    }
}
