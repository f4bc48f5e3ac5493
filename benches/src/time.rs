//! Formats milliseconds since 1970 as ISO 8601 in UTC. Does not read the clock.

/// Milliseconds per day.
pub const DAY_MS: u64 = 86_400_000;

/// `2026-11-01T00:00:00.000Z`, the latest start time of a synthetic session.
pub const NEWEST_MS: u64 = 20_758 * DAY_MS;

/// Such as `2026-02-20T20:17:15.095Z`.
#[must_use]
pub fn iso(ms: u64) -> String {
    let (year, month, day) = date(ms / DAY_MS);
    let (hour, minute) = (ms % DAY_MS / 3_600_000, ms % 3_600_000 / 60_000);
    let (second, ms) = (ms % 60_000 / 1000, ms % 1000);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
}

/// Days since 1970 as year, month and day of the Gregorian calendar.
///
/// Years are counted from March, so that the leap day is the last of its year.
const fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let year = year_of_era + era * 400 + if month <= 2 { 1 } else { 0 };
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::{DAY_MS, NEWEST_MS, iso};

    #[test]
    fn known_dates_are_formatted_correctly() {
        assert_eq!(iso(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(iso(NEWEST_MS), "2026-11-01T00:00:00.000Z");
        assert_eq!(iso(NEWEST_MS - DAY_MS + 73_035_095), "2026-10-31T20:17:15.095Z");
    }
}
