//! Hosts and words of a workload, as small numbers.

use rustc_hash::FxHashMap;

use super::Request;
use crate::define_ids;
use crate::id::IdVec;

define_ids! {
    /// An origin server, by its place in the [`Directory`].
    pub HostId,
    /// A word of a column, by its place in a [`SymbolTable`].
    pub Symbol,
}

/// An origin server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Its id in the request table.
    pub key: Box<str>,
    /// Its DNS name, for people. Empty when unknown.
    pub name: Box<str>,
    /// Receive buffer in bytes: the largest window that it advertises.
    pub buffer: Option<u64>,
    /// Largest segment that it accepts, in bytes.
    pub mss: Option<u16>,
}

/// The hosts of a workload, the host table's first, and the words of its columns.
#[derive(Debug, Clone, Default)]
pub struct Directory {
    hosts: IdVec<HostId, Host>,
    by_key: FxHashMap<Box<str>, HostId>,
    /// Words of the column `source`.
    pub sources: SymbolTable,
    /// Words of the column `tag`.
    pub tags: SymbolTable,
}

/// Words in the order of their first appearance.
#[derive(Debug, Clone, Default)]
pub struct SymbolTable {
    words: IdVec<Symbol, Box<str>>,
    by_word: FxHashMap<Box<str>, Symbol>,
}

impl Directory {
    /// Adds `host`. Its key must be new.
    pub fn add(&mut self, host: Host) -> HostId {
        let key = host.key.clone();
        let id = self.hosts.push(host);
        let before = self.by_key.insert(key, id);
        assert!(before.is_none(), "a host is added once");
        id
    }

    /// The host with this key, added without MSS and window when it is new.
    pub fn host(&mut self, key: &str) -> HostId {
        match self.by_key.get(key) {
            Some(id) => *id,
            None => self.add(Host { key: key.into(), name: "".into(), buffer: None, mss: None }),
        }
    }

    /// The host with this key, if there is one.
    #[must_use]
    pub fn find(&self, key: &str) -> Option<HostId> {
        self.by_key.get(key).copied()
    }

    /// `request`, with its ids in `names` translated to ids here.
    pub(super) fn adopt(&mut self, request: Request, names: &Self) -> Request {
        Request {
            host: self.host(&names.hosts[request.host].key),
            source: request.source.map(|word| self.sources.symbol(&names.sources.words[word])),
            tag: request.tag.map(|word| self.tags.symbol(&names.tags.words[word])),
            ..request
        }
    }

    /// All hosts.
    #[must_use]
    pub const fn hosts(&self) -> &IdVec<HostId, Host> {
        &self.hosts
    }
}

impl SymbolTable {
    /// The number of `word`, which is added when it is new.
    pub fn symbol(&mut self, word: &str) -> Symbol {
        match self.by_word.get(word) {
            Some(symbol) => *symbol,
            None => {
                let symbol = self.words.push(word.into());
                self.by_word.insert(word.into(), symbol);
                symbol
            }
        }
    }

    /// The number of `word`, if it has one.
    #[must_use]
    pub fn find(&self, word: &str) -> Option<Symbol> {
        self.by_word.get(word).copied()
    }

    /// All words, by number.
    #[must_use]
    pub const fn words(&self) -> &IdVec<Symbol, Box<str>> {
        &self.words
    }
}
