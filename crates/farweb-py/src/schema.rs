//! Schemas of tables, for Python.

use farweb::record::TABLES;
use farweb::schema::{ColumnSpec, TableSpec};
use farweb::workload::WORKLOAD_TABLES;
use pyo3::prelude::*;
use serde_json::{Value, json};

/// The tables of a results folder and their columns, as JSON text.
#[pyfunction]
pub(crate) fn results_schema() -> String {
    described(&TABLES).to_string()
}

/// The tables of a workload and their columns, as JSON text.
#[pyfunction]
pub(crate) fn workload_schema() -> String {
    described(&WORKLOAD_TABLES).to_string()
}

fn described(tables: &[TableSpec]) -> Value {
    let column = |column: &ColumnSpec| {
        json!({
            "name": column.name,
            "type": column.kind.name(),
            "unit": column.unit,
            "nullable": column.nullable,
            "description": column.description,
        })
    };
    let table = |table: &TableSpec| {
        json!({
            "name": table.name,
            "description": table.description,
            "columns": table.columns.iter().map(column).collect::<Vec<_>>(),
        })
    };
    tables.iter().map(table).collect()
}
