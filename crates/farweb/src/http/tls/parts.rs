//! First flights of a handshake by their parts, in bytes on the connection.
//!
//! Models messages with the fields and extensions that a handshake of the Web has, each message in records of its own, as OpenSSL and
//! Go send them. Where a choice is open it is small: one share of the key exchange, three cipher suites, three groups, eight signature
//! algorithms, a host name of 15 B, `h2` and `http/1.1` by ALPN. Leaves out GREASE, padding and encrypted hellos of browsers, a second
//! share for servers without the first, certificates of clients, and requests for them.
//!
//! Sources: RFC 8446, sections 4, 5 and appendix D.4; RFC 5246, section 7.4, with RFC 8422. Extensions name their own. Keys and
//! certificates: [`schemes`](super::schemes) and [`chain`](super::chain).

use serde::Serialize;

use super::chain::{Certificate, ocsp_response};
use super::handshake::{HandshakeBytes, Start, Version};
use super::schemes::{KeyExchange, Scheme};

/// A part of a flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its name.
    pub name: &'static str,
    /// Bytes that it adds. Below zero for what compression saves.
    pub bytes: i64,
}

/// Settings that decide about the sizes of the first flights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Parts {
    /// Key exchange, with one share from the client.
    pub key_exchange: KeyExchange,
    /// Signature scheme of all certificates.
    pub certificates: Scheme,
    /// Certificates between the leaf and a root, which is not sent.
    pub intermediates: u32,
    /// Timestamps of logs in the leaf.
    pub scts: u32,
    /// True where the client asks for an OCSP response and the server has one.
    pub ocsp: bool,
    /// Size of the compressed `Certificate` message, as a share of the plain one (RFC 8879).
    pub compression: Option<f64>,
    /// True where the client says that it has the intermediates, and the server leaves them out.
    pub suppress_intermediates: bool,
}

/// Most bytes of a handshake message, by its length field of 24 bits (RFC 8446, section 4).
pub const MESSAGE_MAX: u64 = (1 << 24) - 1;

/// Header of a handshake message: type and length.
const HEADER: u64 = 4;

/// Header of a record without encryption (RFC 8446, section 5.1).
const PLAIN_RECORD: u64 = 5;

/// Most bytes of messages in a record (RFC 8446, section 5.1).
const RECORD_MAX: u64 = 16_384;

/// `ChangeCipherSpec` with its record. In TLS 1.3 for middleboxes (RFC 8446, appendix D.4).
const CHANGE_CIPHER_SPEC: u64 = 6;

/// Version, random bytes, and the lengths of a session ID and of the extensions, in either hello.
const HELLO: u64 = HEADER + 2 + 32 + 1 + 2;

/// Session ID: in TLS 1.3 any client's, for middleboxes. In TLS 1.2 a client's that resumes with a ticket (RFC 5077, section
/// 3.4).
const SESSION_ID: u64 = 32;

/// Three cipher suites and the null compression, with their lengths.
const SUITES: u64 = 2 + 3 * 2 + 2;

/// Cipher suite and compression that a server has chosen.
const CHOSEN: u64 = 2 + 1;

/// An extension with `bytes` in it.
const fn extension(bytes: u64) -> u64 {
    4 + bytes
}

/// Name of a host (RFC 6066, section 3), groups, signature algorithms (RFC 8446, sections 4.2.7 and 4.2.3), ALPN (RFC 7301).
const CLIENT_EXTENSIONS: u64 =
    extension(2 + 1 + 2 + 15) + extension(2 + 3 * 2) + extension(2 + 8 * 2) + extension(2 + 3 + 9);

/// Versions, and ways to use a ticket (RFC 8446, sections 4.2.1 and 4.2.9).
const CLIENT_EXTENSIONS_13: u64 = extension(1 + 2) + extension(1 + 1);

/// Formats of points (RFC 8422), extended master secret (RFC 7627), renegotiation (RFC 5746), a ticket (RFC 5077).
const EXTENSIONS_12: u64 = extension(1 + 1) + extension(0) + extension(1) + extension(0);

/// Host name heard (RFC 6066, section 3), and the protocol `h2`.
const SERVER_EXTENSIONS: u64 = extension(0) + extension(2 + 1 + 2);

/// Request for an OCSP response (RFC 6066, section 8), offer of one way to compress certificates (RFC 8879, section 3), flag
/// for intermediates (draft-kampanakis-tls-scas-latest-03, in the extension of draft-ietf-tls-tlsflags).
const ASK_OCSP: u64 = extension(1 + 2 + 2);
const ASK_COMPRESSION: u64 = extension(1 + 2);
const ASK_SUPPRESSION: u64 = extension(1 + 1);

/// Ticket as a client sends it back. Chosen: from the fixed handshakes, 250 B and 210 B with messages and records.
const TICKET_13: u64 = 203;
const TICKET_12: u64 = 195;

/// Ticket with its age, and the proof that the client has its key, by SHA-256 (RFC 8446, section 4.2.11).
const PRE_SHARED_KEY: u64 = extension(2 + 2 + TICKET_13 + 4 + 2 + 1 + 32);

/// `Finished`: by SHA-256 in TLS 1.3, of 12 B in TLS 1.2 (RFC 5246, section 7.4.9).
const FINISHED_13: u64 = HEADER + 32;
const FINISHED_12: u64 = HEADER + 12;

/// Beginning of a client's early data in TLS 1.3 (RFC 8446, section 4.2.10), in both flights.
const EARLY_DATA: u64 = extension(0);

/// `ServerHello` of TLS 1.2 without a session ID.
const SERVER_HELLO_12: u64 = HELLO + CHOSEN + SERVER_EXTENSIONS + EXTENSIONS_12;

/// Records for a message of `bytes`.
const fn records(bytes: u64) -> u64 {
    bytes.div_ceil(RECORD_MAX)
}

/// The bytes of a flight.
#[must_use]
pub fn sum(parts: &[Part]) -> u64 {
    parts.iter().map(|part| part.bytes).sum::<i64>().cast_unsigned()
}

/// A part that adds `bytes`.
const fn part(name: &'static str, bytes: u64) -> Part {
    Part { name, bytes: bytes.cast_signed() }
}

impl Parts {
    /// The first flights of a handshake.
    #[must_use]
    pub fn bytes(&self, version: Version, start: Start) -> HandshakeBytes {
        HandshakeBytes {
            client: sum(&self.client(version, start)),
            server: sum(&self.server(version, start)),
        }
    }

    /// Parts of the client's first flight, its hello.
    #[must_use]
    pub fn client(&self, version: Version, start: Start) -> Vec<Part> {
        let is_resumed = start != Start::Full;
        let asked = [
            (self.ocsp, ASK_OCSP),
            (self.compression.is_some(), ASK_COMPRESSION),
            (self.suppress_intermediates, ASK_SUPPRESSION),
            (start == Start::EarlyData, EARLY_DATA),
        ];
        let asked: u64 = asked.iter().filter(|(is_asked, _)| *is_asked).map(|(_, bytes)| bytes).sum();
        let mut parts = match version {
            Version::V13 => vec![
                part("ClientHello", HELLO + SESSION_ID + SUITES),
                part("extensions", CLIENT_EXTENSIONS + CLIENT_EXTENSIONS_13 + asked),
                part("key share", extension(2 + 2 + 2 + self.key_exchange.shares().client)),
            ],
            Version::V12 => vec![
                part("ClientHello", HELLO + if is_resumed { SESSION_ID } else { 0 } + SUITES),
                part("extensions", CLIENT_EXTENSIONS + EXTENSIONS_12 + asked),
            ],
        };
        if is_resumed {
            parts.push(part("ticket", if version == Version::V13 { PRE_SHARED_KEY } else { TICKET_12 }));
        }
        parts.push(part("record", PLAIN_RECORD));
        parts
    }

    /// Parts of the server's first flight, to its `Finished`, or in a full handshake of TLS 1.2 to its `ServerHelloDone`.
    #[must_use]
    pub fn server(&self, version: Version, start: Start) -> Vec<Part> {
        match (version, start) {
            (Version::V13, _) => self.server_13(start),
            (Version::V12, Start::Full) => self.server_12(),
            (Version::V12, _) => vec![
                part("ServerHello", SERVER_HELLO_12 + SESSION_ID),
                part("Finished", FINISHED_12),
                part("records", PLAIN_RECORD + CHANGE_CIPHER_SPEC + Version::V12.record_overhead()),
            ],
        }
    }

    /// `ServerHello` in the clear, and behind it encrypted messages: extensions, certificates with their proof, `Finished`.
    fn server_13(&self, start: Start) -> Vec<Part> {
        let ticket = if start == Start::Full { 0 } else { extension(2) }; // RFC 8446, section 4.2.11.
        let early = if start == Start::EarlyData { EARLY_DATA } else { 0 };
        let extensions = HEADER + 2 + SERVER_EXTENSIONS + early;
        let mut parts = vec![
            part("ServerHello", HELLO + SESSION_ID + CHOSEN + extension(2) + ticket),
            part("key share", extension(2 + 2 + self.key_exchange.shares().server)),
            part("EncryptedExtensions", extensions),
        ];
        let mut encrypted = records(extensions) + records(FINISHED_13);
        if start == Start::Full {
            let chain = self.chain(Version::V13);
            let message = sum(&chain);
            parts.extend(chain);
            let sent = self.compression.map_or(message, |ratio| compressed(message, ratio));
            if self.compression.is_some() {
                parts.push(Part { name: "compression", bytes: sent.cast_signed() - message.cast_signed() });
            }
            let proof = HEADER + 2 + 2 + self.certificates.bytes().signature;
            parts.push(part("CertificateVerify", proof));
            encrypted += records(sent) + records(proof);
        }
        parts.push(part("Finished", FINISHED_13));
        let overhead = encrypted * Version::V13.record_overhead();
        parts.push(part("records", PLAIN_RECORD + CHANGE_CIPHER_SPEC + overhead));
        parts
    }

    /// Messages in the clear: hello, certificates, OCSP response, the signed share of the key exchange, `ServerHelloDone`.
    fn server_12(&self) -> Vec<Part> {
        let heard = if self.ocsp { extension(0) } else { 0 };
        let exchange = HEADER + 1 + 2 + 1 + self.key_exchange.shares().server; // RFC 8422, section 5.4.
        let proof = 2 + 2 + self.certificates.bytes().signature;
        let chain = self.chain(Version::V12);
        let response = self.ocsp_bytes();
        let plain = 2 + records(sum(&chain) - response) + records(response) + records(exchange + proof);
        let mut parts = vec![part("ServerHello", SERVER_HELLO_12 + heard)];
        parts.extend(chain);
        parts.extend([
            part("key share", exchange),
            part("signature of the share", proof),
            part("ServerHelloDone", HEADER),
            part("records", plain * PLAIN_RECORD),
        ]);
        parts
    }

    /// The `Certificate` message without compression, and the OCSP response: in TLS 1.3 an extension of the leaf in that message, in
    /// TLS 1.2 a message of its own, of the same size.
    fn chain(&self, version: Version) -> Vec<Part> {
        let intermediate = Certificate::intermediate(self.certificates).bytes();
        let sent = if self.suppress_intermediates { 0 } else { u64::from(self.intermediates) };
        // Length of the list and of each certificate. In TLS 1.3 a context, and the length of the extensions of each.
        let lengths = match version {
            Version::V13 => HEADER + 1 + 3 + (1 + sent) * (3 + 2),
            Version::V12 => HEADER + 3 + (1 + sent) * 3,
        };
        let leaf = Certificate::leaf(self.certificates, self.scts);
        let parts = [
            part("certificate lengths", lengths),
            part("leaf: fields", leaf.fields),
            part("leaf: key", leaf.key),
            part("leaf: signature", leaf.signature),
            part("leaf: SCTs", leaf.scts),
            part("intermediates", sent * intermediate),
            part("OCSP response", self.ocsp_bytes()),
        ];
        parts.into_iter().filter(|part| part.bytes > 0).collect()
    }

    /// The OCSP response with its header (RFC 8446, section 4.4.2.1; RFC 6066, section 8).
    const fn ocsp_bytes(&self) -> u64 {
        if self.ocsp { HEADER + 1 + 3 + ocsp_response(self.certificates) } else { 0 }
    }

    /// Bytes of the `Certificate` message before compression, which has a limit: [`MESSAGE_MAX`].
    #[must_use]
    pub fn certificate_message(&self, version: Version) -> u64 {
        let response = if version == Version::V12 { self.ocsp_bytes() } else { 0 };
        sum(&self.chain(version)) - response
    }
}

/// `CompressedCertificate` for a `Certificate` message of `message` bytes: algorithm, both lengths, and the message
/// compressed without its header (RFC 8879, section 4).
fn compressed(message: u64, ratio: f64) -> u64 {
    HEADER + 2 + 3 + 3 + ((message - HEADER) as f64 * ratio).ceil() as u64
}

#[cfg(test)]
mod tests;
