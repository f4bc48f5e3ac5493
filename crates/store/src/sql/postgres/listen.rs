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

#[derive(Default)]
struct KnownCommit {
    /// The last answer, or a later notification, and when the database was asked.
    number: Option<(i64, Instant)>,
    /// The largest number of the last notifications, and when the last one came.
    notified: Option<(i64, Instant)>,
}

impl KnownChanges {
    /// The last commit number of a space, if the listener runs and the database was asked within a second.
    pub(super) fn get(&self, space: &str) -> Option<i64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_listening {
            return None;
        }
        let Some(known) = state.spaces.get(space) else {
            // From now on notifications are noted: one may come before the answer of the database.
            state.spaces.insert(space.to_owned(), KnownCommit::default());
            return None;
        };
        known.number.filter(|(_, asked_at)| asked_at.elapsed() < POLL).map(|(number, _)| number)
    }

    /// Stores what the database answered to a question of that time. The answer may be older than a notification that
    /// came since, or than the answer to a later question. Otherwise it counts, also if it is lower than what was known:
    /// after a fail-over, or for a space that was made again.
    pub(super) fn set(&self, space: &str, number: i64, asked_at: Instant) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.is_listening {
            return;
        }
        let known = state.spaces.entry(space.to_owned()).or_default();
        if known.number.is_some_and(|(_, later)| later > asked_at) {
            return;
        }
        let notified = known.notified.filter(|(_, at)| *at >= asked_at).map(|(number, _)| number);
        known.number = Some((notified.map_or(number, |notified| notified.max(number)), asked_at));
    }

    fn notify(&self, payload: &str) {
        let Some((space, Ok(number))) = payload.rsplit_once(' ').map(|(space, number)| (space, number.parse::<i64>()))
        else {
            return;
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(known) = state.spaces.get_mut(space) else { return };
        // Two commits may be announced in the wrong order.
        let before = known.notified.filter(|(_, at)| at.elapsed() < POLL).map(|(number, _)| number);
        known.notified = Some((before.map_or(number, |before| before.max(number)), Instant::now()));
        if let Some((known, _)) = &mut known.number {
            *known = number.max(*known);
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

    /// Stores the commit number that the database answered to a question of that time.
    pub(crate) fn note_commit(&self, space: &str, number: i64, asked_at: Instant) {
        self.changes.set(space, number, asked_at);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn listening() -> KnownChanges {
        let changes = KnownChanges::default();
        changes.set_listening(true);
        assert_eq!(changes.get("acme"), None, "the database must be asked");
        changes
    }

    #[test]
    fn an_answer_does_not_hide_a_notification_that_came_meanwhile() {
        let changes = listening();
        let asked_at = Instant::now();
        changes.notify("acme 8");
        changes.notify("acme 7");
        changes.set("acme", 6, asked_at);
        assert_eq!(changes.get("acme"), Some(8));
        changes.notify("acme 9");
        changes.notify("other 30");
        assert_eq!((changes.get("acme"), changes.get("other")), (Some(9), None));
    }

    #[test]
    fn an_answer_does_not_hide_that_of_a_later_question() {
        let changes = listening();
        let asked_at = Instant::now();
        std::thread::sleep(Duration::from_millis(2));
        changes.set("acme", 6, Instant::now());
        changes.set("acme", 5, asked_at);
        assert_eq!(changes.get("acme"), Some(6));
    }

    #[test]
    fn a_lower_answer_counts_after_a_fail_over() {
        let changes = listening();
        changes.notify("acme 9");
        changes.set("acme", 9, Instant::now());
        std::thread::sleep(Duration::from_millis(2));
        changes.set("acme", 4, Instant::now());
        assert_eq!(changes.get("acme"), Some(4));
        changes.set_listening(false);
        changes.set("acme", 5, Instant::now());
        assert_eq!(changes.get("acme"), None);
    }
}
