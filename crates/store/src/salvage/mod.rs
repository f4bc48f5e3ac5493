//! Sets a damaged or outdated store aside and carries over into a new one what can still be read.
//!
//! The store is often the only copy of what agents have deleted, so a broken page may cost no more than its own rows,
//! and the old file is kept.

mod carry_over;
mod pages;
mod tables;

use crate::StoreLocation;
use crate::sql::DriverErrorKind;
use crate::sql::schema;
use crate::sql::sqlite::error_kind;

pub use carry_over::{CarriedOver, RereadDecision};

impl StoreLocation {
    /// Whether the file proves to be damaged. A locked or unreadable one is not, and a server checks its own files.
    pub fn is_damaged(&self) -> bool {
        if self.is_on_server() {
            return false;
        }
        let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE | rusqlite::OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let check = || -> rusqlite::Result<bool> {
            let connection = rusqlite::Connection::open_with_flags(self.path(), flags)?;
            let found: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
            Ok(found == "ok" && schema::is_intact(&connection)?)
        };
        match check() {
            Ok(is_intact) => !is_intact,
            Err(cause) => error_kind(&cause) == DriverErrorKind::Corrupt,
        }
    }
}
