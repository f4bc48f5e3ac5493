//! Whether a connection that stays open may still be used: its token may be rotated, revoked or expire meanwhile.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rethread_engine::SignInError;
use rethread_model::Access;

use super::{RequestCaller, SharedState};

/// How long a member that was checked is trusted.
const TRUST: Duration = Duration::from_secs(5);

/// The caller of an open connection.
#[derive(Debug)]
pub(super) struct ConnectionOwner {
    caller: RequestCaller,
    /// Of the user of a single machine.
    token_hash: Option<[u8; 32]>,
    checked_at: Instant,
}

impl ConnectionOwner {
    pub(super) fn new(app: &SharedState, caller: RequestCaller) -> Self {
        Self { token_hash: app.server.credentials.token_hash(&app.engine), caller, checked_at: Instant::now() }
    }

    pub(super) fn may_write(&self) -> bool {
        self.caller.allows(Access::Write)
    }

    /// Whether the connection may still be used.
    pub(super) async fn is_valid(&mut self, app: &SharedState) -> bool {
        let Some(signed_in) = self.caller.signed_in() else {
            return app.server.credentials.token_hash(&app.engine) == self.token_hash;
        };
        if self.checked_at.elapsed() < TRUST {
            return true;
        }
        let (app, known) = (Arc::clone(app), Arc::clone(signed_in));
        let checked = tokio::task::spawn_blocking(move || app.engine.members().sign_in_again(&known)).await;
        match checked {
            Ok(Ok(signed_in)) => {
                self.caller = RequestCaller::Member(Arc::new(signed_in));
                self.checked_at = Instant::now();
                true
            }
            Ok(Err(SignInError::Rejected(_))) => false,
            // The database cannot say. It is asked again with the next event.
            Ok(Err(SignInError::Store(_))) | Err(_) => true,
        }
    }
}
