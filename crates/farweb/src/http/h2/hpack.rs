//! Sizes of header blocks.
//!
//! Models HPACK by the savings of a table of fields: the first block for a host has one size, further ones another
//! while its fields are in the dynamic table. The table is a queue of bytes: newest fields push out the oldest, used or
//! not. Leaves out the fields themselves and Huffman's code. The sizes are parameters.
//!
//! Source: RFC 7541, sections 2.3.2 and 4.1 to 4.4.

use std::collections::VecDeque;

/// Sizes of the header blocks of requests, or of responses, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlockBytes {
    /// Bytes of the first one for a host.
    pub first: u64,
    /// Bytes of each further one.
    pub repeat: u64,
}

/// Size of a dynamic table, in bytes, where no setting says otherwise.
const TABLE_BYTES: u64 = 4096;

/// Bytes that an entry takes besides its name and value.
const ENTRY_BYTES: u64 = 32;

/// Fields that the first block for a host adds to the table. Chosen: its name, its path and two that go with them.
const FIELDS_OF_HOST: u64 = 4;

/// The dynamic table of one direction of a connection, by the hosts (`H`) with fields in it.
#[derive(Debug, Clone)]
pub struct Table<H> {
    blocks: BlockBytes,
    hosts: VecDeque<H>,
}

impl<H: Copy + Eq> Table<H> {
    /// An empty table.
    #[must_use]
    pub const fn new(blocks: BlockBytes) -> Self {
        Self { blocks, hosts: VecDeque::new() }
    }

    /// The size of the next block, which is for `host`.
    pub fn encode(&mut self, host: H) -> u64 {
        let BlockBytes { first, repeat } = self.blocks;
        if self.hosts.contains(&host) {
            return repeat;
        }
        let of_host = first.saturating_sub(repeat) + FIELDS_OF_HOST * ENTRY_BYTES;
        self.hosts.push_back(host);
        if self.hosts.len() as u64 * of_host > TABLE_BYTES {
            self.hosts.pop_front();
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_known_until_others_have_pushed_it_out() {
        // A host takes 80 + 128 B of the table: 19 of them have room.
        let mut table = Table::new(BlockBytes { first: 120, repeat: 40 });
        assert_eq!([table.encode(0), table.encode(0), table.encode(1)], [120, 40, 120]);
        for host in 2..19 {
            assert_eq!(table.encode(host), 120);
        }
        assert_eq!(table.encode(0), 40, "nineteen are in it");
        assert_eq!(table.encode(19), 120);
        assert_eq!(table.encode(0), 120, "that one was in it for longest, however often it was used");
    }
}
