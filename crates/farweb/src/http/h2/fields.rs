//! Header blocks, as bytes of a given size.
//!
//! Models the fields that a request or a response needs, in the static table and literals of HPACK, and fills the block up with a
//! field without meaning: a simulation knows the size of a block and not its text. Leaves out the dynamic table and Huffman's
//! code, which another end has to read all the same.
//!
//! Source: RFC 7541, sections 5.1, 5.2, 6.1, 6.2.2 and appendix A.

/// Entries of the static table.
mod index {
    pub(super) const AUTHORITY: u8 = 1;
    pub(super) const METHOD_GET: u8 = 2;
    pub(super) const PATH: u8 = 4;
    pub(super) const SCHEME_HTTP: u8 = 6;
    pub(super) const STATUS_200: u8 = 8;
    pub(super) const STATUS_404: u8 = 13;
    pub(super) const CACHE_CONTROL: u8 = 24;
    pub(super) const CONTENT_LENGTH: u8 = 28;
    pub(super) const SERVER: u8 = 54;
    pub(super) const USER_AGENT: u8 = 58;
}

/// Bytes of a name from behind the fourteenth entry of the static table.
const NAME_BYTES: usize = 2;

/// A message without its data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Head<'a> {
    /// GET by http.
    Get {
        /// Host and port. Left out when empty.
        authority: &'a str,
        /// Target that is asked for.
        path: &'a str,
    },
    /// 200, or 404.
    Answer {
        /// True when it is 200.
        is_found: bool,
        /// Bytes of data. Left out when unknown.
        length: Option<u64>,
    },
}

impl Head<'_> {
    /// The block, of `size` bytes, or none if the fields need more.
    #[must_use]
    pub fn block(&self, size: u64) -> Option<Vec<u8>> {
        let mut block = Vec::new();
        let filler = match self {
            Self::Get { authority, path } => {
                block.extend([index::METHOD_GET, index::SCHEME_HTTP].map(indexed));
                literal(index::PATH, path.as_bytes(), &mut block);
                if !authority.is_empty() {
                    literal(index::AUTHORITY, authority.as_bytes(), &mut block);
                }
                index::USER_AGENT
            }
            Self::Answer { is_found, length } => {
                block.push(indexed(if *is_found { index::STATUS_200 } else { index::STATUS_404 }));
                if let Some(length) = length {
                    literal(index::CONTENT_LENGTH, length.to_string().as_bytes(), &mut block);
                }
                index::SERVER
            }
        };
        fill(usize::try_from(size).ok()?.checked_sub(block.len())?, filler, &mut block);
        Some(block)
    }
}

/// A block of `size` bytes that says nothing.
#[must_use]
pub fn empty_block(size: u64) -> Vec<u8> {
    vec![indexed(index::CACHE_CONTROL); size as usize]
}

/// Appends `size` bytes of fields: `name` with a value, and an empty Cache-Control for each byte that it cannot take.
fn fill(size: usize, name: u8, block: &mut Vec<u8>) {
    let end = block.len() + size;
    let values = (1..=3).filter_map(|length| size.checked_sub(NAME_BYTES + length));
    if let Some(value) = values.into_iter().find(|value| NAME_BYTES + integer_bytes(*value) + value <= size) {
        literal(name, &vec![b'x'; value], block);
    }
    block.resize(end, indexed(index::CACHE_CONTROL));
}

/// A field of the static table, name and value.
const fn indexed(index: u8) -> u8 {
    0x80 | index
}

/// Appends a field with a name of the static table and no entry in the dynamic one.
fn literal(name: u8, value: &[u8], block: &mut Vec<u8>) {
    integer(usize::from(name), 4, block);
    integer(value.len(), 7, block);
    block.extend(value);
}

/// Appends a number in a byte with `prefix` low bits free, and in further bytes where it needs them.
fn integer(number: usize, prefix: u32, block: &mut Vec<u8>) {
    let most = (1 << prefix) - 1;
    if number < most {
        return block.push(number as u8);
    }
    block.push(most as u8);
    let mut rest = number - most;
    while rest >= 0x80 {
        block.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    block.push(rest as u8);
}

/// Bytes of the length of a value.
fn integer_bytes(number: usize) -> usize {
    let mut bytes = Vec::new();
    integer(number, 7, &mut bytes);
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_examples() {
        // RFC 7541, appendix C.1.
        let encoded = |number, prefix| {
            let mut bytes = Vec::new();
            integer(number, prefix, &mut bytes);
            bytes
        };
        assert_eq!(encoded(10, 5), [10]);
        assert_eq!(encoded(1337, 5), [31, 154, 10]);
        assert_eq!(encoded(42, 8), [42]);
    }

    #[test]
    fn a_request_is_as_in_the_example() {
        // RFC 7541, appendix C.2.2 has the path. C.3.1 the indices of method and scheme.
        let get = Head::Get { authority: "", path: "/sample/path" };
        assert_eq!(get.block(16), Some(b"\x82\x86\x04\x0c/sample/path".to_vec()));
        assert_eq!(get.block(15), None);
    }

    #[test]
    fn a_block_has_its_size() {
        let get = Head::Get { authority: "h:8000", path: "/film" };
        let answer = Head::Answer { is_found: true, length: Some(1_000_000) };
        for (head, least) in [(get, 17), (answer, 11)] {
            assert_eq!(head.block(least - 1), None);
            for size in (least..700).chain([16_383, 16_384]) {
                let block = head.block(size).expect("there is room");
                assert_eq!(block.len() as u64, size);
            }
        }
    }

    #[test]
    fn what_is_left_over_is_filled() {
        let answer =
            |size| Head::Answer { is_found: false, length: None }.block(size).expect("there is room");
        assert_eq!(answer(1), [0x8d]);
        assert_eq!(answer(3), [0x8d, 0x98, 0x98]);
        assert_eq!(answer(4), [0x8d, 0x0f, 0x27, 0]);
        assert_eq!(answer(6), [0x8d, 0x0f, 0x27, 2, b'x', b'x']);
        // A length of 127 takes a second byte.
        assert_eq!((answer(130)[3], answer(130).ends_with(b"xx")), (126, true));
        assert_eq!((answer(131)[3], answer(131).ends_with(b"x\x98")), (126, true));
        assert_eq!((answer(132)[3..5].to_vec(), answer(132).ends_with(b"xx")), (vec![127, 0], true));
    }
}
