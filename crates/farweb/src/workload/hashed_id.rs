//! Ids of the objects that requests ask for and of the clients that ask, 64-bit numbers.
//!
//! Models identity and nothing else: requests with the same id ask for the same thing on any host, or are of the same
//! client. A request table names objects and clients by whole numbers or by text, such as URLs and addresses. A whole
//! number is its own id. Text is hashed by FNV-1a, which is the same on every machine and needs nothing but a
//! multiplication a byte. Millions of clients take no table in memory.
//!
//! Leaves out: the text, and that two texts may have one hash. Among n names some two do with probability n²/2^65:
//! 3 in 10,000 for 100 million. Ids that are numbers of a table have no spread: whoever samples by id hashes it first.
//!
//! Source: RFC 9923, FNV-1a with 64 bits.

use std::marker::PhantomData;
use std::num::NonZeroU64;

use crate::schema::NULL_ID;

/// Id of the object that a request asks for.
pub type ObjectId = HashedId<Object>;

/// Id of the client that asks.
pub type ClientId = HashedId<Client>;

/// Marks ids of objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Object {}

/// Marks ids of clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Client {}

/// Id that a request table gives as a number or as text. `Of` keeps ids of different things apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HashedId<Of> {
    /// One above the id: an optional one takes no more memory.
    number: NonZeroU64,
    of: PhantomData<Of>,
}

impl<Of> HashedId<Of> {
    /// Value for "none" in a column of ids.
    pub const NONE: u64 = NULL_ID;

    /// The id `id`, 0 to 2^64 − 2. `None` for 2^64 − 1, which stands for none in columns.
    #[must_use]
    pub const fn new(id: u64) -> Option<Self> {
        match NonZeroU64::new(id.wrapping_add(1)) {
            Some(number) => Some(Self { number, of: PhantomData }),
            None => None,
        }
    }

    /// The id that a table means by `text`: decimal digits are the number that they write, as far as it is an id. Any other
    /// text has the hash of its UTF-8 bytes.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = if is_number { text.parse().ok().and_then(Self::new) } else { None };
        number.unwrap_or_else(|| Self::of_bytes(text.as_bytes()))
    }

    /// The id of a name, whatever its bytes are: their hash.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self::hashed(bytes.iter().copied())
    }

    /// Id that stands for this one in copy `number` of a workload: the hash of id and number, 8 and 4 bytes, the lowest
    /// first.
    #[must_use]
    pub(super) fn in_copy(self, number: u32) -> Self {
        Self::hashed(self.get().to_le_bytes().into_iter().chain(number.to_le_bytes()))
    }

    /// The number, 0 to 2^64 − 2.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.number.get() - 1
    }

    /// The id that is a hash made elsewhere. The one hash that is no id gives way to the one before it.
    #[must_use]
    pub(super) fn of_hash(hash: u64) -> Self {
        Self::new(hash.min(Self::NONE - 1)).expect("below what stands for none")
    }

    /// FNV-1a.
    fn hashed(bytes: impl Iterator<Item = u8>) -> Self {
        let hash = bytes.fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self::of_hash(hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> u64 {
        ObjectId::of_text(text).get()
    }

    #[test]
    fn text_is_hashed_by_fnv_1a() {
        // Test vectors of RFC 9923: the empty string, "a" and "foobar".
        assert_eq!(ObjectId::of_bytes(b"").get(), 0xcbf2_9ce4_8422_2325);
        assert_eq!(id("a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(id("foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn a_whole_number_is_its_own_id() {
        for number in [0, 7, u64::MAX - 1] {
            assert_eq!(id(&number.to_string()), number);
        }
        assert_eq!(ObjectId::new(u64::MAX), None);
    }

    #[test]
    fn what_only_looks_like_a_number_is_text() {
        for text in ["-7", "+7", "7.0", " 7", "", "18446744073709551615", "18446744073709551616"] {
            assert_eq!(id(text), ObjectId::of_bytes(text.as_bytes()).get(), "{text:?}");
        }
    }

    #[test]
    fn copies_have_ids_of_their_own() {
        let objects = ["/a", "/b", "1", "2"].map(ObjectId::of_text);
        let mut ids: Vec<_> =
            objects.iter().flat_map(|object| [object.in_copy(1), object.in_copy(2), *object]).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), 12);
    }
}
