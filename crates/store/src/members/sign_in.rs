//! Signs a member in by token. The only way from a request to a store of a shared space.

use std::time::Duration;

use rethread_model::{Access, AccessScope, MemberName, Role, Timestamp};

use super::{AuthorizedSpace, MemberLimits, TokenRow, TokenText};
use crate::{ReadStore, StoreError, StoreLocation};

/// Who signed in, and what that allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedIn {
    /// The member.
    pub member: MemberName,
    /// Its role.
    pub role: Role,
    /// What the token and the role both allow.
    pub scope: AccessScope,
    /// How much the member may request.
    pub limits: MemberLimits,
    /// The id of the token, for [`crate::Store::mark_tokens_used`].
    pub token_id: String,
    /// Until when this holds, unless it is revoked before.
    pub expires_at: Option<Timestamp>,
    /// Opens stores in the member's space.
    pub space: AuthorizedSpace,
}

/// Why a sign-in failed.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// The token is not valid. The answer does not say why: that would help only those who guess tokens.
    #[error("missing or invalid token")]
    Rejected(TokenProblem),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a token was rejected, for logs of the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenProblem {
    /// Not written like a token.
    Malformed,
    /// No such token, or another secret.
    Unknown,
    /// It has expired.
    Expired,
    /// The token or its member was revoked.
    Revoked,
}

impl SignedIn {
    /// Whether a request may be made.
    pub fn allows(&self, access: Access) -> bool {
        self.scope.contains(access)
    }

    /// Signs in by the text of a token. Waits at most `timeout` for the database.
    pub fn by_token(
        location: &StoreLocation,
        token: &str,
        timeout: Option<Duration>,
        now: Timestamp,
    ) -> Result<Self, SignInError> {
        let token = TokenText::parse(token).map_err(|_| SignInError::Rejected(TokenProblem::Malformed))?;
        // The name in the token is only a claim until its secret is checked, and nothing but its hash is read before.
        let claimed = AuthorizedSpace::operator(token.space().clone());
        let store = ReadStore::open(location, &claimed, timeout)?;
        store.ok_or(SignInError::Rejected(TokenProblem::Unknown))?.sign_in(&token, now)
    }
}

impl ReadStore {
    /// Signs in with a store that is open in the space that the token names.
    pub fn sign_in(&self, token: &TokenText, now: Timestamp) -> Result<SignedIn, SignInError> {
        if *token.space() != self.own_space() {
            return rejected(TokenProblem::Unknown);
        }
        let found = self.token_with_hash(token.id())?.filter(|(_, hash)| token.matches(hash));
        let Some((row, _)) = found else { return rejected(TokenProblem::Unknown) };
        self.admit(row, now)
    }

    /// Signs in again, by a token that was checked before.
    pub fn sign_in_again(&self, signed_in: &SignedIn, now: Timestamp) -> Result<SignedIn, SignInError> {
        match self.token_with_hash(&signed_in.token_id)? {
            Some((row, _)) => self.admit(row, now),
            None => rejected(TokenProblem::Unknown),
        }
    }

    /// What the owner of a token may do now.
    fn admit(&self, row: TokenRow, now: Timestamp) -> Result<SignedIn, SignInError> {
        let Some(member) = self.member(&row.member)? else { return rejected(TokenProblem::Unknown) };
        if row.revoked_at.is_some() || member.revoked_at.is_some() {
            return rejected(TokenProblem::Revoked);
        }
        if !row.is_valid(now) {
            return rejected(TokenProblem::Expired);
        }
        // A role may have been lowered since the token was issued.
        let Some(scope) = row.scope.intersection(member.role.scope()) else { return rejected(TokenProblem::Revoked) };
        Ok(SignedIn {
            member: member.name,
            role: member.role,
            scope,
            limits: member.limits,
            token_id: row.id,
            expires_at: row.expires_at,
            space: AuthorizedSpace::operator(self.own_space()),
        })
    }
}

fn rejected(problem: TokenProblem) -> Result<SignedIn, SignInError> {
    Err(SignInError::Rejected(problem))
}
