//! Searches within the times that a query names: limits such as "since Monday", and events such as "the release".
//!
//! Queries without a time are passed on as they are.

use jiff::Zoned;
use rethread_index::IndexSnapshot;
use rethread_model::Timestamp;
use rethread_store::ReadStore;

use crate::event_time::{EventTime, find_event};
use crate::search::{SearchError, SearchInput, SearchResults, search_filtered};
use crate::{SearchHit, SearchQuery, TimeBounds, TimePhrase, TimeSpan};

/// Clocks of machines differ by less than this, in milliseconds.
const CLOCK_DIFFERENCE_MILLIS: i64 = 24 * 3_600_000;
/// Number of first results that decide whether a query is about coding work.
const FIRST_RESULTS: usize = 10;

/// Finds the entries that match best.
pub fn search(
    store: &ReadStore,
    snapshot: &IndexSnapshot,
    input: SearchInput<'_>,
) -> Result<SearchResults, SearchError> {
    if input.query.times.is_empty() && input.query.event.is_none() {
        return search_filtered(store, snapshot, input);
    }
    let (query, notice) = with_event(store, snapshot, input)?;
    let narrowed = narrowed(&query, input.now);
    let mut found = search_filtered(store, snapshot, SearchInput { query: &narrowed, ..input })?;
    let is_outside = found.hits.is_empty() && !query.topic.is_empty();
    if is_outside || query.bounds.is_some_and(|bounds| !bounds.is_relative && !is_coding_work(&found.hits)) {
        let wider = search_filtered(store, snapshot, SearchInput { query: &query, ..input })?;
        if is_outside && !wider.hits.is_empty() {
            let limits = query.bounds.map_or_else(|| "until now".to_owned(), |bounds| show_bounds(bounds, input.now));
            let other = format!("nothing found {limits}; showing other times");
            found.degraded = [Some(other), wider.degraded].into_iter().flatten().reduce(|a, b| format!("{a}; {b}"));
            found = SearchResults { degraded: found.degraded, ..wider };
        } else if !is_outside {
            found = wider;
        }
    }
    Ok(SearchResults { notice, ..found })
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

/// Whether at least half of the first results are in sessions in which an agent used tools. In conversations, people
/// talk about a date later, so a date limits nothing there.
fn is_coding_work(hits: &[SearchHit]) -> bool {
    let first = &hits[..hits.len().min(FIRST_RESULTS)];
    first.iter().filter(|hit| hit.session.counts.tool_calls > 0).count() * 2 >= first.len()
}

fn show_bounds(bounds: TimeBounds, now: &Zoned) -> String {
    match (bounds.from, bounds.to) {
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
    let moment = jiff::Timestamp::from_millisecond(at.as_millis());
    moment.map_or_else(|_| at.to_string(), |moment| moment.to_zoned(now.time_zone().clone()).date().to_string())
}
