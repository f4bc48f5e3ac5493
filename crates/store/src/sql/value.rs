//! The values of statements and rows, independent of the database.

use std::borrow::Cow;

use rethread_model::{Agent, NativeKey, Timestamp};

use crate::{SessionNumber, TranscriptNumber};

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Int,
    Bool,
    Text,
    Bytes,
    /// Of a null that was read, or has no column of a certain type.
    Unknown,
}

/// A value of a statement, borrowed from the caller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum SqlValue<'a> {
    /// PostgreSQL has to know the type of a null too.
    Null(ValueKind),
    Int(i64),
    Bool(bool),
    Text(&'a str),
    Bytes(&'a [u8]),
}

impl SqlValue<'_> {
    pub(crate) fn kind(self) -> ValueKind {
        match self {
            Self::Null(kind) => kind,
            Self::Int(_) => ValueKind::Int,
            Self::Bool(_) => ValueKind::Bool,
            Self::Text(_) => ValueKind::Text,
            Self::Bytes(_) => ValueKind::Bytes,
        }
    }
}

/// A value of a row whose columns are not known at compile time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OwnedValue {
    Null,
    Int(i64),
    Text(String),
    Bytes(Vec<u8>),
}

/// The text with a space for each NUL character, which PostgreSQL cannot store. The same in every database, so that all
/// answer the same; not left out, because control characters separate words.
pub(crate) fn text_without_nul(text: &str) -> Cow<'_, str> {
    if text.as_bytes().contains(&0) { text.replace('\0', " ").into() } else { text.into() }
}

/// A column with its value, for a row to be written.
pub(crate) type Column<'a> = (&'a str, SqlValue<'a>);

/// What can be a value of a statement.
pub(crate) trait AsValue {
    const KIND: ValueKind;

    fn as_value(&self) -> SqlValue<'_>;
}

/// The values of a statement, from `?2` on.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        &[$($crate::sql::AsValue::as_value(&$value)),*]
    };
}

/// Columns with their values.
macro_rules! columns {
    ($($name:ident: $value:expr),* $(,)?) => {
        &[$((stringify!($name), $crate::sql::AsValue::as_value(&$value))),*]
    };
}

pub(crate) use {columns, values};

macro_rules! as_int {
    ($($type:ty: $convert:expr),* $(,)?) => {
        $(impl AsValue for $type {
            const KIND: ValueKind = ValueKind::Int;

            fn as_value(&self) -> SqlValue<'_> {
                SqlValue::Int($convert(*self))
            }
        })*
    };
}

as_int! {
    i64: |number| number,
    i32: i64::from,
    u64: |number| number as i64,
    Timestamp: Timestamp::as_millis,
    NativeKey: NativeKey::as_stored,
    SessionNumber: |number: SessionNumber| number.0,
    TranscriptNumber: |number: TranscriptNumber| number.0,
}

impl AsValue for bool {
    const KIND: ValueKind = ValueKind::Bool;

    fn as_value(&self) -> SqlValue<'_> {
        SqlValue::Bool(*self)
    }
}

impl AsValue for str {
    const KIND: ValueKind = ValueKind::Text;

    fn as_value(&self) -> SqlValue<'_> {
        SqlValue::Text(self)
    }
}

impl AsValue for String {
    const KIND: ValueKind = ValueKind::Text;

    fn as_value(&self) -> SqlValue<'_> {
        SqlValue::Text(self)
    }
}

impl AsValue for Agent {
    const KIND: ValueKind = ValueKind::Text;

    fn as_value(&self) -> SqlValue<'_> {
        SqlValue::Text(self.as_str())
    }
}

impl AsValue for [u8] {
    const KIND: ValueKind = ValueKind::Bytes;

    fn as_value(&self) -> SqlValue<'_> {
        SqlValue::Bytes(self)
    }
}

impl AsValue for Vec<u8> {
    const KIND: ValueKind = ValueKind::Bytes;

    fn as_value(&self) -> SqlValue<'_> {
        SqlValue::Bytes(self)
    }
}

impl AsValue for OwnedValue {
    const KIND: ValueKind = ValueKind::Unknown;

    fn as_value(&self) -> SqlValue<'_> {
        match self {
            OwnedValue::Null => SqlValue::Null(ValueKind::Unknown),
            OwnedValue::Int(number) => SqlValue::Int(*number),
            OwnedValue::Text(text) => SqlValue::Text(text),
            OwnedValue::Bytes(bytes) => SqlValue::Bytes(bytes),
        }
    }
}

impl<T: AsValue + ?Sized> AsValue for &T {
    const KIND: ValueKind = T::KIND;

    fn as_value(&self) -> SqlValue<'_> {
        (**self).as_value()
    }
}

impl<T: AsValue> AsValue for Option<T> {
    const KIND: ValueKind = T::KIND;

    fn as_value(&self) -> SqlValue<'_> {
        self.as_ref().map_or(SqlValue::Null(T::KIND), AsValue::as_value)
    }
}
