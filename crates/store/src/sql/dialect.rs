//! What has to differ between databases, in one place.

/// The SQL a database understands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    Sqlite,
    Postgres,
}

impl Dialect {
    /// After the name of a table: makes a query use an index. PostgreSQL chooses by its statistics.
    pub(crate) fn index(self, name: &str) -> String {
        match self {
            Self::Sqlite => format!("INDEXED BY {name}"),
            Self::Postgres => String::new(),
        }
    }

    /// An inner join that is done in the order in which it is written, where the database has syntax for it.
    pub(crate) const fn ordered_join(self) -> &'static str {
        match self {
            Self::Sqlite => "CROSS JOIN",
            Self::Postgres => "JOIN",
        }
    }

    /// An expression for random bytes, at most 32.
    pub(crate) fn random_bytes(self, count: u64) -> String {
        match self {
            Self::Sqlite => format!("randomblob({count})"),
            // Each UUID has 122 random bits; hashing two of them gives 32 bytes without a pattern.
            Self::Postgres => {
                format!(
                    "substr(sha256(CAST(CAST(gen_random_uuid() AS TEXT) || CAST(gen_random_uuid() AS TEXT) || CAST(gen_random_uuid() AS TEXT) AS BYTEA)), 1, {count})"
                )
            }
        }
    }

    /// The number of bytes of a text; null for null.
    pub(crate) fn byte_length(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("length(CAST({column} AS BLOB))"),
            Self::Postgres => format!("CAST(octet_length({column}) AS BIGINT)"),
        }
    }

    /// The clock of the database in milliseconds since 1970. Clocks of nodes differ, so leases are compared with this one.
    /// The same during a statement: Citus allows no volatile function in a change.
    pub(crate) const fn now_millis(self) -> &'static str {
        match self {
            Self::Sqlite => "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
            Self::Postgres => "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)",
        }
    }

    /// Whether a flag is set, in the words of the condition of an index.
    pub(crate) fn is_set(self, column: &str) -> String {
        match self {
            Self::Sqlite => format!("{column} = 1"),
            Self::Postgres => column.to_owned(),
        }
    }

    /// Whether a text contains another one.
    pub(crate) fn contains(self, text: &str, part: &str) -> String {
        match self {
            Self::Sqlite => format!("instr({text}, {part}) > 0"),
            Self::Postgres => format!("position({part} IN {text}) > 0"),
        }
    }
}
