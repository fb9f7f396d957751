//! Rows of results, turned into columns.
//!
//! [`tables`] is the one home of the results schema: name, type, unit and description of every column. Rows are pushed
//! one by one and taken away in batches: memory does not grow with the run. A recorder never changes a result.

mod columns;
mod flights;
mod summary;
mod tables;

pub use crate::schema::{NULL_CODE, NULL_ID, NULL_INT};
pub use columns::{Column, Dictionary, Ranges};
pub use flights::reached;
pub use summary::{Summary, Times};
pub use tables::{
    CacheColumns, CacheRow, ConnectionColumns, ConnectionRow, ExchangeColumns, ExchangeRow, Failure,
    FrameColumns, FrameKind, FrameProtocol, FrameRow, LegColumns, LegRow, LinkColumns, LinkRow,
    PacketColumns, PacketEvent, PacketRow, RequestColumns, RequestRow, Status, TABLES, VisitRequest,
};
