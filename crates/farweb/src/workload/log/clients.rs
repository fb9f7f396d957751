//! Clients of a log: who a line is from, and the name that the table gives them.
//!
//! A pseudonym is SipHash-2-4 of the client's bytes under a key of 128 bits, a pseudorandom function with the 64 bits
//! of an id. Equal clients under equal keys have equal pseudonyms. Without the key they reveal nothing of the client.
//! With the key every address can be tried: it gives the clients away.
//!
//! Source: J.-P. Aumasson, D. J. Bernstein, "SipHash: a fast short-input PRF" (INDOCRYPT 2012).

use std::fmt;
use std::hash::Hasher as _;
use std::net::IpAddr;

use siphasher::sip::SipHasher24;

use super::record::{Record, Text};
use super::when::is_time;
use crate::workload::ClientId;

/// Key of pseudonyms.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ClientKey([u8; 16]);

/// Name of a client in the request table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientNames {
    /// A number that only holders of the key can trace back.
    Pseudonyms(ClientKey),
    /// The text of the log, bytes that are not UTF-8 replaced.
    AsLogged,
}

impl ClientKey {
    /// The key of these bytes.
    #[must_use]
    pub const fn new(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The pseudonym of a client.
    pub(super) fn pseudonym(&self, client: &[u8]) -> ClientId {
        let mut hasher = SipHasher24::new_with_key(&self.0);
        hasher.write(client);
        ClientId::of_hash(hasher.finish())
    }
}

/// Without its bytes: messages and logs of a program are no place for a key.
impl fmt::Debug for ClientKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ClientKey(…)")
    }
}

/// Takes the client of a record from its `X-Forwarded-For`, where that names an address: a request without the field came from its
/// client directly.
pub(super) fn take_forwarded(record: &mut Record<'_>) {
    let first = record.forwarded.as_deref().and_then(first_address);
    if let Some(address) = first {
        record.client = Some(Text::Owned(address.to_vec()));
    }
}

/// The client that a field names: an address without its brackets and port, of a list of addresses, as proxies pass them on, the
/// first; any other text as it is.
pub(super) fn of_field(text: Text<'_>) -> Text<'_> {
    match first_address(&text) {
        Some(address) if address.len() < text.len() => Text::Owned(address.to_vec()),
        _ => text,
    }
}

/// True if a word between blanks is a client: an address, or a name without signs that belong to a list, a prefix or a time.
pub(super) fn is_client(word: &[u8]) -> bool {
    let is_in_name = |byte: &u8| !byte.is_ascii_whitespace() && !b",;|:[](){}<>\"'=\\".contains(byte);
    let without_zone = word.split(|byte| *byte == b'%').next().unwrap_or_default();
    first_address(without_zone).is_some()
        || word.starts_with(b"unix:")
        || !word.is_empty() && word.iter().all(is_in_name) && !is_time(word)
}

/// True if the words of a field are no user's name but text before one: addresses, absent fields, a prefix.
pub(super) fn is_no_user(text: &[u8]) -> bool {
    let is_alien =
        |word: &[u8]| matches!(word, b"-" | b"|") || first_address(word).is_some() || is_time(word);
    text.contains(&b' ') && text.split(|byte| *byte == b' ').any(is_alien)
}

/// The first address of a list, as it is written there without port and brackets. `None` if the first entry is no
/// address.
fn first_address(list: &[u8]) -> Option<&[u8]> {
    let entry = list.split(|byte| *byte == b',').next()?.trim_ascii();
    let is_address =
        |text: &&[u8]| std::str::from_utf8(text).is_ok_and(|text| text.parse::<IpAddr>().is_ok());
    let bracketed = || entry.strip_prefix(b"[")?.split(|byte| *byte == b']').next();
    let without_port = || entry.split(|byte| *byte == b':').next();
    [Some(entry), bracketed(), without_port()].into_iter().flatten().find(is_address)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pseudonyms_are_siphash_2_4() {
        // The first and last test vectors of the paper's reference code: key 00 01 … 0f, input of n bytes 00 01 ….
        let key = ClientKey::new(std::array::from_fn(|byte| byte as u8));
        let input: Vec<u8> = (0..15).collect();
        assert_eq!(key.pseudonym(b"").get(), 0x726f_db47_dd0e_0e31);
        assert_eq!(key.pseudonym(&input).get(), 0xa129_ca61_49be_45e5);
        assert_eq!(format!("{key:?}"), "ClientKey(…)");
    }

    #[test]
    fn a_field_names_a_client_in_several_ways() {
        let rows = [
            ("192.0.2.9", "192.0.2.9"),
            ("192.0.2.9:52344", "192.0.2.9"),
            ("2001:db8::5:4321", "2001:db8::5:4321"),
            ("[2001:db8::5]:4321", "2001:db8::5"),
            ("[2001:db8::5]", "2001:db8::5"),
            ("192.0.2.9, 10.0.0.1", "192.0.2.9"),
            ("c.example", "c.example"),
            ("fe80::1%eth0", "fe80::1%eth0"),
            ("unix:", "unix:"),
            ("session:7", "session:7"),
        ];
        for (text, client) in rows {
            assert_eq!(&*of_field(Text::Borrowed(text.as_bytes())), client.as_bytes(), "{text}");
        }
        for yes in
            ["c", "***.example", "a_b.example.", "192.0.2.9:52344", "[2001:db8::5]:4321", "unix:", "user@a"]
        {
            assert!(is_client(yes.as_bytes()), "{yes}");
        }
        for no in [
            "",
            "2024-05-10T10:00:00Z",
            "[HTTP-187]",
            "unknown,",
            "|",
            "chi=192.0.2.9",
            "a b",
            "10:00:00",
            "c.example:80",
        ] {
            assert!(!is_client(no.as_bytes()), "{no}");
        }
        for no in ["- -", "192.0.2.9 - -", "| 192.0.2.9 - frank", "10:00:00 web"] {
            assert!(is_no_user(no.as_bytes()), "{no}");
        }
        assert!(!is_no_user(b"John Smith") && !is_no_user(b"frank") && !is_no_user(b"192.0.2.9"));
    }

    #[test]
    fn the_first_address_of_a_list_counts() {
        let first = |list: &'static str| {
            first_address(list.as_bytes()).map(|found| std::str::from_utf8(found).unwrap())
        };
        assert_eq!(first("203.0.113.9"), Some("203.0.113.9"));
        assert_eq!(first(" 203.0.113.9 , 10.0.0.1, 10.0.0.2"), Some("203.0.113.9"));
        assert_eq!(first("203.0.113.9:51234, 10.0.0.1"), Some("203.0.113.9"));
        assert_eq!(first("2001:db8::7,10.0.0.1"), Some("2001:db8::7"));
        assert_eq!(first("[2001:db8::7]:51234"), Some("2001:db8::7"));
        for none in
            ["", "unknown", "unknown, 10.0.0.1", "_hidden", "[", ",10.0.0.1", "<script>", "10.0.0.256"]
        {
            assert_eq!(first(none), None, "{none}");
        }
    }
}
