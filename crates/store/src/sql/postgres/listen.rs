//! Learns what other nodes commit: by notifications, and by asking once a second in case one was missed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::{Duration, Instant};

use postgres::fallible_iterator::FallibleIterator;

use super::error::PostgresError;
use super::pool::Server;

/// Channel of the notifications; the payload is a space and its commit number.
pub(super) const CHANNEL: &str = "rethread_commit";
/// How long a commit number is trusted without asking.
const POLL: Duration = Duration::from_secs(1);
/// Pause after a lost connection.
const RETRY: Duration = Duration::from_secs(1);

/// The last commit number of each space, as far as a listener knows.
#[derive(Default)]
pub(super) struct KnownChanges {
    state: Mutex<ListenerState>,
}

#[derive(Default)]
struct ListenerState {
    is_listening: bool,
    spaces: HashMap<String, KnownCommit>,
}

struct KnownCommit {
    number: i64,
    asked_at: Instant,
}

impl KnownChanges {
    /// The last commit number of a space, if the listener runs and the database was asked within a second.
    pub(super) fn get(&self, space: &str) -> Option<i64> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let known = state.spaces.get(space).filter(|known| state.is_listening && known.asked_at.elapsed() < POLL);
        known.map(|known| known.number)
    }

    /// Stores what the database answered.
    pub(super) fn set(&self, space: &str, number: i64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_listening {
            return;
        }
        let known = KnownCommit { number, asked_at: Instant::now() };
        state.spaces.insert(space.to_owned(), known);
    }

    fn notify(&self, payload: &str) {
        let Some((space, Ok(number))) = payload.rsplit_once(' ').map(|(space, number)| (space, number.parse::<i64>()))
        else {
            return;
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = state.spaces.get_mut(space) {
            known.number = known.number.max(number);
        }
    }

    fn set_listening(&self, is_listening: bool) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.is_listening = is_listening;
        // Without a listener, anything may have been committed.
        state.spaces.clear();
    }
}

impl Server {
    /// The last commit number of a space, if a listener knows it.
    pub(crate) fn known_commit(&self, space: &str) -> Option<i64> {
        self.changes.get(space)
    }

    /// Stores the commit number that the database answered.
    pub(crate) fn note_commit(&self, space: &str, number: i64) {
        self.changes.set(space, number);
    }

    /// Starts a thread that follows notifications until the server value is dropped.
    pub(crate) fn start_listening(self: &Arc<Self>) {
        let server = Arc::downgrade(self);
        std::thread::spawn(move || {
            while let Some(strong) = server.upgrade() {
                // A failed listener only costs speed: everything is asked for once a second then.
                let connected = strong.connect();
                drop(strong);
                if let Ok(client) = connected {
                    let _ = listen(&server, client.client);
                }
                std::thread::sleep(RETRY);
            }
        });
    }
}

fn listen(server: &Weak<Server>, mut client: postgres::Client) -> Result<(), PostgresError> {
    client.batch_execute(&format!("LISTEN {CHANNEL}"))?;
    if let Some(server) = server.upgrade() {
        server.changes.set_listening(true);
    }
    let result = follow(server, &mut client);
    if let Some(server) = server.upgrade() {
        server.changes.set_listening(false);
    }
    result
}

fn follow(server: &Weak<Server>, client: &mut postgres::Client) -> Result<(), PostgresError> {
    loop {
        let mut notifications = client.notifications();
        let next = notifications.timeout_iter(POLL).next()?;
        let Some(server) = server.upgrade() else { return Ok(()) };
        if let Some(notification) = next {
            server.changes.notify(notification.payload());
        } else {
            drop(notifications);
            // Notices a connection that died silently.
            client.simple_query("")?;
        }
    }
}
