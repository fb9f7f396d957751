//! Host tables: a row for each origin server.
//!
//! [`HOSTS`] lists the columns. Without a header line the first four stand in their order. Window and MSS may
//! be empty. The scenario then has values for them. Further findings of a probe (`rtt_s`, `window_scale`,
//! `address`) may be there too and are ignored.
//!
//! Source: the `hostfile` of the NZ–US study ("Improving the performance of HTTP over high bandwidth-delay product
//! circuits", CNDS 2001), which has the same four.

use std::io::Cursor;
use std::path::Path;

use super::batch::Words;
use super::place::{self, Place, Position};
use super::text::{Layout, TextTable};
use super::{optional, quoted};
use crate::schema::{ColumnSpec, ColumnType as Type, NULL_INT, TableSpec};
use crate::workload::lines::Lines;
use crate::workload::{Directory, Host, WorkloadError};

const HOST: usize = 0;
const NAME: usize = 1;
const WINDOW: usize = 2;
const MSS: usize = 3;

pub(super) const HOSTS: TableSpec = TableSpec {
    name: "hosts",
    description: "The hosts of a workload: one row an origin server. Nullable columns may be left out.",
    columns: &[
        ColumnSpec::required("host", Type::String, "", "Key of the origin server, as in the request table."),
        ColumnSpec::optional("name", Type::String, "", "Its DNS name, for people."),
        ColumnSpec::optional(
            "window_bytes",
            Type::Int64,
            "B",
            "Largest window that it advertises, at least 32.",
        ),
        ColumnSpec::optional("mss_bytes", Type::Int64, "B", "Largest segment that it accepts, 32 to 65495."),
        ColumnSpec::optional(
            "rtt_s",
            Type::Float64,
            "s",
            "Least round-trip time to it that a capture shows; no run reads it.",
        ),
        ColumnSpec::optional(
            "window_scale",
            Type::Int64,
            "",
            "Shift of its windows in a capture; no run reads it.",
        ),
        ColumnSpec::optional("address", Type::String, "", "Its addresses in a capture; no run reads it."),
    ],
};

const LAYOUT: Layout = Layout {
    what: "host table",
    table: HOSTS,
    headless: 4,
    // A row may hold a host called "name", but then its sizes are numbers.
    is_header: |words| {
        words.iter().any(|word| HOSTS.names().contains(word))
            && words.iter().all(|word| word.parse::<f64>().is_err())
    },
};

/// Columns of a host table that were read elsewhere (Parquet). A null is code -1 or `i64::MIN`.
#[derive(Debug, Clone, Default)]
pub struct HostColumns {
    /// Ids of the hosts.
    pub host: Words,
    /// DNS names.
    pub name: Option<Words>,
    /// Largest windows, in bytes.
    pub window_bytes: Option<Vec<i64>>,
    /// Largest segments, in bytes.
    pub mss_bytes: Option<Vec<i64>>,
}

/// Reads the host table at `path`: .csv, .tsv, or separated by blanks, plain or gzip.
///
/// # Errors
/// When the file is no text, a row is not a host or a host is there twice: names file, line, column, the value found
/// and the values allowed.
pub fn open_hosts(path: &Path) -> Result<Directory, WorkloadError> {
    read(TextTable::open(path, &LAYOUT)?)
}

/// Reads a host table in memory, called `name` in messages.
///
/// # Errors
/// As [`open_hosts`].
pub fn hosts_of_bytes(name: String, bytes: Vec<u8>) -> Result<Directory, WorkloadError> {
    read(TextTable::new(Lines::new(name, Cursor::new(bytes))?, &LAYOUT)?)
}

fn read(mut table: TextTable) -> Result<Directory, WorkloadError> {
    let mut directory = Directory::default();
    while table.next_row()? {
        let buffer = optional(&table, WINDOW, place::buffer, place::WINDOW_ALLOWED)?;
        let mss = optional(&table, MSS, place::mss, place::MSS_ALLOWED)?;
        let name = table.get(NAME).unwrap_or_default();
        add(&mut directory, table.place(), table.get(HOST), name, buffer, mss)?;
    }
    Ok(directory)
}

/// Takes a host table that was read elsewhere. `name` is for messages, rows count from 1.
///
/// # Errors
/// As [`open_hosts`], and when the columns differ in length or a code has no word.
pub fn hosts_from_columns(columns: &HostColumns, name: &str) -> Result<Directory, WorkloadError> {
    let rows = columns.host.codes.len();
    columns.host.check(name, "host", rows)?;
    if let Some(names) = &columns.name {
        names.check(name, "name", rows)?;
    }
    for (column, values) in [("window_bytes", &columns.window_bytes), ("mss_bytes", &columns.mss_bytes)] {
        if let Some(values) = values {
            super::batch::check_length(name, column, values.len(), rows)?;
        }
    }
    let mut directory = Directory::default();
    for row in 0..rows {
        let place = Place { file: name, position: Position::Row(row as u64 + 1) };
        let number = |values: &Option<Vec<i64>>| values.as_ref().map(|v| v[row]).filter(|v| *v != NULL_INT);
        let buffer = number(&columns.window_bytes)
            .map(|found| {
                place::buffer(found).ok_or_else(|| place.wrong("window_bytes", found, place::WINDOW_ALLOWED))
            })
            .transpose()?;
        let mss = number(&columns.mss_bytes)
            .map(|found| place::mss(found).ok_or_else(|| place.wrong("mss_bytes", found, place::MSS_ALLOWED)))
            .transpose()?;
        let dns = columns.name.as_ref().and_then(|names| names.word(row)).unwrap_or_default();
        add(&mut directory, place, columns.host.word(row), dns, buffer, mss)?;
    }
    Ok(directory)
}

fn add(
    directory: &mut Directory,
    place: Place<'_>,
    key: Option<&str>,
    name: &str,
    buffer: Option<u64>,
    mss: Option<u16>,
) -> Result<(), WorkloadError> {
    let key = key.filter(|key| !key.is_empty());
    let key = key.ok_or_else(|| place.wrong("host", "nothing", "the id of a host"))?;
    if directory.find(key).is_some() {
        let found = format!("{} a second time", quoted(key.as_bytes()));
        return Err(place.wrong("host", found, "each host once"));
    }
    directory.add(Host { key: key.into(), name: name.into(), buffer, mss });
    Ok(())
}
