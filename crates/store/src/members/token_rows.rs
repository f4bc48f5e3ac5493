//! The tokens of members: issued, rotated, revoked, listed. Only hashes are stored.

use rethread_model::{AccessScope, MemberName, Role, Timestamp};

use super::{MemberError, MemberLimits, MemberRow, TokenText};
use crate::sql::{Row, columns, values};
use crate::{Batch, ReadStore, Store, StoreError};

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenRow {
    /// Names it in lists and logs.
    pub id: String,
    /// Whose it is.
    pub member: MemberName,
    /// What it may do.
    pub scope: AccessScope,
    /// When it was issued.
    pub created_at: Timestamp,
    /// When it stops to work; `None` for never.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked.
    pub revoked_at: Option<Timestamp>,
    /// About when it was last used.
    pub last_used_at: Option<Timestamp>,
}

/// A token that was just issued. Its text cannot be read again.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// The token with its secret.
    pub text: TokenText,
    /// What is stored of it.
    pub row: TokenRow,
}

/// What a new token may do, and for how long.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenTerms {
    /// `None` for all that the role allows; in a rotation, for what the old token may do.
    pub scope: Option<AccessScope>,
    /// `None` for no end; in a rotation, for the lifetime that the old token had.
    pub expires_at: Option<Timestamp>,
}

const TOKEN_COLUMNS: &str = "id, member, scope, created_at, expires_at, revoked_at, last_used_at";

impl TokenRow {
    /// Whether it can be used to sign in.
    pub fn is_valid(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|end| now < end)
    }
}

impl ReadStore {
    /// All tokens, also those that are no longer valid, by member and age.
    pub fn tokens(&self) -> Result<Vec<TokenRow>, StoreError> {
        let sql = format!("SELECT {TOKEN_COLUMNS} FROM token WHERE space = ?1 ORDER BY member, created_at, id");
        self.sql.known(&sql, &[], token_row)
    }

    fn newest_valid_token(&self, member: &MemberName, now: Timestamp) -> Result<Option<TokenRow>, StoreError> {
        let sql = format!("SELECT {TOKEN_COLUMNS} FROM token WHERE space = ?1 AND member = ?2 ORDER BY created_at, id");
        let tokens = self.sql.known(&sql, values![member.as_str()], token_row)?;
        Ok(tokens.into_iter().rev().find(|token| token.is_valid(now)))
    }

    /// The token with that id and its hash.
    pub(super) fn token_with_hash(&self, id: &str) -> Result<Option<(TokenRow, Vec<u8>)>, StoreError> {
        let sql = format!("SELECT {TOKEN_COLUMNS}, hash FROM token WHERE space = ?1 AND id = ?2");
        let found = self.sql.one(&sql, values![id], |row| {
            let hash = row.bytes("hash")?.to_vec();
            Ok(token_row(row)?.map(|token| (token, hash)))
        })?;
        Ok(found.flatten())
    }
}

impl Store {
    /// Adds a member, or gives a revoked one access again, and issues its first token.
    pub fn add_member(
        &mut self,
        name: &MemberName,
        role: Role,
        limits: MemberLimits,
        terms: TokenTerms,
        now: Timestamp,
    ) -> Result<NewToken, MemberError> {
        let batch = self.begin()?;
        batch.require_space()?;
        batch.add_space(now)?;
        batch.add_member_row(name, role, limits, now)?;
        let token = batch.issue_token(&batch.active_member(name)?, terms, now)?;
        batch.commit()?;
        Ok(token)
    }

    /// Issues a new token in place of all others of the member, which still work for `grace_millis`.
    pub fn rotate_tokens(
        &mut self,
        name: &MemberName,
        terms: TokenTerms,
        grace_millis: u64,
        now: Timestamp,
    ) -> Result<NewToken, MemberError> {
        let batch = self.begin()?;
        let member = batch.active_member(name)?;
        let old = batch.newest_valid_token(name, now)?;
        let scope = old.as_ref().and_then(|old| old.scope.intersection(member.role.scope()));
        let lifetime = old.as_ref().and_then(|old| old.expires_at.map(|end| end.millis_since(old.created_at)));
        let terms = TokenTerms {
            scope: terms.scope.or(scope),
            expires_at: terms.expires_at.or_else(|| lifetime.map(|lifetime| later(now, lifetime))),
        };
        batch.end_tokens(name, now, later(now, i64::try_from(grace_millis).unwrap_or(i64::MAX)))?;
        let token = batch.issue_token(&member, terms, now)?;
        batch.commit()?;
        Ok(token)
    }

    /// Revokes one token.
    pub fn revoke_token(&mut self, id: &str, now: Timestamp) -> Result<(), MemberError> {
        let batch = self.begin()?;
        let sql = "UPDATE token SET revoked_at = ?3 WHERE space = ?1 AND id = ?2 AND revoked_at IS NULL";
        if batch.sql.change(sql, values![id, now])? == 0 {
            return Err(MemberError::UnknownToken(id.to_owned()));
        }
        Ok(batch.commit()?)
    }

    /// Records when tokens were last used, in one transaction. An earlier time than the stored one is ignored.
    pub fn mark_tokens_used(&mut self, used: &[(String, Timestamp)]) -> Result<(), StoreError> {
        let batch = self.begin_unflushed()?;
        for (id, at) in used {
            let sql = "UPDATE token SET last_used_at = ?3 WHERE space = ?1 AND id = ?2
                 AND (last_used_at IS NULL OR last_used_at < ?3)";
            batch.sql.run(sql, values![id, at])?;
        }
        batch.commit()
    }
}

impl Batch<'_> {
    fn issue_token(&self, member: &MemberRow, terms: TokenTerms, now: Timestamp) -> Result<NewToken, MemberError> {
        let scope = terms.scope.unwrap_or_else(|| member.role.scope());
        if !member.role.scope().includes(scope) {
            return Err(MemberError::ScopeExceedsRole { scope, role: member.role });
        }
        let text = TokenText::generate(self.own_space()).map_err(MemberError::Random)?;
        let row = TokenRow {
            id: text.id().to_owned(),
            member: member.name.clone(),
            scope,
            created_at: now,
            expires_at: terms.expires_at,
            revoked_at: None,
            last_used_at: None,
        };
        self.insert(
            "token",
            columns! {
                id: row.id,
                hash: text.hash(),
                member: row.member.as_str(),
                scope: scope.to_string(),
                created_at: now,
                expires_at: row.expires_at,
            },
        )?;
        Ok(NewToken { text, row })
    }

    /// Ends all valid tokens of a member: at once, or at a later time unless they expire before. Returns how many.
    pub(super) fn end_tokens(&self, member: &MemberName, now: Timestamp, end: Timestamp) -> Result<u64, StoreError> {
        let valid =
            "WHERE space = ?1 AND member = ?2 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?3)";
        if end <= now {
            let sql = format!("UPDATE token SET revoked_at = ?3 {valid}");
            return self.sql.change(&sql, values![member.as_str(), now]);
        }
        let sql =
            format!("UPDATE token SET expires_at = CASE WHEN expires_at < ?4 THEN expires_at ELSE ?4 END {valid}");
        self.sql.change(&sql, values![member.as_str(), now, end])
    }
}

/// None for a scope that only a newer version knows: such a token cannot be used here.
fn token_row(row: &Row<'_>) -> Result<Option<TokenRow>, StoreError> {
    let (Some(member), Some(scope)) = (row.parsed("member")?, row.parsed("scope")?) else { return Ok(None) };
    Ok(Some(TokenRow {
        id: row.string("id")?,
        member,
        scope,
        created_at: row.time("created_at")?,
        expires_at: row.opt_time("expires_at")?,
        revoked_at: row.opt_time("revoked_at")?,
        last_used_at: row.opt_time("last_used_at")?,
    }))
}

fn later(at: Timestamp, millis: i64) -> Timestamp {
    Timestamp::from_millis(at.as_millis().saturating_add(millis))
}
