//! Connections to the database, opened when needed and kept for the next use.

use std::sync::{Mutex, PoisonError};

use crate::sql::Sql;
use crate::threads::ThreadError;
use crate::{AuthorizedSpace, ReadStore, Store, StoreError, StoreLocation};

/// The schema that brought threads. A reader does not migrate an older store; it has no threads.
const FIRST_SCHEMA: i64 = 17;
/// Connections of each kind that are kept open.
const MAX_IDLE: usize = 4;

/// A connection that failed is closed, so that the next call connects again.
#[derive(Debug)]
pub(super) struct Connections {
    location: StoreLocation,
    space: AuthorizedSpace,
    writers: Mutex<Vec<Store>>,
    readers: Mutex<Vec<ReadStore>>,
}

impl Connections {
    pub(super) fn new(location: StoreLocation, space: AuthorizedSpace) -> Self {
        Self { location, space, writers: Mutex::default(), readers: Mutex::default() }
    }

    pub(super) fn write<T>(&self, action: impl FnOnce(&Sql) -> Result<T, ThreadError>) -> Result<T, ThreadError> {
        let store = match take(&self.writers) {
            Some(store) => {
                // Another node may have migrated the database since.
                store.sql.migrate()?;
                store
            }
            None => Store::open(&self.location, self.space.clone())?,
        };
        let result = action(&store.sql);
        give_back(&self.writers, store, &result);
        result
    }

    /// Runs `action` in a transaction, which is undone if it fails.
    pub(super) fn transaction<T>(&self, action: impl FnOnce(&Sql) -> Result<T, ThreadError>) -> Result<T, ThreadError> {
        self.write(|sql| in_transaction(sql, action))
    }

    /// Reads without creating or changing the store. `None` if there is none.
    pub(super) fn read<T>(
        &self,
        action: impl FnOnce(&Sql) -> Result<T, ThreadError>,
    ) -> Result<Option<T>, ThreadError> {
        let store = match take(&self.readers) {
            Some(store) => {
                store.sql.is_set_up()?;
                store
            }
            None => match ReadStore::open(&self.location, &self.space, None)? {
                Some(store) if store.sql.schema_version()? >= FIRST_SCHEMA => store,
                _ => return Ok(None),
            },
        };
        let result = action(&store.sql);
        give_back(&self.readers, store, &result);
        result.map(Some)
    }
}

/// Runs `action` in a transaction, which is undone if it fails.
pub(super) fn in_transaction<T>(
    sql: &Sql,
    action: impl FnOnce(&Sql) -> Result<T, ThreadError>,
) -> Result<T, ThreadError> {
    let transaction = sql.begin_unordered()?;
    let result = action(sql)?;
    transaction.commit().map_err(|cause| sql.error(cause))?;
    Ok(result)
}

/// Whether the same request may succeed on a new connection. Then it is also unknown whether a commit took effect.
pub(super) fn may_succeed_later(error: &ThreadError) -> bool {
    let ThreadError::Database { cause } = error else { return false };
    matches!(**cause, StoreError::Disk { .. } | StoreError::Create { .. } | StoreError::Unavailable { .. })
}

fn take<S>(idle: &Mutex<Vec<S>>) -> Option<S> {
    idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
}

fn give_back<S, T>(idle: &Mutex<Vec<S>>, store: S, result: &Result<T, ThreadError>) {
    let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.len() < MAX_IDLE && !matches!(result, Err(ThreadError::Database { .. })) {
        idle.push(store);
    }
}
