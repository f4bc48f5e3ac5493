//! Spaces, members, tokens and the audit, in the space of the engine. Callers check first who may call what.

mod retention;

use rethread_model::{Access, AccessScope, MemberName, Role, Space, Timestamp};
use rethread_store::{
    AuditEvent, AuditFilter, AuditRow, AuthorizedSpace, MemberError, MemberLimits, MemberRow, NewToken, ReadStore,
    SignInError, SignedIn, SpaceRow, Store, TokenProblem, TokenRow, TokenTerms,
};

use crate::{EngineError, MemberService};

pub use retention::RetentionReport;

const DAY_MILLIS: i64 = 86_400_000;
const MINUTE_MILLIS: u64 = 60_000;

/// A member to be added.
#[derive(Clone, Debug)]
pub struct NewMember {
    /// Its name.
    pub name: MemberName,
    /// What it may do at most.
    pub role: Role,
    /// How much it may request.
    pub limits: MemberLimits,
    /// What its first token may do, and how long.
    pub token: TokenRequest,
}

/// What a new token may do, and how long.
#[derive(Clone, Copy, Debug, Default)]
pub struct TokenRequest {
    /// `None` for all that the role allows; in a rotation, for what the old token may do.
    pub scope: Option<AccessScope>,
    /// `None` for no end; in a rotation, for the lifetime that the old token had.
    pub days: Option<u64>,
}

impl MemberService<'_> {
    /// Signs a member in by token, whatever the space of the engine is. The result opens engines in the member's space.
    pub fn sign_in(self, token: &str) -> Result<SignedIn, SignInError> {
        SignedIn::by_token(&self.engine.location(), token, self.engine.store_timeout, self.engine.now())
    }

    /// Whether a member that signed in before may still do the same: its token or its role may have changed.
    pub fn sign_in_again(self, signed_in: &SignedIn) -> Result<SignedIn, SignInError> {
        let store = self.engine.reader().map_err(|error| match error {
            EngineError::Store(error) => SignInError::Store(error),
            _ => SignInError::Rejected(TokenProblem::Unknown),
        })?;
        store.ok_or(SignInError::Rejected(TokenProblem::Unknown))?.sign_in_again(signed_in, self.engine.now())
    }

    /// Creates a space.
    pub fn create_space(self, space: Space) -> Result<(), EngineError> {
        self.engine.ensure_home()?;
        // The engine's own space may be another one.
        let mut store = Store::open(&self.engine.location(), AuthorizedSpace::operator(space))?;
        store.create_space(self.engine.now())?;
        store.append_audit(&[self.operator_event("space new".to_owned(), 1)])?;
        Ok(())
    }

    /// All spaces of the database, by name. For operators: never for a request.
    pub fn spaces(self) -> Result<Vec<SpaceRow>, EngineError> {
        let store = self.engine.reader()?;
        Ok(store.map(|store| store.all_spaces()).transpose()?.unwrap_or_default())
    }

    /// Adds a member, or gives a revoked one access again, and issues its first token, which is shown only once.
    pub fn add_member(self, new: &NewMember) -> Result<NewToken, EngineError> {
        let (now, terms) = (self.engine.now(), self.terms(new.token));
        Ok(self.engine.writer()?.add_member(&new.name, new.role, new.limits, terms, now)?)
    }

    /// All members by name, also revoked ones.
    pub fn list(self) -> Result<Vec<MemberRow>, EngineError> {
        Ok(self.space_to_read()?.map(|store| store.members()).transpose()?.unwrap_or_default())
    }

    /// Takes all access from a member. Returns how many of its tokens were valid. The last admin stays.
    pub fn revoke(self, name: &MemberName) -> Result<u64, EngineError> {
        Ok(self.space_with_member(name)?.revoke_member(name, self.engine.now())?)
    }

    /// Sets the limits of a member.
    pub fn set_limits(self, name: &MemberName, limits: MemberLimits) -> Result<(), EngineError> {
        Ok(self.space_with_member(name)?.set_member_limits(name, limits)?)
    }

    /// Issues a new token in place of all others of the member, which still work for some minutes.
    pub fn rotate(self, name: &MemberName, request: TokenRequest, grace_minutes: u64) -> Result<NewToken, EngineError> {
        let (now, terms) = (self.engine.now(), self.terms(request));
        let grace = grace_minutes.saturating_mul(MINUTE_MILLIS);
        Ok(self.space_with_member(name)?.rotate_tokens(name, terms, grace, now)?)
    }

    /// All tokens, also those that are no longer valid, by member and age.
    pub fn tokens(self) -> Result<Vec<TokenRow>, EngineError> {
        Ok(self.space_to_read()?.map(|store| store.tokens()).transpose()?.unwrap_or_default())
    }

    /// Revokes one token.
    pub fn revoke_token(self, id: &str) -> Result<(), EngineError> {
        let Some(mut store) = self.existing_space()? else {
            return Err(MemberError::UnknownToken(id.to_owned()).into());
        };
        Ok(store.revoke_token(id, self.engine.now())?)
    }

    /// Records when tokens were last used. Servers collect them and call this now and then.
    pub fn mark_tokens_used(self, used: &[(String, Timestamp)]) -> Result<(), EngineError> {
        Ok(self.engine.writer()?.mark_tokens_used(used)?)
    }

    /// Events of the audit, newest first.
    pub fn audit(self, filter: &AuditFilter) -> Result<Vec<AuditRow>, EngineError> {
        Ok(self.space_to_read()?.map(|store| store.audit(filter)).transpose()?.unwrap_or_default())
    }

    /// Adds events to the audit, all in one transaction. Servers collect them and call this now and then.
    pub fn append_audit(self, events: &[AuditEvent]) -> Result<(), EngineError> {
        Ok(self.engine.writer()?.append_audit(events)?)
    }

    /// Adds a command of the operator to the audit.
    pub fn record_command(self, command: String) -> Result<(), EngineError> {
        self.append_audit(&[self.operator_event(command, 1)])
    }

    fn operator_event(self, target: String, items: u64) -> AuditEvent {
        AuditEvent { at: self.engine.now(), member: None, access: Access::Admin, target, items, status: 200 }
    }

    fn terms(self, request: TokenRequest) -> TokenTerms {
        TokenTerms { scope: request.scope, expires_at: request.days.map(|days| self.days_from_now(days)) }
    }

    fn days_from_now(self, days: u64) -> Timestamp {
        let millis = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(DAY_MILLIS);
        Timestamp::from_millis(self.engine.now().as_millis().saturating_add(millis))
    }

    /// The store, if there is one; an error if it does not have the space.
    fn existing_space(self) -> Result<Option<Store>, EngineError> {
        let store = self.engine.existing_writer()?;
        self.check_space(store.as_deref())?;
        Ok(store)
    }

    /// The same for commands that only read.
    fn space_to_read(self) -> Result<Option<ReadStore>, EngineError> {
        let store = self.engine.reader()?;
        self.check_space(store.as_ref())?;
        Ok(store)
    }

    fn check_space(self, store: Option<&ReadStore>) -> Result<(), MemberError> {
        match store {
            Some(store) => store.require_space(),
            None if self.engine.space == AuthorizedSpace::local() => Ok(()),
            None => Err(MemberError::UnknownSpace(self.engine.space.space().clone())),
        }
    }

    fn space_with_member(self, name: &MemberName) -> Result<Store, EngineError> {
        self.existing_space()?.ok_or_else(|| MemberError::UnknownMember(name.clone()).into())
    }
}
