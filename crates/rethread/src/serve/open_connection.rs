//! Whether a connection that stays open may still be used: its token may be rotated, revoked or expire meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rethread_engine::{SignInError, SignedIn};
use rethread_model::Access;

use super::member_limits::OpenConnection;
use super::{ApiError, RequestCaller, SharedState, require_access};

/// How long a member that was checked is trusted.
const TRUST: Duration = Duration::from_secs(5);

/// The caller of an open connection.
#[derive(Debug)]
pub(super) struct ConnectionOwner {
    caller: RequestCaller,
    /// Of the user of a single machine.
    token_hash: Option<[u8; 32]>,
    checked_at: Instant,
    /// Counts against the limit of a member.
    _open: Option<OpenConnection>,
}

impl ConnectionOwner {
    /// Fails if a member has too many open connections.
    pub(super) fn new(app: &SharedState, caller: RequestCaller) -> Result<Self, ApiError> {
        let signed_in = caller.signed_in();
        let open = signed_in.map(|signed_in| app.server.member_usage.open_connection(signed_in)).transpose()?;
        let token_hash = app.server.credentials.token_hash(&app.engine);
        Ok(Self { token_hash, caller, checked_at: Instant::now(), _open: open })
    }

    /// 403 unless the caller may write.
    pub(super) fn check_may_write(&self) -> Result<(), ApiError> {
        require_access(&self.caller, &[Access::Write])
    }

    /// The member; `None` for the user of a single machine.
    pub(super) fn signed_in(&self) -> Option<&Arc<SignedIn>> {
        self.caller.signed_in()
    }

    /// Whether the connection may still be used.
    pub(super) async fn is_valid(&mut self, app: &SharedState) -> bool {
        let Some(signed_in) = self.caller.signed_in() else {
            return app.server.credentials.token_hash(&app.engine) == self.token_hash;
        };
        if signed_in.expires_at.is_some_and(|end| app.engine.now() >= end) {
            return false;
        }
        if self.checked_at.elapsed() < TRUST {
            return true;
        }
        let (app, known) = (Arc::clone(app), Arc::clone(signed_in));
        let checked = tokio::task::spawn_blocking(move || app.engine.members().sign_in_again(&known)).await;
        match checked {
            Ok(Ok(signed_in)) => {
                self.caller = RequestCaller::Member(Arc::new(signed_in));
                self.checked_at = Instant::now();
                // The role may have been changed to one that does not read.
                self.caller.allows(Access::Read)
            }
            Ok(Err(SignInError::Rejected(_))) => false,
            // The database cannot say. It is asked again with the next event.
            Ok(Err(SignInError::Store(_))) | Err(_) => true,
        }
    }
}
