//! Formats numbers, sizes, ages and times.

use jiff::tz::TimeZone;
use rethread_model::Timestamp;

/// Time since `at`: `just now`, `5m`, `3h`, `12d`; `recently` if it is unknown. A time in the future counts as now,
/// because clocks may be wrong.
// E000-04
pub(crate) fn age(at: Option<Timestamp>, now: Timestamp) -> String {
    let Some(at) = at else { return "recently".to_owned() };
    let minutes = now.millis_since(at) / 60_000;
    match minutes {
        ..1 => "just now".to_owned(),
        1..60 => format!("{minutes}m"),
        60..1440 => format!("{}h", minutes / 60),
        _ => format!("{}d", minutes / 1440),
    }
}

/// A length of time: `<1m`, `45m`, `3h 5m`, `2d 4h`.
pub(crate) fn duration(millis: i64) -> String {
    let minutes = millis / 60_000;
    let two = |large: i64, unit: &str, small: i64, part: &str| match small {
        0 => format!("{large}{unit}"),
        _ => format!("{large}{unit} {small}{part}"),
    };
    match minutes {
        ..1 => "<1m".to_owned(),
        1..60 => format!("{minutes}m"),
        60..1440 => two(minutes / 60, "h", minutes % 60, "m"),
        _ => two(minutes / 1440, "d", minutes % 1440 / 60, "h"),
    }
}

/// A time in the user's time zone, always with its date.
// L000-12
pub(crate) fn local_time(at: Option<Timestamp>, zone: &TimeZone) -> String {
    let known = at.and_then(|at| jiff::Timestamp::from_millisecond(at.as_millis()).ok());
    known.map_or_else(
        || "time unknown".to_owned(),
        |at| at.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
    )
}

/// Start and end; a common date is written only once.
pub(crate) fn time_range(from: Option<Timestamp>, to: Option<Timestamp>, zone: &TimeZone) -> String {
    let (from, to) = (local_time(from, zone), local_time(to, zone));
    match (from.split_once(' '), to.split_once(' ')) {
        _ if from == to => from,
        (Some((day, _)), Some((same, time))) if day == same => format!("{from} – {time}"),
        _ => format!("{from} – {to}"),
    }
}

/// A number with thousands separators.
pub(crate) fn number(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number in a few characters: 999, 12.3k, 4.5M, 1.2G.
pub(crate) fn short_number(number: u64) -> String {
    let value = number as f64;
    match number {
        0..1_000 => number.to_string(),
        // From here on, rounding would give 1000.0 of the smaller unit.
        1_000..999_950 => format!("{:.1}k", value / 1e3),
        999_950..999_950_000 => format!("{:.1}M", value / 1e6),
        _ => format!("{:.1}G", value / 1e9),
    }
}

/// A number with its noun, in the plural unless it is 1.
pub(crate) fn count(amount: u64, noun: &str) -> String {
    if amount == 1 { format!("1 {noun}") } else { format!("{} {noun}s", number(amount)) }
}

/// A size in decimal units (1 kB = 1,000 bytes).
pub(crate) fn bytes(bytes: u64) -> String {
    let size = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", size / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", size / 1e6),
        _ => format!("{:.1} GB", size / 1e9),
    }
}

/// How much smaller `kept` is than `raw`, in percent; `None` if `raw` is 0.
pub(crate) fn reduction_percent(raw: u64, kept: u64) -> Option<f64> {
    (raw > 0).then(|| 100.0 - kept as f64 * 100.0 / raw as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    // E000-04
    #[test]
    fn ages_have_four_units() {
        let now = Timestamp::from_millis(10 * 86_400_000);
        let check = |millis: i64, expect: &str| {
            assert_eq!(age(Some(Timestamp::from_millis(now.as_millis() - millis)), now), expect);
        };
        check(59_999, "just now");
        check(-5_000, "just now");
        check(60_000, "1m");
        check(3_599_999, "59m");
        check(3_600_000, "1h");
        check(86_400_000, "1d");
        assert_eq!(age(None, now), "recently");
    }

    // L000-12
    #[test]
    fn times_include_the_date() {
        let at: Timestamp = "2026-02-20T20:17:15Z".parse().unwrap();
        let later: Timestamp = "2026-02-21T01:00:00Z".parse().unwrap();
        let zone = TimeZone::UTC;
        assert_eq!(local_time(Some(at), &zone), "2026-02-20 20:17");
        assert_eq!(local_time(None, &zone), "time unknown");
        assert_eq!(time_range(Some(at), Some(later), &zone), "2026-02-20 20:17 – 2026-02-21 01:00");
        assert_eq!(
            time_range(Some(at), Some(Timestamp::from_millis(at.as_millis() + 120_000)), &zone),
            "2026-02-20 20:17 – 20:19"
        );
    }

    #[test]
    fn formats_numbers_and_sizes() {
        assert_eq!(number(1_234_567), "1,234,567");
        assert_eq!(number(999), "999");
        let short = [999, 1_000, 12_345, 999_949, 999_950, 4_500_000, 1_234_567_890].map(short_number);
        assert_eq!(short, ["999", "1.0k", "12.3k", "999.9k", "1.0M", "4.5M", "1.2G"]);
        assert_eq!(count(1, "line"), "1 line");
        assert_eq!(count(0, "line"), "0 lines");
        assert_eq!(bytes(12_345), "12.3 kB");
        assert_eq!(reduction_percent(200, 50), Some(75.0));
        assert_eq!(reduction_percent(0, 0), None);
    }
}
