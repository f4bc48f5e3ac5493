//! Errors of the PostgreSQL driver, and what they mean for the store.

use postgres::error::SqlState;

use super::address::InvalidStoreUrl;
use crate::sql::DriverErrorKind;

/// An error of the driver.
#[derive(Debug, thiserror::Error)]
pub enum PostgresError {
    /// The server or the connection reported it.
    #[error("{}", describe(.0))]
    Client(#[from] postgres::Error),
    /// The address cannot be used.
    #[error(transparent)]
    Address(#[from] InvalidStoreUrl),
    /// All connections of the pool were in use for too long.
    #[error("all {0} connections are in use")]
    PoolExhausted(usize),
    /// A value has another type than the column should have.
    #[error("column {column:?} has an unexpected value")]
    UnexpectedValue {
        /// Name of the column.
        column: String,
    },
    /// The statement returned no row where there must be one.
    #[error("a row is missing")]
    MissingRow,
    /// The server has been unreachable for so long that callers do not wait for it any more.
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    /// Another server answers since the store was opened.
    #[error("another server has taken over since the store was opened")]
    FailedOver,
    /// The connection was lost during a commit, and it could not be found out whether it was stored.
    #[error("the connection was lost during a commit: it is unknown whether the change was stored")]
    UnknownOutcome,
}

/// The message of the server, which `postgres::Error` itself leaves to its source.
fn describe(error: &postgres::Error) -> String {
    match (error.as_db_error(), std::error::Error::source(error)) {
        (Some(reported), _) => format!("{} ({})", reported.message(), reported.code().code()),
        (None, Some(source)) => format!("{error}: {source}"),
        (None, None) => error.to_string(),
    }
}

impl PostgresError {
    /// What it means for the store.
    pub(crate) fn kind(&self) -> DriverErrorKind {
        match self {
            Self::Client(error) => client_error_kind(error),
            Self::Address(_) | Self::PoolExhausted(_) | Self::Unreachable(_) | Self::FailedOver => {
                DriverErrorKind::Unavailable
            }
            Self::UnexpectedValue { .. } => DriverErrorKind::UnexpectedValue,
            Self::MissingRow => DriverErrorKind::Other,
            Self::UnknownOutcome => DriverErrorKind::UnknownOutcome,
        }
    }

    /// Whether the server works, but has no free connection.
    pub(crate) fn is_server_full(&self) -> bool {
        matches!(self, Self::Client(error) if error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS))
    }

    /// Whether the same work may succeed on a new connection: nothing of it was stored.
    pub(crate) fn is_lost_connection(&self) -> bool {
        match self {
            Self::Client(error) => error.is_closed() || client_error_kind(error) == DriverErrorKind::Unavailable,
            _ => false,
        }
    }
}

fn client_error_kind(error: &postgres::Error) -> DriverErrorKind {
    let Some(code) = error.code() else {
        let is_ours = std::error::Error::source(error).is_some_and(|source| !source.is::<std::io::Error>());
        return if is_ours && !error.is_closed() && !is_connection_error(error) {
            DriverErrorKind::Other
        } else {
            DriverErrorKind::Unavailable
        };
    };
    code_kind(code)
}

fn code_kind(code: &SqlState) -> DriverErrorKind {
    if *code == SqlState::T_R_SERIALIZATION_FAILURE
        || *code == SqlState::T_R_DEADLOCK_DETECTED
        || *code == SqlState::LOCK_NOT_AVAILABLE
        || *code == SqlState::QUERY_CANCELED
    {
        return DriverErrorKind::Locked;
    }
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION || *code == SqlState::TOO_MANY_CONNECTIONS {
        return DriverErrorKind::Unavailable;
    }
    if *code == SqlState::DISK_FULL {
        return DriverErrorKind::Disk;
    }
    match code.code().get(..2).unwrap_or_default() {
        // Connection errors, a refused login, a missing database, a server that stops or starts.
        "08" | "28" | "3D" | "57" => DriverErrorKind::Unavailable,
        "58" => DriverErrorKind::Disk,
        "23" => DriverErrorKind::Constraint,
        "XX" => DriverErrorKind::Corrupt,
        // Also too little memory, and limits of the configuration.
        _ => DriverErrorKind::Other,
    }
}

/// Errors while connecting have no code, and a source that is not an IO error if TLS failed.
fn is_connection_error(error: &postgres::Error) -> bool {
    let text = error.to_string();
    text.starts_with("error connecting")
        || text.starts_with("error performing TLS")
        || text.starts_with("db error")
        || text.starts_with("connection closed")
        || text.starts_with("authentication")
        || text.starts_with("timeout")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_full_disk_is_a_fault_of_the_disk() {
        let kind = |code: &str| code_kind(&SqlState::from_code(code));
        assert_eq!(kind("53300"), DriverErrorKind::Unavailable, "too many connections");
        assert_eq!((kind("53100"), kind("58030")), (DriverErrorKind::Disk, DriverErrorKind::Disk));
        for code in ["53000", "53200", "53400"] {
            assert_eq!(kind(code), DriverErrorKind::Other, "{code}");
        }
        assert_eq!((kind("57P01"), kind("25006")), (DriverErrorKind::Unavailable, DriverErrorKind::Unavailable));
        assert_eq!((kind("40P01"), kind("57014")), (DriverErrorKind::Locked, DriverErrorKind::Locked));
    }
}
