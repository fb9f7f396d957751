//! Byte counts of an exchange, a request and its response on one leg: how many have been read at each end.
//!
//! Models all of HTTP/1.0: a connection for each exchange. The client writes the request when connected. The server
//! reads all of it, writes the response as it is released, and closes. The client closes at the end of the stream.
//! Other carriers put several exchanges on a connection, and a one-way transfer, as in ns-2's studies of web traffic,
//! is an exchange with a response only. Leaves out the text of messages, so also errors, redirections and
//! `Content-Length`. Source: RFC 1945, section 1.3; C. Williamson and N. Markatchev, "Network-Level Impacts on
//! User-Level Web Performance", SPECTS 2003 (data transfer of TCP only).

/// Size of a response that confirms the version a cache holds (304), in bytes. It has a header only. Chosen: headers of
/// the time had 150 to 300 B.
pub const NOT_MODIFIED_BYTES: u64 = 200;

/// Bytes of an exchange on one leg.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExchangeBytes {
    request: u64,
    response: u64,
    requested: u64,
    ready: u64,
    received: u64,
}

impl ExchangeBytes {
    /// An exchange of `request` bytes for `response` bytes.
    #[must_use]
    pub const fn new(request: u64, response: u64) -> Self {
        Self { request, response, requested: 0, ready: 0, received: 0 }
    }

    /// The response has `bytes`: the node that serves it has chosen the version.
    pub const fn set_response(&mut self, bytes: u64) {
        assert!(self.ready == 0 || self.response == bytes, "a response changed its size after it began");
        self.response = bytes;
    }

    /// `bytes` of the request were read at the server end. True if they complete it.
    pub const fn on_requested(&mut self, bytes: u64) -> bool {
        let before = self.requested;
        self.requested += bytes;
        before < self.request && self.requested >= self.request
    }

    /// `bytes` of the response are there to be sent from the server end. True if they complete it.
    pub const fn on_ready(&mut self, bytes: u64) -> bool {
        let before = self.ready;
        self.ready += bytes;
        before < self.response && self.ready >= self.response
    }

    /// `bytes` of the response were read at the client end. True if they complete it.
    ///
    /// Packets of one size may carry more than the response has.
    pub const fn on_received(&mut self, bytes: u64) -> bool {
        let before = self.received;
        self.received += bytes;
        before < self.response && self.received >= self.response
    }

    /// Bytes of the request that have been read at the server end.
    #[must_use]
    pub const fn requested(&self) -> u64 {
        self.requested
    }

    /// Bytes of the request.
    #[must_use]
    pub const fn request(&self) -> u64 {
        self.request
    }

    /// Bytes of the response.
    #[must_use]
    pub const fn response(&self) -> u64 {
        self.response
    }

    /// Bytes of the response that are there, or have been, to be sent from the server end.
    #[must_use]
    pub const fn ready(&self) -> u64 {
        self.ready
    }

    /// Bytes of the response that have been read at the client end.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// True when the whole response has been read at the client end.
    #[must_use]
    pub const fn is_received(&self) -> bool {
        self.received >= self.response
    }

    /// True when the whole request has been read at the server end.
    #[must_use]
    pub const fn is_requested(&self) -> bool {
        self.requested >= self.request
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_part_is_complete_once() {
        let mut exchange = ExchangeBytes::new(300, 1000);
        assert!(!exchange.on_requested(299) && !exchange.is_requested());
        assert!(exchange.on_requested(1) && exchange.is_requested());
        assert!(!exchange.on_requested(0), "a request is complete once");
        assert!(!exchange.on_ready(400));
        assert!(exchange.on_ready(600));
        assert!(!exchange.on_received(999));
        assert!(exchange.on_received(1));
        assert!(exchange.is_received());
        assert_eq!((exchange.response(), exchange.ready(), exchange.received()), (1000, 1000, 1000));
    }

    #[test]
    fn a_transfer_ends_with_the_packet_that_has_its_last_byte() {
        let mut transfer = ExchangeBytes::new(0, 1025);
        assert!(!transfer.on_received(1024));
        assert!(transfer.on_received(512));
        assert_eq!(transfer.received(), 1536);
    }
}
