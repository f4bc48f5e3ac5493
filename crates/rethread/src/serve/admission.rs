//! Limits work that would starve other requests: slow calls, tool calls, and log lines about rejected requests.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::ApiError;
use crate::failure::FailureKind;

/// Concurrent calls that wait for a model or another turn, or read all transcripts. They share the blocking threads
/// with fast calls and may use a quarter of them.
const MAX_SLOW_CALLS: usize = 8;
/// Concurrent MCP tool calls; further ones wait.
const MAX_TOOL_CALLS: usize = 8;
/// Rejected requests logged per minute, so that an outsider cannot fill the log.
const MAX_LOGGED_REFUSALS: u32 = 30;
const MINUTE: Duration = Duration::from_mins(1);

/// Permits for slow calls and tool calls, and the rate limit of the refusal log.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimits {
    slow: Semaphore,
    tools: Semaphore,
    refused: Mutex<Option<(Instant, u32)>>,
}

impl Default for ConcurrencyLimits {
    fn default() -> Self {
        Self { slow: Semaphore::new(MAX_SLOW_CALLS), tools: Semaphore::new(MAX_TOOL_CALLS), refused: Mutex::default() }
    }
}

impl ConcurrencyLimits {
    /// A permit for a slow call, or 429. Waiting for one would occupy the thread that the limit protects.
    pub(crate) fn acquire_slow(&self) -> Result<SemaphorePermit<'_>, ApiError> {
        self.slow.try_acquire().map_err(|_| {
            let message = format!("{MAX_SLOW_CALLS} slow requests are already running");
            ApiError::new(StatusCode::TOO_MANY_REQUESTS, FailureKind::QueueFull, message).hint("try again later")
        })
    }

    /// Waits for a tool call permit.
    pub(crate) async fn acquire_tool(&self) -> Option<SemaphorePermit<'_>> {
        self.tools.acquire().await.ok()
    }

    /// Whether another rejected request should be logged.
    pub(super) fn should_log_refusal(&self, now: Instant) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        match refused.as_mut() {
            Some((since, noted)) if now.duration_since(*since) < MINUTE => {
                *noted = noted.saturating_add(1);
                *noted <= MAX_LOGGED_REFUSALS
            }
            _ => {
                *refused = Some((now, 1));
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_refusals_does_not_fill_the_log() {
        // T16
        let (limits, began) = (ConcurrencyLimits::default(), Instant::now());
        let noted = (0..1000).filter(|_| limits.should_log_refusal(began)).count();
        assert_eq!(noted, MAX_LOGGED_REFUSALS as usize);
        assert!(limits.should_log_refusal(began + MINUTE));
    }

    #[test]
    fn slow_calls_leave_threads_for_fast_ones() {
        // T16
        let limits = ConcurrencyLimits::default();
        let taken: Vec<_> = (0..MAX_SLOW_CALLS).map(|_| limits.acquire_slow().unwrap()).collect();
        assert_eq!(limits.acquire_slow().unwrap_err().status(), StatusCode::TOO_MANY_REQUESTS);
        drop(taken);
        assert!(limits.acquire_slow().is_ok());
    }
}
