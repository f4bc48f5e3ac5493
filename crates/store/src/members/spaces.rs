//! The spaces of a database, and how long each keeps sessions.

use std::collections::BTreeSet;

use rethread_model::{Space, Timestamp};

use super::MemberError;
use crate::sql::{Row, columns, values};
use crate::{Batch, ReadStore, Store, StoreError};

/// A space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceRow {
    /// Its name.
    pub space: Space,
    /// When it was created.
    pub created_at: Timestamp,
    /// Sessions without activity for this many days are forgotten; `None` keeps them.
    pub retention_days: Option<u64>,
}

/// The one statement that is not about one space. Tests know it by the name in the comment. The parameter is only named
/// because every statement has it.
const ALL_SPACES: &str = "/* operator: all_spaces */
    SELECT space, created_at, retention_days FROM space WHERE ?1 = ?1 ORDER BY space";

impl ReadStore {
    /// All spaces of the database, by name, and not only that of this store. For operators: never for a request.
    pub fn all_spaces(&self) -> Result<Vec<SpaceRow>, StoreError> {
        self.sql.known(ALL_SPACES, &[], space_row)
    }

    /// The names of all spaces that anything was ever written to. For operators: never for a request.
    pub(crate) fn spaces_with_rows(&self) -> Result<Vec<Space>, StoreError> {
        let mut found = BTreeSet::new();
        // Every write transaction sets a counter, except those of threads.
        for table in ["counter", "space", "thread"] {
            let sql = format!("SELECT DISTINCT space FROM {table} WHERE space = ?1 OR space <> ?1");
            found.extend(self.sql.known(&sql, &[], |row| row.parsed("space"))?);
        }
        Ok(found.into_iter().collect())
    }

    /// The space of this store. `None` if it was not created.
    pub fn space_row(&self) -> Result<Option<SpaceRow>, StoreError> {
        let sql = "SELECT space, created_at, retention_days FROM space WHERE space = ?1";
        Ok(self.sql.one(sql, &[], space_row)?.flatten())
    }

    /// The space of this store, which must have been created. That of a single machine needs no row.
    pub fn require_space(&self) -> Result<(), MemberError> {
        if self.sql.space() == Space::local().as_str() || self.space_row()?.is_some() {
            return Ok(());
        }
        Err(MemberError::UnknownSpace(self.own_space()))
    }

    /// Sessions without activity for this many days are forgotten; `None` keeps them.
    pub fn retention_days(&self) -> Result<Option<u64>, StoreError> {
        Ok(self.space_row()?.and_then(|space| space.retention_days))
    }

    pub(super) fn own_space(&self) -> Space {
        self.sql.owner().clone()
    }
}

impl Store {
    /// Creates the space of this store.
    pub fn create_space(&mut self, now: Timestamp) -> Result<(), MemberError> {
        let space = self.own_space();
        let batch = self.begin()?;
        if !batch.add_space(now)? {
            return Err(MemberError::SpaceExists(space));
        }
        Ok(batch.commit()?)
    }

    /// Sets after how many days without activity sessions are forgotten; `None` keeps them.
    pub fn set_retention_days(&mut self, days: Option<u64>, now: Timestamp) -> Result<(), MemberError> {
        let batch = self.begin()?;
        batch.require_space()?;
        batch.add_space(now)?;
        batch.sql.run("UPDATE space SET retention_days = ?2 WHERE space = ?1", values![days])?;
        Ok(batch.commit()?)
    }
}

impl Batch<'_> {
    /// Adds the row of the space unless there is one. Returns whether it was added.
    pub(super) fn add_space(&self, now: Timestamp) -> Result<bool, StoreError> {
        self.insert_new("space", columns! { created_at: now })
    }
}

fn space_row(row: &Row<'_>) -> Result<Option<SpaceRow>, StoreError> {
    let Some(space) = row.parsed("space")? else { return Ok(None) };
    Ok(Some(SpaceRow { space, created_at: row.time("created_at")?, retention_days: row.opt_u64("retention_days")? }))
}
