//! The user's time: the current moment, days, and times as people write them.

use jiff::Zoned;
use jiff::tz::TimeZone;
use rethread_model::Timestamp;
use rethread_recall::TimePhrase;

use crate::{Engine, EngineError};

impl Engine {
    /// The current time, by the configured clock.
    pub fn now(&self) -> Timestamp {
        self.environment.clock.now()
    }

    /// The time zone in which the user's days start and end.
    pub fn time_zone(&self) -> &TimeZone {
        &self.environment.time_zone
    }

    /// The current time in the user's time zone.
    pub(crate) fn local_now(&self) -> Zoned {
        let epoch = || jiff::Timestamp::default().to_zoned(self.time_zone().clone());
        local_time(self.now(), self.time_zone()).unwrap_or_else(epoch)
    }

    /// Parses a time given by the user. `end` selects the end of a day or week instead of its start.
    pub(crate) fn parse_time(&self, text: &str, end: bool) -> Result<Timestamp, EngineError> {
        let span =
            TimePhrase::parse(text, &self.local_now()).ok_or_else(|| EngineError::InvalidTime(text.to_owned()))?;
        Ok(if end { span.to } else { span.from })
    }

    /// The start of the current day in the user's time zone.
    pub(crate) fn day_start(&self) -> Timestamp {
        self.midnight(0)
    }

    /// The next midnight in the user's time zone, when the daily budget is available again.
    pub(crate) fn next_midnight(&self) -> Timestamp {
        self.midnight(1)
    }

    /// The midnight that started the user's day, plus a number of days.
    fn midnight(&self, days: i64) -> Timestamp {
        let today = self.local_now().start_of_day();
        let day = today.and_then(|day| day.checked_add(jiff::Span::new().days(days)));
        day.map_or(self.now(), |day| Timestamp::from_millis(day.timestamp().as_millisecond()))
    }
}

/// A time in a time zone; `None` if it is too far away to have a date.
pub(crate) fn local_time(at: Timestamp, zone: &TimeZone) -> Option<Zoned> {
    Some(jiff::Timestamp::from_millisecond(at.as_millis()).ok()?.to_zoned(zone.clone()))
}
