//! The members of a space: added, listed, limited, revoked.

use rethread_model::{MemberName, Role, Timestamp};

use super::MemberError;
use crate::sql::{Row, columns, values};
use crate::{Batch, ReadStore, Store, StoreError};

/// A member of a space.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberRow {
    /// Its name.
    pub name: MemberName,
    /// What it may do at most.
    pub role: Role,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it lost access; `None` while it has it.
    pub revoked_at: Option<Timestamp>,
    /// How much it may request.
    pub limits: MemberLimits,
}

/// Limits of one member. `None` means the limit that the server has for everyone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemberLimits {
    /// Requests in any minute.
    pub requests_per_minute: Option<u64>,
    /// Bytes of one request's body.
    pub max_body_bytes: Option<u64>,
    /// Bytes of all request bodies in one UTC day.
    pub max_bytes_per_day: Option<u64>,
}

const MEMBER_COLUMNS: &str =
    "name, role, created_at, revoked_at, requests_per_minute, max_body_bytes, max_bytes_per_day";

impl ReadStore {
    /// All members by name, also revoked ones.
    pub fn members(&self) -> Result<Vec<MemberRow>, StoreError> {
        let sql = format!("SELECT {MEMBER_COLUMNS} FROM member WHERE space = ?1 ORDER BY name");
        self.sql.known(&sql, &[], member_row)
    }

    /// The member of that name, even if it was revoked.
    pub fn member(&self, name: &MemberName) -> Result<Option<MemberRow>, StoreError> {
        let sql = format!("SELECT {MEMBER_COLUMNS} FROM member WHERE space = ?1 AND name = ?2");
        Ok(self.sql.one(&sql, values![name.as_str()], member_row)?.flatten())
    }

    pub(super) fn active_member(&self, name: &MemberName) -> Result<MemberRow, MemberError> {
        let found = self.member(name)?.filter(|member| member.revoked_at.is_none());
        found.ok_or_else(|| MemberError::UnknownMember(name.clone()))
    }
}

impl Store {
    /// Sets the limits of a member.
    pub fn set_member_limits(&mut self, name: &MemberName, limits: MemberLimits) -> Result<(), MemberError> {
        let batch = self.begin()?;
        batch.active_member(name)?;
        batch.sql.run(
            "UPDATE member SET requests_per_minute = ?3, max_body_bytes = ?4, max_bytes_per_day = ?5
             WHERE space = ?1 AND name = ?2",
            values![name.as_str(), limits.requests_per_minute, limits.max_body_bytes, limits.max_bytes_per_day],
        )?;
        Ok(batch.commit()?)
    }

    /// Takes all access from a member: revokes it and its tokens. Returns how many tokens were valid. The last admin
    /// stays.
    pub fn revoke_member(&mut self, name: &MemberName, now: Timestamp) -> Result<u64, MemberError> {
        let batch = self.begin()?;
        if batch.active_member(name)?.role == Role::Admin && !batch.has_other_admin(name)? {
            return Err(MemberError::LastAdmin(name.clone()));
        }
        let sql = "UPDATE member SET revoked_at = ?3 WHERE space = ?1 AND name = ?2";
        batch.sql.run(sql, values![name.as_str(), now])?;
        let tokens = batch.end_tokens(name, now, now)?;
        batch.commit()?;
        Ok(tokens)
    }
}

impl Batch<'_> {
    /// Adds a member, or gives a revoked one access again. Its old tokens stay revoked.
    pub(super) fn add_member_row(
        &self,
        name: &MemberName,
        role: Role,
        limits: MemberLimits,
        now: Timestamp,
    ) -> Result<(), MemberError> {
        if self.member(name)?.is_some_and(|member| member.revoked_at.is_none()) {
            return Err(MemberError::MemberExists(name.clone()));
        }
        self.upsert(
            "member",
            columns! { name: name.as_str() },
            columns! {
                role: role.as_str(),
                created_at: now,
                revoked_at: None::<Timestamp>,
                requests_per_minute: limits.requests_per_minute,
                max_body_bytes: limits.max_body_bytes,
                max_bytes_per_day: limits.max_bytes_per_day,
            },
        )?;
        Ok(())
    }

    fn has_other_admin(&self, name: &MemberName) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM member WHERE space = ?1 AND name <> ?2 AND role = ?3 AND revoked_at IS NULL";
        self.sql.exists(sql, values![name.as_str(), Role::Admin.as_str()])
    }
}

/// None for a role that only a newer version knows: such a member cannot sign in here.
fn member_row(row: &Row<'_>) -> Result<Option<MemberRow>, StoreError> {
    let (Some(name), Some(role)) = (row.parsed("name")?, row.parsed("role")?) else { return Ok(None) };
    Ok(Some(MemberRow {
        name,
        role,
        created_at: row.time("created_at")?,
        revoked_at: row.opt_time("revoked_at")?,
        limits: MemberLimits {
            requests_per_minute: row.opt_u64("requests_per_minute")?,
            max_body_bytes: row.opt_u64("max_body_bytes")?,
            max_bytes_per_day: row.opt_u64("max_bytes_per_day")?,
        },
    }))
}
