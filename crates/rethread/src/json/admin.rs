//! JSON of `rethread admin`.

use rethread_engine::{AuditRow, CitusTable, MemberRow, NewToken, SpaceRow, TablePlacement, TokenRow};
use rethread_model::{Access, AccessScope, MemberName, Space, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::schema::TimestampJson;

/// All spaces.
#[derive(Serialize)]
pub(crate) struct SpaceListJson<'a> {
    schema: u8,
    spaces: Vec<SpaceJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SpaceJson<'a> {
    name: &'a Space,
    created_at: Timestamp,
    /// Null keeps sessions.
    retention_days: Option<u64>,
}

/// The members of a space.
#[derive(Serialize, JsonSchema)]
pub(crate) struct MemberListJson<'a> {
    schema: u8,
    members: Vec<MemberJson<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MemberJson<'a> {
    #[schemars(with = "String")]
    name: &'a MemberName,
    role: &'static str,
    #[schemars(with = "TimestampJson")]
    created_at: Timestamp,
    #[schemars(with = "Option<TimestampJson>")]
    revoked_at: Option<Timestamp>,
    requests_per_minute: Option<u64>,
    max_body_bytes: Option<u64>,
    max_bytes_per_day: Option<u64>,
}

/// The tokens of a space.
#[derive(Serialize, JsonSchema)]
pub(crate) struct TokenListJson<'a> {
    schema: u8,
    tokens: Vec<TokenJson<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct TokenJson<'a> {
    id: &'a str,
    #[schemars(with = "String")]
    member: &'a MemberName,
    scope: Vec<&'static str>,
    is_valid: bool,
    #[schemars(with = "TimestampJson")]
    created_at: Timestamp,
    #[schemars(with = "Option<TimestampJson>")]
    expires_at: Option<Timestamp>,
    #[schemars(with = "Option<TimestampJson>")]
    revoked_at: Option<Timestamp>,
    #[schemars(with = "Option<TimestampJson>")]
    last_used_at: Option<Timestamp>,
}

/// A token that was just issued.
#[derive(Serialize, JsonSchema)]
pub(crate) struct NewTokenJson<'a> {
    schema: u8,
    /// The token itself. It cannot be shown again.
    token: String,
    #[serde(flatten)]
    row: TokenJson<'a>,
}

/// Events of the audit, newest first.
#[derive(Serialize, JsonSchema)]
pub(crate) struct AuditJson<'a> {
    schema: u8,
    events: Vec<AuditEventJson<'a>>,
}

#[derive(Serialize, JsonSchema)]
struct AuditEventJson<'a> {
    number: u64,
    #[schemars(with = "TimestampJson")]
    at: Timestamp,
    /// Null for admin commands and maintenance.
    #[schemars(with = "Option<String>")]
    member: Option<&'a MemberName>,
    access: &'static str,
    target: &'a str,
    items: u64,
    status: u16,
}

/// How long sessions are kept.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RetentionJson {
    schema: u8,
    /// Null keeps sessions.
    retention_days: Option<u64>,
}

/// How Citus stores the tables.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DistributeJson<'a> {
    schema: u8,
    dry_run: bool,
    tables: Vec<CitusTableJson<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CitusTableJson<'a> {
    name: &'a str,
    /// `bySpace` or `onEveryNode`.
    placement: &'static str,
    /// Whether it was stored like that before.
    was_placed: bool,
    sql: &'a str,
}

/// What a command changed.
#[derive(Serialize)]
pub(crate) struct AdminResultJson<'a> {
    schema: u8,
    /// `created` or `revoked`.
    result: &'static str,
    name: &'a str,
}

impl<'a> SpaceListJson<'a> {
    pub(crate) fn new(spaces: &'a [SpaceRow]) -> Self {
        let space = |row: &'a SpaceRow| SpaceJson {
            name: &row.space,
            created_at: row.created_at,
            retention_days: row.retention_days,
        };
        Self { schema: SCHEMA, spaces: spaces.iter().map(space).collect() }
    }
}

impl<'a> MemberListJson<'a> {
    pub(crate) fn new(members: &'a [MemberRow]) -> Self {
        let member = |row: &'a MemberRow| MemberJson {
            name: &row.name,
            role: row.role.as_str(),
            created_at: row.created_at,
            revoked_at: row.revoked_at,
            requests_per_minute: row.limits.requests_per_minute,
            max_body_bytes: row.limits.max_body_bytes,
            max_bytes_per_day: row.limits.max_bytes_per_day,
        };
        Self { schema: SCHEMA, members: members.iter().map(member).collect() }
    }
}

impl<'a> TokenListJson<'a> {
    pub(crate) fn new(tokens: &'a [TokenRow], now: Timestamp) -> Self {
        Self { schema: SCHEMA, tokens: tokens.iter().map(|row| token(row, now)).collect() }
    }
}

impl<'a> NewTokenJson<'a> {
    pub(crate) fn new(new: &'a NewToken) -> Self {
        Self { schema: SCHEMA, token: new.text.reveal(), row: token(&new.row, new.row.created_at) }
    }
}

impl<'a> AuditJson<'a> {
    pub(crate) fn new(rows: &'a [AuditRow]) -> Self {
        let event = |row: &'a AuditRow| AuditEventJson {
            number: row.number,
            at: row.event.at,
            member: row.event.member.as_ref(),
            access: row.event.access.as_str(),
            target: &row.event.target,
            items: row.event.items,
            status: row.event.status,
        };
        Self { schema: SCHEMA, events: rows.iter().map(event).collect() }
    }
}

impl RetentionJson {
    pub(crate) fn new(retention_days: Option<u64>) -> Self {
        Self { schema: SCHEMA, retention_days }
    }
}

impl<'a> DistributeJson<'a> {
    pub(crate) fn new(dry_run: bool, tables: &'a [CitusTable]) -> Self {
        let table = |table: &'a CitusTable| CitusTableJson {
            name: &table.name,
            placement: match table.placement {
                TablePlacement::BySpace => "bySpace",
                TablePlacement::OnEveryNode => "onEveryNode",
            },
            was_placed: table.was_placed,
            sql: &table.sql,
        };
        Self { schema: SCHEMA, dry_run, tables: tables.iter().map(table).collect() }
    }
}

impl<'a> AdminResultJson<'a> {
    pub(crate) fn new(result: &'static str, name: &'a str) -> Self {
        Self { schema: SCHEMA, result, name }
    }
}

fn token(row: &TokenRow, now: Timestamp) -> TokenJson<'_> {
    TokenJson {
        id: &row.id,
        member: &row.member,
        scope: access_names(row.scope),
        is_valid: row.is_valid(now),
        created_at: row.created_at,
        expires_at: row.expires_at,
        revoked_at: row.revoked_at,
        last_used_at: row.last_used_at,
    }
}

fn access_names(scope: AccessScope) -> Vec<&'static str> {
    scope.accesses().map(Access::as_str).collect()
}
