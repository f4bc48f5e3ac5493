//! What has to differ between databases, in one place.

/// The SQL a database understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
}

impl Dialect {
    /// After the name of a table: makes a query use an index.
    pub(crate) fn index(self, name: &str) -> String {
        match self {
            Self::Sqlite => format!("INDEXED BY {name}"),
        }
    }

    /// An inner join that is done in the order in which it is written.
    pub(crate) const fn ordered_join(self) -> &'static str {
        match self {
            Self::Sqlite => "CROSS JOIN",
        }
    }

    /// An expression for random bytes.
    pub(crate) fn random_bytes(self, count: u64) -> String {
        match self {
            Self::Sqlite => format!("randomblob({count})"),
        }
    }

    /// The number of bytes of a text; null for null.
    pub(crate) fn byte_length(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("length(CAST({column} AS BLOB))"),
        }
    }

    /// The clock of the database in milliseconds since 1970. Clocks of nodes differ, so leases are compared with this one.
    pub(crate) const fn now_millis(self) -> &'static str {
        match self {
            Self::Sqlite => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
        }
    }

    /// Whether a text contains another one.
    pub(crate) fn contains(self, text: &str, part: &str) -> String {
        match self {
            Self::Sqlite => format!("instr({text}, {part}) > 0"),
        }
    }
}
