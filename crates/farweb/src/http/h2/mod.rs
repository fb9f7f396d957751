//! HTTP/2: many messages on one connection, with credits of their own.
//!
//! Models the frames, settings and windows of RFC 9113, the order of sending, the times of grants, and the sizes of
//! header blocks. All of it is sans-IO: an [`Endpoint`](endpoint::Endpoint) is one end of a connection, and says which
//! frame leaves next. Leaves out pushes, the dependency tree of RFC 7540, and the text of header blocks.
//! `docs/models/http2.md` has the whole model.
//!
//! Source: RFC 9113; RFC 9218; RFC 7541.

pub mod endpoint;
pub mod fields;
pub mod frame;
pub mod hpack;
pub mod preset;
#[cfg(test)]
mod rate;
pub mod receiver;
pub mod sender;
pub mod settings;
pub mod tuning;
pub mod wire;
