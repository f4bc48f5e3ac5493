//! Values of statements and rows, as PostgreSQL sends them in binary.

use std::error::Error;

use postgres::types::private::BytesMut;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::sql::value::text_without_nul;
use crate::sql::{SqlValue, ValueKind};

/// The type under which a value is sent. The server infers an unknown one.
pub(super) fn type_of(value: SqlValue<'_>) -> Type {
    match value.kind() {
        ValueKind::Int => Type::INT8,
        ValueKind::Bool => Type::BOOL,
        ValueKind::Text => Type::TEXT,
        ValueKind::Bytes => Type::BYTEA,
        ValueKind::Unknown => Type::UNKNOWN,
    }
}

impl ToSql for SqlValue<'_> {
    fn to_sql(&self, kind: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match *self {
            SqlValue::Null(_) => return Ok(IsNull::Yes),
            // A flag that was read from another database.
            SqlValue::Int(number) if *kind == Type::BOOL => out.extend_from_slice(&[(number != 0).into()]),
            SqlValue::Int(number) => out.extend_from_slice(&number.to_be_bytes()),
            SqlValue::Bool(flag) => out.extend_from_slice(&[flag.into()]),
            SqlValue::Text(text) => out.extend_from_slice(text_without_nul(text).as_bytes()),
            SqlValue::Bytes(bytes) => out.extend_from_slice(bytes),
        }
        Ok(IsNull::No)
    }

    // The types are those of `type_of`, or of the columns of a table.
    fn accepts(_: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'r> FromSql<'r> for SqlValue<'r> {
    fn from_sql(kind: &Type, raw: &'r [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::INT8 => SqlValue::Int(i64::from_be_bytes(raw.try_into()?)),
            Type::INT4 => SqlValue::Int(i32::from_be_bytes(raw.try_into()?).into()),
            Type::BOOL => SqlValue::Int((raw != [0]).into()),
            Type::BYTEA => SqlValue::Bytes(raw),
            _ => SqlValue::Text(std::str::from_utf8(raw)?),
        })
    }

    fn from_sql_null(_: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(SqlValue::Null(ValueKind::Unknown))
    }

    fn accepts(kind: &Type) -> bool {
        matches!(*kind, Type::INT8 | Type::INT4 | Type::BOOL | Type::BYTEA | Type::TEXT | Type::VARCHAR | Type::NAME)
    }
}
