//! Limits what one member may request of this server: requests in a minute, bytes in a day, and open connections.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::StatusCode;
use rethread_engine::SignedIn;
use rethread_model::{MemberName, Space, Timestamp};

use super::ApiError;
use crate::failure::FailureKind;

/// Requests of a member in a minute, unless the member has a limit of its own.
const REQUESTS_PER_MINUTE: u64 = 1_200;
/// Event streams and `WebSockets` that a member may have open at the same time.
const MAX_CONNECTIONS: usize = 16;
const MINUTE_MILLIS: i64 = 60_000;
const DAY_MILLIS: i64 = 86_400_000;
/// Members that are remembered; beyond that, those without requests in this minute are dropped.
const MAX_MEMBERS: usize = 100_000;

type MemberKey = (Space, MemberName);

/// How much each member requested in the current minute and day, and its open connections.
#[derive(Debug, Default)]
pub(crate) struct MemberUsage {
    used: Mutex<HashMap<MemberKey, UsedAmount>>,
    /// Has only members with an open connection.
    connections: Arc<Mutex<HashMap<MemberKey, usize>>>,
}

/// Counts as an open connection of a member until it is dropped.
#[derive(Debug)]
pub(super) struct OpenConnection {
    member: MemberKey,
    connections: Arc<Mutex<HashMap<MemberKey, usize>>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct UsedAmount {
    minute: i64,
    requests: u64,
    day: i64,
    bytes: u64,
}

impl MemberUsage {
    /// Counts a request, or refuses it.
    pub(super) fn count_request(&self, signed_in: &SignedIn, now: Timestamp) -> Result<(), ApiError> {
        let limit = signed_in.limits.requests_per_minute.unwrap_or(REQUESTS_PER_MINUTE);
        self.with(signed_in, now, |used| {
            if used.requests >= limit {
                return Err(exceeded(format!("more than {limit} requests in a minute")));
            }
            used.requests += 1;
            Ok(())
        })
    }

    /// Counts the bytes of a body, or refuses it.
    pub(super) fn count_bytes(&self, signed_in: &SignedIn, bytes: u64, now: Timestamp) -> Result<(), ApiError> {
        let Some(limit) = signed_in.limits.max_bytes_per_day else { return Ok(()) };
        self.with(signed_in, now, |used| {
            if used.bytes.saturating_add(bytes) > limit {
                return Err(exceeded(format!("more than {limit} bytes in a day")));
            }
            used.bytes += bytes;
            Ok(())
        })
    }

    /// Counts an open connection, or refuses it.
    pub(super) fn open_connection(&self, signed_in: &SignedIn) -> Result<OpenConnection, ApiError> {
        let member = key_of(signed_in);
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        let count = connections.entry(member.clone()).or_default();
        if *count >= MAX_CONNECTIONS {
            let message = format!("more than {MAX_CONNECTIONS} open event streams and WebSockets");
            let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, FailureKind::QueueFull, message);
            return Err(error.hint("close one and try again"));
        }
        *count += 1;
        Ok(OpenConnection { member, connections: Arc::clone(&self.connections) })
    }

    fn with<T>(&self, signed_in: &SignedIn, now: Timestamp, count: impl FnOnce(&mut UsedAmount) -> T) -> T {
        let (minute, day) = (now.as_millis() / MINUTE_MILLIS, now.as_millis() / DAY_MILLIS);
        let mut members = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if members.len() >= MAX_MEMBERS {
            members.retain(|_, used| used.minute == minute);
        }
        let used = members.entry(key_of(signed_in)).or_default();
        if used.minute != minute {
            (used.minute, used.requests) = (minute, 0);
        }
        if used.day != day {
            (used.day, used.bytes) = (day, 0);
        }
        count(used)
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        let mut connections = self.connections.lock().unwrap_or_else(PoisonError::into_inner);
        if let Entry::Occupied(mut count) = connections.entry(self.member.clone()) {
            *count.get_mut() -= 1;
            if *count.get() == 0 {
                count.remove();
            }
        }
    }
}

fn key_of(signed_in: &SignedIn) -> MemberKey {
    (signed_in.space.space().clone(), signed_in.member.clone())
}

fn exceeded(message: String) -> ApiError {
    let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, FailureKind::QueueFull, message);
    error.hint("try again later, or ask an admin of the space for a higher limit")
}
