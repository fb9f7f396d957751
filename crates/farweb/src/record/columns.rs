//! Columns, and the macro that makes a table's row type, its columns and its description from one list.

/// The values of one column.
#[derive(Debug, Clone)]
pub enum Column {
    /// Whole numbers. A null is [`NULL_INT`](crate::schema::NULL_INT).
    Int(Vec<i64>),
    /// Ids, from the whole range of 64 bits. A null is [`NULL_ID`](crate::schema::NULL_ID).
    Id(Vec<u64>),
    /// Real numbers. A null is NaN.
    Float(Vec<f64>),
    /// Truth values.
    Bool(Vec<bool>),
    /// Words, as numbers into a dictionary. A null is [`NULL_CODE`](crate::schema::NULL_CODE).
    Word(Vec<i32>, Dictionary),
    /// Lists of ranges of whole numbers.
    Ranges(Vec<Ranges>),
}

/// Nulls are equal, among real numbers too.
impl PartialEq for Column {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a == b,
            (Self::Id(a), Self::Id(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => {
                a.iter().map(|x| x.to_bits()).eq(b.iter().map(|x| x.to_bits()))
            }
            (Self::Bool(a), Self::Bool(b)) => a == b,
            (Self::Word(a, words), Self::Word(b, other)) => (a, words) == (b, other),
            (Self::Ranges(a), Self::Ranges(b)) => a == b,
            _ => false,
        }
    }
}

/// A short list of ranges, each from its first number to the one after its last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ranges {
    count: u8,
    bounds: [(i64, i64); Self::CAPACITY],
}

impl Ranges {
    /// Ranges that it holds at most: a TCP header has room for 4 SACK blocks (RFC 2018, section 3).
    pub const CAPACITY: usize = 4;

    /// The ranges, in their order.
    #[must_use]
    pub fn as_slice(&self) -> &[(i64, i64)] {
        &self.bounds[..usize::from(self.count)]
    }
}

/// # Panics
/// With more than [`Ranges::CAPACITY`] ranges.
impl FromIterator<(i64, i64)> for Ranges {
    fn from_iter<T: IntoIterator<Item = (i64, i64)>>(ranges: T) -> Self {
        let mut list = Self::default();
        for range in ranges {
            list.bounds[usize::from(list.count)] = range;
            list.count += 1;
        }
        list
    }
}

impl Column {
    /// True when it has no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Int(values) => values.is_empty(),
            Self::Id(values) => values.is_empty(),
            Self::Float(values) => values.is_empty(),
            Self::Bool(values) => values.is_empty(),
            Self::Word(codes, _) => codes.is_empty(),
            Self::Ranges(lists) => lists.is_empty(),
        }
    }
}

/// Dictionary with the words of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dictionary {
    /// These words.
    Fixed(&'static [&'static str]),
    /// Keys of hosts.
    Hosts,
    /// Words of the request column `source`.
    Sources,
    /// Words of the request column `tag`.
    Tags,
    /// Names of nodes.
    Nodes,
    /// TCP flags, by their bits.
    Flags,
}

/// Rows that wait for the columns. Chosen: enough for a look at a column to pay, and some 100 kB.
pub(super) const BLOCK: usize = 256;

/// Declares a table: `table! { REQUESTS "requests" "One row a request." RequestRow RequestColumns { name: kind "unit" "meaning", … } }`
/// with kinds `int`, `int?`, `id?`, `float`, `float?`, `bool`, `ranges`, `word(dictionary)`, `word?(dictionary)`.
macro_rules! table {
    ($spec:ident $name:literal $about:literal $row:ident $columns:ident {
        $($column:ident: [$($kind:tt)+] $unit:literal $description:literal,)+
    }) => {
        #[doc = $about]
        #[derive(Debug, Clone, Copy, PartialEq)]
        pub struct $row {
            $(#[doc = $description] pub $column: value_type!($($kind)+),)+
        }

        #[doc = concat!("Columns of the table `", $name, "`.")]
        #[derive(Debug, Clone, Default)]
        pub struct $columns {
            $($column: Vec<stored_type!($($kind)+)>,)+
            /// The last rows, which are not in the columns yet.
            rows: Vec<$row>,
        }

        impl $columns {
            /// Adds a row.
            #[inline]
            pub fn push(&mut self, row: $row) {
                if self.rows.len() == BLOCK {
                    self.store();
                }
                self.rows.push(row);
            }

            /// Puts the last rows into the columns, a column at a time.
            #[cold]
            fn store(&mut self) {
                $(self.$column.extend(self.rows.iter().map(|row| store!(row.$column; $($kind)+)));)+
                self.rows.clear();
            }

            /// The columns with their names, leaving none behind, but room for as many rows.
            pub fn take(&mut self) -> Vec<(&'static str, Column)> {
                self.store();
                vec![$({
                    let room = Vec::with_capacity(self.$column.len());
                    (stringify!($column), column!(std::mem::replace(&mut self.$column, room); $($kind)+))
                }),+]
            }
        }

        const $spec: TableSpec = TableSpec {
            name: $name,
            description: $about,
            columns: &[$(ColumnSpec {
                name: stringify!($column),
                kind: column_type!($($kind)+),
                unit: $unit,
                nullable: nullable!($($kind)+),
                description: $description,
            }),+],
        };
    };
}

macro_rules! value_type {
    (int) => { i64 };
    (int?) => { Option<i64> };
    (id?) => { Option<u64> };
    (float) => { f64 };
    (float?) => { Option<f64> };
    (bool) => { bool };
    (ranges) => { Ranges };
    (word $dictionary:expr) => { i32 };
    (word? $dictionary:expr) => { Option<i32> };
}

macro_rules! stored_type {
    (int $(?)?) => {
        i64
    };
    (id?) => {
        u64
    };
    (float $(?)?) => {
        f64
    };
    (bool) => {
        bool
    };
    (ranges) => {
        Ranges
    };
    (word $(?)? $dictionary:expr) => {
        i32
    };
}

macro_rules! store {
    ($value:expr; int?) => {
        $value.unwrap_or(NULL_INT)
    };
    ($value:expr; float?) => {
        $value.unwrap_or(f64::NAN)
    };
    ($value:expr; id?) => {
        $value.unwrap_or(NULL_ID)
    };
    ($value:expr; word? $dictionary:expr) => {
        $value.unwrap_or(NULL_CODE)
    };
    ($value:expr; $($kind:tt)+) => {
        $value
    };
}

macro_rules! column {
    ($values:expr; int $(?)?) => {
        Column::Int($values)
    };
    ($values:expr; id?) => {
        Column::Id($values)
    };
    ($values:expr; float $(?)?) => {
        Column::Float($values)
    };
    ($values:expr; bool) => {
        Column::Bool($values)
    };
    ($values:expr; ranges) => {
        Column::Ranges($values)
    };
    ($values:expr; word $(?)? $dictionary:expr) => {
        Column::Word($values, $dictionary)
    };
}

macro_rules! column_type {
    (int $(?)?) => {
        ColumnType::Int64
    };
    (id?) => {
        ColumnType::UInt64
    };
    (float $(?)?) => {
        ColumnType::Float64
    };
    (bool) => {
        ColumnType::Bool
    };
    (ranges) => {
        ColumnType::Ranges
    };
    (word $(?)? $dictionary:expr) => {
        ColumnType::String
    };
}

macro_rules! nullable {
    ($kind:ident ? $($rest:tt)*) => {
        true
    };
    ($($kind:tt)+) => {
        false
    };
}

pub(super) use {column, column_type, nullable, store, stored_type, table, value_type};
