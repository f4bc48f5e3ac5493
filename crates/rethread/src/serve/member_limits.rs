//! Limits what one member may request of this server: requests in a minute, and bytes in a day.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;
use rethread_engine::SignedIn;
use rethread_model::{MemberName, Space, Timestamp};

use super::ApiError;
use crate::failure::FailureKind;

/// Requests of a member in a minute, unless the member has a limit of its own.
const REQUESTS_PER_MINUTE: u64 = 1_200;
const MINUTE_MILLIS: i64 = 60_000;
const DAY_MILLIS: i64 = 86_400_000;
/// Members that are remembered; beyond that, those without requests in this minute are dropped.
const MAX_MEMBERS: usize = 100_000;

/// How much each member requested in the current minute and day.
#[derive(Debug, Default)]
pub(crate) struct MemberUsage(Mutex<HashMap<(Space, MemberName), UsedAmount>>);

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

    fn with<T>(&self, signed_in: &SignedIn, now: Timestamp, count: impl FnOnce(&mut UsedAmount) -> T) -> T {
        let (minute, day) = (now.as_millis() / MINUTE_MILLIS, now.as_millis() / DAY_MILLIS);
        let mut members = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if members.len() >= MAX_MEMBERS {
            members.retain(|_, used| used.minute == minute);
        }
        let key = (signed_in.space.space().clone(), signed_in.member.clone());
        let used = members.entry(key).or_default();
        if used.minute != minute {
            (used.minute, used.requests) = (minute, 0);
        }
        if used.day != day {
            (used.day, used.bytes) = (day, 0);
        }
        count(used)
    }
}

fn exceeded(message: String) -> ApiError {
    let error = ApiError::new(StatusCode::TOO_MANY_REQUESTS, FailureKind::QueueFull, message);
    error.hint("try again later, or ask an admin of the space for a higher limit")
}
