//! Rows with named columns.

use std::cell::{Cell, RefCell};
use std::str::FromStr;

use rethread_model::{NativeKey, Timestamp};

use super::driver::DriverRow;
use super::{OwnedValue, Sql, SqlValue};
use crate::{SessionNumber, StoreError};

/// Where the columns of a statement are, in the order in which they are read. Rows are read in the same order, so that
/// a name is usually found at once.
#[derive(Default)]
pub(super) struct ColumnPositions {
    known: RefCell<Vec<(&'static str, usize)>>,
}

/// One row of a result. A value of another type than asked for means that the store is damaged: all tables are strict.
pub(crate) struct Row<'r> {
    sql: &'r Sql,
    driver: DriverRow<'r>,
    columns: &'r ColumnPositions,
    next: Cell<usize>,
}

impl<'r> Row<'r> {
    pub(super) fn new(sql: &'r Sql, row: DriverRow<'r>, columns: &'r ColumnPositions) -> Self {
        Self { sql, driver: row, columns, next: Cell::new(0) }
    }

    pub(crate) fn opt_text(&self, name: &'static str) -> Result<Option<&'r str>, StoreError> {
        self.text_at(self.position(name)?)
    }

    pub(crate) fn opt_int(&self, name: &'static str) -> Result<Option<i64>, StoreError> {
        self.int_at(self.position(name)?)
    }

    pub(crate) fn bytes(&self, name: &'static str) -> Result<&'r [u8], StoreError> {
        let at = self.position(name)?;
        match self.value(at)? {
            SqlValue::Bytes(bytes) => Ok(bytes),
            _ => Err(self.unexpected(at)),
        }
    }

    pub(crate) fn text(&self, name: &'static str) -> Result<&'r str, StoreError> {
        let text = self.opt_text(name)?;
        text.map_or_else(|| Err(self.unexpected(self.position(name)?)), Ok)
    }

    pub(crate) fn int(&self, name: &'static str) -> Result<i64, StoreError> {
        let number = self.opt_int(name)?;
        number.map_or_else(|| Err(self.unexpected(self.position(name)?)), Ok)
    }

    pub(crate) fn string(&self, name: &'static str) -> Result<String, StoreError> {
        self.text(name).map(str::to_owned)
    }

    pub(crate) fn opt_string(&self, name: &'static str) -> Result<Option<String>, StoreError> {
        Ok(self.opt_text(name)?.map(str::to_owned))
    }

    /// None for a text that only a newer version of the program knows.
    pub(crate) fn parsed<T: FromStr>(&self, name: &'static str) -> Result<Option<T>, StoreError> {
        Ok(self.text(name)?.parse().ok())
    }

    pub(crate) fn u64(&self, name: &'static str) -> Result<u64, StoreError> {
        self.int(name).map(|number| number as u64)
    }

    pub(crate) fn opt_u64(&self, name: &'static str) -> Result<Option<u64>, StoreError> {
        Ok(self.opt_int(name)?.map(|number| number as u64))
    }

    pub(crate) fn flag(&self, name: &'static str) -> Result<bool, StoreError> {
        self.int(name).map(|number| number != 0)
    }

    pub(crate) fn time(&self, name: &'static str) -> Result<Timestamp, StoreError> {
        self.int(name).map(Timestamp::from_millis)
    }

    pub(crate) fn opt_time(&self, name: &'static str) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.opt_int(name)?.map(Timestamp::from_millis))
    }

    pub(crate) fn key(&self, name: &'static str) -> Result<NativeKey, StoreError> {
        self.int(name).map(NativeKey::from_stored)
    }

    pub(crate) fn opt_key(&self, name: &'static str) -> Result<Option<NativeKey>, StoreError> {
        Ok(self.opt_int(name)?.map(NativeKey::from_stored))
    }

    pub(crate) fn session(&self, name: &'static str) -> Result<SessionNumber, StoreError> {
        self.int(name).map(SessionNumber)
    }

    /// The value at a position, where names are not known at compile time.
    pub(crate) fn owned(&self, at: usize) -> Result<OwnedValue, StoreError> {
        Ok(match self.value(at)? {
            SqlValue::Null(_) => OwnedValue::Null,
            SqlValue::Int(number) => OwnedValue::Int(number),
            SqlValue::Bool(flag) => OwnedValue::Int(flag.into()),
            SqlValue::Text(text) => OwnedValue::Text(text.to_owned()),
            SqlValue::Bytes(bytes) => OwnedValue::Bytes(bytes.to_vec()),
        })
    }

    /// The text at a position; `None` for null.
    pub(crate) fn text_at(&self, at: usize) -> Result<Option<&'r str>, StoreError> {
        match self.value(at)? {
            SqlValue::Null(_) => Ok(None),
            SqlValue::Text(text) => Ok(Some(text)),
            _ => Err(self.unexpected(at)),
        }
    }

    /// The number at a position; `None` for null.
    pub(crate) fn int_at(&self, at: usize) -> Result<Option<i64>, StoreError> {
        match self.value(at)? {
            SqlValue::Null(_) => Ok(None),
            SqlValue::Int(number) => Ok(Some(number)),
            _ => Err(self.unexpected(at)),
        }
    }

    /// The value at a position, borrowed from the row.
    pub(crate) fn value(&self, at: usize) -> Result<SqlValue<'r>, StoreError> {
        self.driver.value(at).map_err(|cause| self.sql.error(cause))
    }

    fn unexpected(&self, at: usize) -> StoreError {
        self.sql.error(self.driver.unexpected_value(at))
    }

    fn position(&self, name: &'static str) -> Result<usize, StoreError> {
        let mut known = self.columns.known.borrow_mut();
        let next = self.next.get();
        let is_same = |(other, _): &(&'static str, usize)| std::ptr::eq(*other, name);
        let found = if known.get(next).is_some_and(is_same) { Some(next) } else { known.iter().position(is_same) };
        let found = if let Some(found) = found {
            found
        } else {
            let at = self.driver.position(name).map_err(|cause| self.sql.error(cause))?;
            known.push((name, at));
            known.len() - 1
        };
        self.next.set(found + 1);
        Ok(known[found].1)
    }
}
