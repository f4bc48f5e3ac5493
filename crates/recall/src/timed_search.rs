//! Searches within the times that a query names: limits such as "since Monday", and events such as "the release".
//!
//! Queries without a time are passed on as they are.

use jiff::Zoned;
use rethread_index::IndexSnapshot;
use rethread_model::Timestamp;
use rethread_store::ReadStore;

use crate::event_time::{EventTime, find_event};
use crate::rank::DAY_MILLIS;
use crate::search::{FilteredResults, SearchError, SearchInput, SearchResults, search_filtered};
use crate::{SearchQuery, TimeBounds, TimePhrase, TimeSpan};

/// Clocks of machines differ by less than this.
const CLOCK_DIFFERENCE_MILLIS: i64 = DAY_MILLIS;

/// Finds the entries that match best.
pub fn search(
    store: &ReadStore,
    snapshot: &IndexSnapshot,
    input: SearchInput<'_>,
) -> Result<SearchResults, SearchError> {
    if input.query.times.is_empty() && input.query.event.is_none() {
        return Ok(search_filtered(store, snapshot, input)?.results);
    }
    let (query, notice) = with_event(store, snapshot, input)?;
    let narrowed = narrowed(&query, input.now);
    let FilteredResults { mut results, is_coding_work } =
        search_filtered(store, snapshot, SearchInput { query: &narrowed, ..input })?;
    let is_empty = results.hits.is_empty();
    // In conversations, people talk about a date later, so a date limits nothing there.
    let only_boosts = !is_coding_work && query.bounds.is_some_and(|bounds| !bounds.is_relative);
    if is_empty && !query.topic.is_empty() {
        let wider = search_filtered(store, snapshot, SearchInput { query: &query, ..input })?.results;
        if !wider.hits.is_empty() {
            let limits = query.bounds.map_or_else(|| "until now".to_owned(), |bounds| show_bounds(bounds, input.now));
            let other = format!("nothing found {limits}; showing other times");
            let degraded = [Some(other), wider.degraded].into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
            results = SearchResults { degraded, ..wider };
        }
    } else if !is_empty && only_boosts {
        results = search_filtered(store, snapshot, SearchInput { query: &query, ..input })?.results;
    }
    Ok(SearchResults { notice, ..results })
}

/// The query with the time of its event, if that is known, and how it was read.
fn with_event(
    store: &ReadStore,
    snapshot: &IndexSnapshot,
    input: SearchInput<'_>,
) -> Result<(SearchQuery, Option<String>), SearchError> {
    let mut query = input.query.clone();
    let Some(event) = &input.query.event else { return Ok((query, None)) };
    let Some(EventTime { at, session }) = find_event(store, snapshot, event, input)? else { return Ok((query, None)) };
    let Some(bounds) = event.bounds(at, input.now) else { return Ok((query, None)) };
    let both = query.bounds.map_or(Some(bounds), |other| other.intersect(bounds));
    let Some(both) = both else { return Ok((query, None)) };
    let end = Timestamp::from_millis(input.now.timestamp().as_millisecond() + CLOCK_DIFFERENCE_MILLIS);
    let to = bounds.to.unwrap_or(end);
    let from = bounds.from.unwrap_or(Timestamp::from_millis(0)).min(to);
    // "In January" of "since the release in January" says which release is meant.
    query.times.retain(|time| Some(*time) != event.time);
    query.times.push(TimePhrase::Span(TimeSpan { from, to }));
    query.bounds = Some(both);
    query.topic.clone_from(&query.eventless_topic);
    let name = session.alias.or(session.name).unwrap_or_else(|| session.id.to_string());
    Ok((query, Some(format!("\"{}\" read as {} (session {name})", event.text, show_date(at, input.now)))))
}

/// The query with its limits as filters. What is later than now does not answer a question about a time.
fn narrowed(query: &SearchQuery, now: &Zoned) -> SearchQuery {
    let mut query = query.clone();
    let latest = now.timestamp().as_millisecond().saturating_add(CLOCK_DIFFERENCE_MILLIS);
    query.latest = (!query.times.is_empty()).then_some(Timestamp::from_millis(latest));
    if let Some(TimeBounds { from, to, .. }) = query.bounds {
        query.after = query.after.max(from);
        query.before = [query.before, to].into_iter().flatten().min();
    }
    query
}

fn show_bounds(bounds: TimeBounds, now: &Zoned) -> String {
    match (bounds.from, bounds.to) {
        // A part of a day needs the time of day.
        (Some(from), Some(to)) if to.millis_since(from) < DAY_MILLIS => {
            format!("from {} to {}", show_minute(from, now), show_minute(to, now))
        }
        (Some(from), Some(to)) => format!("from {} to {}", show_date(from, now), show_date(last_moment(to), now)),
        (Some(from), None) => format!("since {}", show_date(from, now)),
        (None, Some(to)) => format!("before {}", show_date(to, now)),
        (None, None) => String::new(),
    }
}

fn last_moment(end: Timestamp) -> Timestamp {
    Timestamp::from_millis(end.as_millis().saturating_sub(1))
}

fn show_date(at: Timestamp, now: &Zoned) -> String {
    show_as("%Y-%m-%d", at, now)
}

fn show_minute(at: Timestamp, now: &Zoned) -> String {
    show_as("%Y-%m-%d %H:%M", at, now)
}

fn show_as(format: &str, at: Timestamp, now: &Zoned) -> String {
    let moment = jiff::Timestamp::from_millisecond(at.as_millis());
    moment.map_or_else(|_| at.to_string(), |at| at.to_zoned(now.time_zone().clone()).strftime(format).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_limits_are_shown_with_the_time_of_day() {
        let now = "2026-03-18T15:30:00[UTC]".parse().unwrap();
        for (from, to, expect) in [
            ("2026-03-04T14:00:00Z", "2026-03-04T15:00:00Z", "from 2026-03-04 14:00 to 2026-03-04 15:00"),
            ("2026-03-04T00:00:00Z", "2026-03-05T00:00:00Z", "from 2026-03-04 to 2026-03-04"),
            ("2026-03-04T14:00:00Z", "2026-03-12T00:00:00Z", "from 2026-03-04 to 2026-03-11"),
        ] {
            let (from, to) = (Some(from.parse().unwrap()), Some(to.parse().unwrap()));
            assert_eq!(show_bounds(TimeBounds { from, to, is_relative: true }, &now), expect);
        }
    }
}
