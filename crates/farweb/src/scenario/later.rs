//! Words of the scenario format that this version of farweb knows but does not have.

/// Carriers of the format.
const CARRIERS: &[&str] = &["http/3"];

/// What `word` at `path` will be in a later version, when it is part of the format.
pub(super) fn word(path: &str, word: &str) -> Option<&'static str> {
    (path.ends_with(".carrier.kind") && CARRIERS.contains(&word)).then_some("carrier")
}
