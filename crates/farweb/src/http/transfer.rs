//! One-way transfers: the response alone, as ns-2's studies of web traffic have it.
//!
//! Models the bytes of one response that its server sends as soon as the request is made. Leaves out the request, so also
//! its way, the opening and closing of a connection, and the server's time.
//! Source: C. Williamson and N. Markatchev, "Network-Level Impacts on User-Level Web Performance", SPECTS 2003: only the
//! data transfer of TCP is modelled.

/// A response on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transfer {
    response: u64,
    received: u64,
}

impl Transfer {
    /// A transfer of `response` bytes.
    #[must_use]
    pub const fn new(response: u64) -> Self {
        Self { response, received: 0 }
    }

    /// What the server writes at once, in bytes.
    #[must_use]
    pub const fn to_write(&self) -> u64 {
        self.response
    }

    /// `bytes` more have arrived in order; packets of one size may carry more than the response has.
    pub const fn on_read(&mut self, bytes: u64) {
        self.received += bytes;
    }

    /// Bytes that have arrived in order.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Whether the whole response has arrived.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.received >= self.response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transfer_ends_with_the_packet_that_has_its_last_byte() {
        let mut transfer = Transfer::new(1025);
        assert_eq!(transfer.to_write(), 1025);
        transfer.on_read(1024);
        assert!(!transfer.is_complete());
        transfer.on_read(512);
        assert_eq!((transfer.received(), transfer.is_complete()), (1536, true));
    }
}
