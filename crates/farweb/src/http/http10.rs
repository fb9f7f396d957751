//! HTTP/1.0 without keep-alive: a connection for each request, closed by the server.
//!
//! Models the byte counts of one exchange: the client writes the request when it is connected; the server reads all of it,
//! writes the response as its origin releases it, and closes; the client closes at the end of the stream. Leaves out the
//! text of messages, so also errors, redirections and `Content-Length`.
//! Source: RFC 1945, section 1.3.

/// The client's side of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    unwritten: u64,
    response: u64,
    received: u64,
}

/// The server's side of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server {
    request: u64,
    response: u64,
    received: u64,
    ready: u64,
    written: u64,
}

impl Client {
    /// An exchange of `request` bytes for `response` bytes.
    #[must_use]
    pub const fn new(request: u64, response: u64) -> Self {
        Self { unwritten: request, response, received: 0 }
    }

    /// What is still to be written, in bytes.
    #[must_use]
    pub const fn to_write(&self) -> u64 {
        self.unwritten
    }

    /// The connection took `bytes`.
    pub const fn on_written(&mut self, bytes: u64) {
        self.unwritten -= bytes;
    }

    /// `bytes` of the response were read.
    pub const fn on_read(&mut self, bytes: u64) {
        self.received += bytes;
    }

    /// Bytes of the response that have been read.
    #[must_use]
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// Whether the whole response has been read.
    #[must_use]
    pub const fn is_complete(&self) -> bool {
        self.received >= self.response
    }
}

impl Server {
    /// An exchange of `request` bytes for `response` bytes.
    #[must_use]
    pub const fn new(request: u64, response: u64) -> Self {
        Self { request, response, received: 0, ready: 0, written: 0 }
    }

    /// `bytes` of the request were read; whether they complete it.
    pub const fn on_read(&mut self, bytes: u64) -> bool {
        let before = self.received;
        self.received += bytes;
        before < self.request && self.received >= self.request
    }

    /// The origin released `bytes` of the response.
    pub const fn on_released(&mut self, bytes: u64) {
        self.ready += bytes;
    }

    /// What is released and still to be written, in bytes.
    #[must_use]
    pub const fn to_write(&self) -> u64 {
        self.ready - self.written
    }

    /// The connection took `bytes`.
    pub const fn on_written(&mut self, bytes: u64) {
        self.written += bytes;
    }

    /// Whether the whole response has been written, so that the server closes.
    #[must_use]
    pub const fn is_finished(&self) -> bool {
        self.written >= self.response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exchange_ends_when_every_byte_has_been_counted() {
        let (mut client, mut server) = (Client::new(300, 1000), Server::new(300, 1000));
        client.on_written(300);
        assert_eq!(client.to_write(), 0);
        assert!(!server.on_read(299));
        assert!(server.on_read(1));
        assert!(!server.on_read(0), "a request is complete once");
        server.on_released(400);
        server.on_written(400);
        assert!(!server.is_finished());
        server.on_released(600);
        assert_eq!(server.to_write(), 600);
        server.on_written(600);
        assert!(server.is_finished());
        client.on_read(1000);
        assert!(client.is_complete());
    }
}
