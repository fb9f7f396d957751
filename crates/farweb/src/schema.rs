//! Descriptions of tables that farweb reads or writes: names, types, units and meanings of their columns.

/// A null in a column of whole numbers.
pub const NULL_INT: i64 = i64::MIN;

/// A null in a column of ids.
pub const NULL_ID: u64 = u64::MAX;

/// A null in a column of words, which are numbers into a dictionary.
pub const NULL_CODE: i32 = -1;

/// Type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnType {
    /// Signed, 64 bits.
    Int64,
    /// Unsigned, 64 bits.
    UInt64,
    /// IEEE 754, 64 bits.
    Float64,
    /// True or false.
    Bool,
    /// Text.
    String,
    /// List of ranges of [`Int64`](Self::Int64).
    Ranges,
}

/// Description of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ColumnSpec {
    /// Its name, with the unit last.
    pub name: &'static str,
    /// Its type.
    pub kind: ColumnType,
    /// Its unit. Empty for counts, numbers and words.
    pub unit: &'static str,
    /// True when values may be missing.
    pub nullable: bool,
    /// Its meaning.
    pub description: &'static str,
}

/// Description of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableSpec {
    /// Its name. A result's table has its file's.
    pub name: &'static str,
    /// Meaning of a row, and the order of rows.
    pub description: &'static str,
    /// Its columns.
    pub columns: &'static [ColumnSpec],
}

impl ColumnType {
    /// Name as Arrow and the JSON schema have it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Int64 => "int64",
            Self::UInt64 => "uint64",
            Self::Float64 => "float64",
            Self::Bool => "bool",
            Self::String => "string",
            Self::Ranges => "list<struct<start: int64, end: int64>>",
        }
    }
}

impl ColumnSpec {
    /// A column without missing values.
    pub(crate) const fn required(
        name: &'static str,
        kind: ColumnType,
        unit: &'static str,
        description: &'static str,
    ) -> Self {
        Self { name, kind, unit, nullable: false, description }
    }

    /// A column that may be left out, or have missing values.
    pub(crate) const fn optional(
        name: &'static str,
        kind: ColumnType,
        unit: &'static str,
        description: &'static str,
    ) -> Self {
        Self { name, kind, unit, nullable: true, description }
    }
}

impl TableSpec {
    /// Names of its columns, in their order.
    pub(crate) fn names(&self) -> Vec<&'static str> {
        self.columns.iter().map(|column| column.name).collect()
    }

    /// Number of columns that must be there. They come first.
    pub(crate) fn required(&self) -> usize {
        self.columns.iter().take_while(|column| !column.nullable).count()
    }
}

#[cfg(test)]
mod tests {
    use crate::record::TABLES;
    use crate::workload::WORKLOAD_TABLES;

    #[test]
    fn units_stand_last_in_column_names() {
        let suffixes = [("ns", "_ns"), ("s", "_s"), ("B", "_bytes")];
        for column in TABLES.iter().chain(&WORKLOAD_TABLES).flat_map(|table| table.columns) {
            for (unit, suffix) in suffixes {
                let named = column.name.contains(suffix) || column.name.starts_with("bytes");
                assert!(column.unit != unit || named, "{} is in {unit}", column.name);
            }
        }
    }

    #[test]
    fn columns_that_must_be_there_come_first() {
        for table in WORKLOAD_TABLES {
            let required = table.columns.iter().filter(|column| !column.nullable).count();
            assert_eq!(table.required(), required, "{}", table.name);
        }
    }
}
