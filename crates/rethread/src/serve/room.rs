//! Room for what must not crowd out the rest: slow calls, calls of models, and notes of who was not let in.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::Refusal;
use crate::failure::Kind;

/// Calls at a time that wait for a model, for another turn, or read all transcripts. They use threads that quick calls
/// need too, so they get a quarter of them.
const MOST_SLOW: usize = 8;
/// Calls of tools at a time; more wait.
const MOST_TOOLS: usize = 8;
/// Of those who were not let in, so many are noted in a minute: nobody may fill the log from outside.
const MOST_REFUSED: u32 = 30;
const MINUTE: Duration = Duration::from_mins(1);

/// Room in the server.
#[derive(Debug)]
pub(crate) struct Room {
    slow: Semaphore,
    tools: Semaphore,
    refused: Mutex<Option<(Instant, u32)>>,
}

impl Default for Room {
    fn default() -> Self {
        Self { slow: Semaphore::new(MOST_SLOW), tools: Semaphore::new(MOST_TOOLS), refused: Mutex::default() }
    }
}

impl Room {
    /// A place for a slow call, or the word that there is none now. Waiting for one would take the thread it is about.
    pub(crate) fn for_slow(&self) -> Result<SemaphorePermit<'_>, Refusal> {
        self.slow.try_acquire().map_err(|_| {
            let message = format!("{MOST_SLOW} calls that take long are at work already");
            Refusal::new(StatusCode::TOO_MANY_REQUESTS, Kind::QueueFull, message).hint("try again when one is done")
        })
    }

    /// A place for a call of a tool, once there is one.
    pub(crate) async fn for_tool(&self) -> Option<SemaphorePermit<'_>> {
        self.tools.acquire().await.ok()
    }

    /// Whether one more who was not let in is noted.
    pub(super) fn notes_refusal(&self, now: Instant) -> bool {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        match refused.as_mut() {
            Some((since, noted)) if now.duration_since(*since) < MINUTE => {
                *noted = noted.saturating_add(1);
                *noted <= MOST_REFUSED
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
    fn t16_a_flood_of_refusals_does_not_fill_the_log() {
        let (room, began) = (Room::default(), Instant::now());
        let noted = (0..1000).filter(|_| room.notes_refusal(began)).count();
        assert_eq!(noted, MOST_REFUSED as usize);
        assert!(room.notes_refusal(began + MINUTE));
    }

    #[test]
    fn t16_slow_calls_leave_room_for_quick_ones() {
        let room = Room::default();
        let taken: Vec<_> = (0..MOST_SLOW).map(|_| room.for_slow().unwrap()).collect();
        assert_eq!(room.for_slow().unwrap_err().status(), StatusCode::TOO_MANY_REQUESTS);
        drop(taken);
        assert!(room.for_slow().is_ok());
    }
}
