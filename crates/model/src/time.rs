//! A point in time in UTC with millisecond precision; written as RFC 3339, compared as a number.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

const YEAR_2200_MILLIS: i64 = 7_258_118_400_000;

/// Milliseconds since the Unix epoch, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

/// The text is not a valid RFC 3339 time.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid RFC 3339 time {0:?}")]
pub struct InvalidTimestamp(pub String);

impl Timestamp {
    /// From Unix milliseconds.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// Whether a clock can have shown it: after 1970 began and before 2200. Other times come from damaged or hostile
    /// input, and 0 from a value that was never set.
    pub const fn is_plausible(self) -> bool {
        0 < self.0 && self.0 < YEAR_2200_MILLIS
    }

    /// As Unix milliseconds.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Milliseconds from `earlier` to this time; negative if `earlier` is later.
    pub const fn millis_since(self, earlier: Timestamp) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(millis) = parse_common_form(text.as_bytes()) {
            return Ok(Self(millis));
        }
        text.parse::<jiff::Timestamp>()
            .map(|moment| Self(moment.as_millisecond()))
            .map_err(|_| InvalidTimestamp(text.to_owned()))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => write!(f, "{moment:.3}"),
            Err(_) => write!(f, "1970-01-01T00:00:00.000Z"),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Fast path for the form agents write on every line: `2026-02-20T20:17:15.095Z`.
fn parse_common_form(text: &[u8]) -> Option<i64> {
    let shaped = text.len() == 24
        && text[4] == b'-'
        && text[7] == b'-'
        && text[10] == b'T'
        && text[13] == b':'
        && text[16] == b':'
        && text[19] == b'.'
        && text[23] == b'Z';
    if !shaped {
        return None;
    }
    let number = |from: usize, to: usize| -> Option<i64> {
        text[from..to]
            .iter()
            .try_fold(0_i64, |sum, byte| byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0')))
    };
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let (hour, minute, second) = (number(11, 13)?, number(14, 16)?, number(17, 19)?);
    // Days after the 28th and leap seconds are left to the general parser.
    if !(1..=12).contains(&month) || !(1..=28).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let days = days_from_civil(year, month, day);
    Some((((days * 24 + hour) * 60 + minute) * 60 + second) * 1000 + number(20, 23)?)
}

/// Days since 1970-01-01 in the proleptic Gregorian calendar.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let day_of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &str) {
        assert_eq!(text.parse::<Timestamp>().unwrap().to_string(), expect);
    }

    #[test]
    fn fast_path_and_general_parser_agree() {
        check("2026-02-20T20:17:15.095Z", "2026-02-20T20:17:15.095Z");
        check("2024-02-29T23:59:59.999Z", "2024-02-29T23:59:59.999Z");
        check("2025-12-31T00:00:00.000Z", "2025-12-31T00:00:00.000Z");
        check("2026-02-20T22:17:15+02:00", "2026-02-20T20:17:15.000Z");
        check("1970-01-01T00:00:00Z", "1970-01-01T00:00:00.000Z");
        check("2200-01-01T00:00:00Z", &Timestamp::from_millis(YEAR_2200_MILLIS).to_string());
        for millis in (0..2_000_000_000_000_i64).step_by(777_777_777) {
            let moment = Timestamp::from_millis(millis);
            assert_eq!(moment.to_string().parse::<Timestamp>().unwrap(), moment);
        }
    }

    #[test]
    fn invalid_times_are_rejected() {
        for text in ["", "yesterday", "2026-13-01T00:00:00.000Z", "2026-02-30T00:00:00.000Z"] {
            assert!(text.parse::<Timestamp>().is_err(), "{text}");
        }
    }
}
