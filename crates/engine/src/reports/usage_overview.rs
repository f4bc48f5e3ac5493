//! All parts of the usage page from one pass over the messages: groups, days by model, hours and sessions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use jiff::tz::TimeZone;
use rethread_llm::{NanoUsd, price_thresholds};
use rethread_model::{Agent, Session, Timestamp};
use rethread_store::{ReadStore, SessionNumber, SessionPlace, UsageFilter, UsageGrain, UsageTotal};

use super::reduction;
use crate::clock::local_time;
use crate::{
    EngineError, ReportService, SessionTypeReduction, UsageGroup, UsageGrouping, UsageReport, UsageRequest, UsageTotals,
};

/// Sessions that are compared for each of the longest ones.
const DURATION_CANDIDATES: usize = 4;

/// Usage of one model on one day.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsageOfDay {
    /// The day in the user's time zone, as `2026-02-20`. `None` for messages without a time.
    pub day: Option<String>,
    /// The agent that wrote the transcript.
    pub agent: Agent,
    /// The model as named in the transcripts, if any.
    pub model: Option<String>,
    /// The project, or the directory the session started in.
    pub project: Option<String>,
    /// Tokens and cost.
    pub totals: UsageTotals,
}

/// Usage of one session.
#[derive(Clone, Debug)]
pub struct SessionUsage {
    /// The session.
    pub session: Session,
    /// Tokens and cost in the requested time.
    pub totals: UsageTotals,
}

impl SessionUsage {
    /// Milliseconds from the first to the last entry of the session, in the requested time or not.
    pub fn duration(&self) -> Option<i64> {
        let (first, last) = self.session.started_at.zip(self.session.last_activity_at)?;
        Some(last.millis_since(first))
    }
}

/// What puts a session among the top sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SessionRank {
    /// Its cost, or its tokens if no cost is known.
    #[default]
    Cost,
    /// Its messages.
    Messages,
    /// The time from its first to its last entry.
    Duration,
}

/// How many top sessions to report, and what makes them so.
#[derive(Clone, Copy, Debug, Default)]
pub struct TopSessions {
    /// Maximum number of sessions.
    pub limit: usize,
    /// What they are sorted by, highest first.
    pub by: SessionRank,
}

/// Usage in every grouping, by day and model, by hour and by session.
#[derive(Clone, Debug)]
pub struct UsageDetails {
    /// By day, agent, model and project, in this order, each as [`ReportService::usage`] reports it.
    pub groups: Vec<(UsageGrouping, Vec<UsageGroup>)>,
    /// By day, agent, model and project, oldest first.
    pub days: Vec<UsageOfDay>,
    /// Messages by weekday, from Monday, and hour of the day.
    pub hours: [[u64; 24]; 7],
    /// The top sessions, as requested.
    pub top_sessions: Vec<SessionUsage>,
    /// Total, own requests and reduction. Its groups are those by day.
    pub report: UsageReport,
}

impl ReportService<'_> {
    /// Usage in every grouping at once. Ignores `group_by` of the request. The requested time begins and ends with a
    /// quarter of an hour, so that the sums can be kept for the next requests.
    pub fn usage_details(self, request: &UsageRequest, top: TopSessions) -> Result<UsageDetails, EngineError> {
        let from = request.since.as_deref().map(|text| self.engine.parse_time(text, false)).transpose()?;
        let to = request.until.as_deref().map(|text| self.engine.parse_time(text, true)).transpose()?;
        let (from, to) = (from.map(start_of_quarter), to.map(start_of_quarter));
        let store = self.engine.reader()?;
        let filter = UsageFilter { scope: request.scope.clone(), agent: request.agent, from, to };
        let (sums, top_sessions) = match &store {
            Some(store) => {
                let fold = || DetailSums::read(store, &filter, &self.engine.environment.time_zone);
                let sums = self.engine.folds.usage.get(store.head()?, filter.clone(), fold)?;
                let top_sessions = sums.top_sessions(store, top)?;
                (sums, top_sessions)
            }
            None => (Arc::default(), Vec::new()),
        };
        let groups = sums.groups();
        let by_day = groups.first().map(|(_, days)| days.clone()).unwrap_or_default();
        let own = self.own_usage(store.as_ref(), from, to)?;
        let report =
            UsageReport { from, to, groups: by_day, total: sums.total(), reductions: sums.reductions.clone(), own };
        Ok(UsageDetails { groups, top_sessions, hours: sums.hours, days: sums.days(), report })
    }
}

/// The last whole quarter of an hour: the steps in which usage is grouped by time.
fn start_of_quarter(at: Timestamp) -> Timestamp {
    const QUARTER_MILLIS: i64 = 15 * 60 * 1000;
    Timestamp::from_millis(at.as_millis().div_euclid(QUARTER_MILLIS) * QUARTER_MILLIS)
}

/// The known cost of each session; sessions without one are left out.
pub(crate) fn costs_by_session(store: &ReadStore) -> Result<HashMap<SessionNumber, NanoUsd>, EngineError> {
    let steps = price_thresholds();
    let mut costs: HashMap<SessionNumber, NanoUsd> = HashMap::new();
    for slice in store.usage(&UsageFilter::default(), UsageGrain::Session, &steps)? {
        let cost = UsageTotals::from_slice(&slice, &steps).cost();
        if let (Some(session), Some(cost)) = (slice.session, cost) {
            let sum = costs.entry(session).or_insert(NanoUsd::ZERO);
            *sum = sum.plus(cost);
        }
    }
    Ok(costs)
}

/// Day, agent, model and project.
type DayKey = (Option<String>, Agent, Option<String>, Option<String>);

/// What a period's usage sums up to, and how much of its transcripts is kept.
#[derive(Debug, Default)]
pub(crate) struct DetailSums {
    days: BTreeMap<DayKey, UsageTotals>,
    sessions: HashMap<SessionNumber, UsageTotals>,
    /// The first and the last quarter of an hour in which a session has messages.
    quarters: HashMap<SessionNumber, (Timestamp, Timestamp)>,
    hours: [[u64; 24]; 7],
    reductions: Vec<SessionTypeReduction>,
}

impl DetailSums {
    fn read(store: &ReadStore, filter: &UsageFilter, zone: &TimeZone) -> Result<Self, EngineError> {
        let places: HashMap<SessionNumber, SessionPlace> =
            store.session_places(filter)?.into_iter().map(|place| (place.number, place)).collect();
        let reductions = reduction::reduction_by_type(&store.work_counts(filter)?);
        let (steps, mut sums) = (price_thresholds(), Self { reductions, ..Self::default() });
        for slice in store.usage(filter, UsageGrain::SessionAndTime, &steps)? {
            let place = slice.session.and_then(|session| places.get(&session));
            if let Some(place) = place {
                sums.add(&slice, place, &steps, zone);
            }
        }
        Ok(sums)
    }

    fn add(&mut self, slice: &UsageTotal, place: &SessionPlace, steps: &[u64], zone: &TimeZone) {
        let used = UsageTotals::from_slice(slice, steps);
        let local = slice.at.and_then(|at| local_time(at, zone));
        let day = local.as_ref().map(|local| local.date().to_string());
        if let Some(local) = local {
            let weekday = usize::try_from(local.weekday().to_monday_zero_offset()).unwrap_or(0);
            self.hours[weekday][usize::try_from(local.hour()).unwrap_or(0)] += slice.messages;
        }
        self.sessions.entry(place.number).or_default().add(&used);
        if let Some(at) = slice.at {
            let (first, last) = self.quarters.entry(place.number).or_insert((at, at));
            (*first, *last) = ((*first).min(at), (*last).max(at));
        }
        let key = (day, place.agent, slice.model.clone(), place.project.clone());
        self.days.entry(key).or_default().add(&used);
    }

    fn groups(&self) -> Vec<(UsageGrouping, Vec<UsageGroup>)> {
        let all = [UsageGrouping::Day, UsageGrouping::Agent, UsageGrouping::Model, UsageGrouping::Project];
        all.into_iter().map(|by| (by, self.groups_by(by))).collect()
    }

    fn groups_by(&self, by: UsageGrouping) -> Vec<UsageGroup> {
        let mut groups: BTreeMap<Option<&str>, UsageTotals> = BTreeMap::new();
        for ((day, agent, model, project), used) in &self.days {
            let key = match by {
                UsageGrouping::Day => day.as_deref(),
                UsageGrouping::Agent => Some(agent.as_str()),
                UsageGrouping::Model => model.as_deref(),
                UsageGrouping::Project => project.as_deref(),
            };
            groups.entry(key).or_default().add(used);
        }
        let groups = groups.into_iter().map(|(key, totals)| UsageGroup { key: key.map(str::to_owned), totals });
        super::usage::sort_groups(groups.collect(), by)
    }

    fn total(&self) -> UsageTotals {
        let mut total = UsageTotals::default();
        for used in self.days.values() {
            total.add(used);
        }
        total
    }

    fn top_sessions(&self, store: &ReadStore, request: TopSessions) -> Result<Vec<SessionUsage>, EngineError> {
        let rank = |number: &SessionNumber, used: &UsageTotals| match request.by {
            SessionRank::Cost => (used.cost().map_or(0, |cost| i128::from(cost.get()) + 1), used.tokens.total()),
            SessionRank::Messages => (i128::from(used.messages), used.tokens.total()),
            SessionRank::Duration => {
                let quarters = self.quarters.get(number);
                (quarters.map_or(0, |(first, last)| i128::from(last.millis_since(*first))), used.messages)
            }
        };
        let mut sessions: Vec<_> = self.sessions.iter().collect();
        sessions.sort_by_key(|(number, used)| (Reverse(rank(number, used)), number.get()));
        // Quarters of an hour only select candidates for the longest duration.
        let is_by_duration = request.by == SessionRank::Duration;
        let candidates = if is_by_duration { request.limit.saturating_mul(DURATION_CANDIDATES) } else { request.limit };
        let mut top = Vec::new();
        for (number, totals) in sessions.into_iter().take(candidates) {
            let session = store.session_by_number(*number)?;
            top.extend(session.map(|session| SessionUsage { session, totals: totals.clone() }));
        }
        if is_by_duration {
            top.sort_by_key(|one| Reverse(one.duration()));
            top.truncate(request.limit);
        }
        Ok(top)
    }

    fn days(&self) -> Vec<UsageOfDay> {
        let days = self.days.iter().map(|((day, agent, model, project), totals)| UsageOfDay {
            day: day.clone(),
            agent: *agent,
            model: model.clone(),
            project: project.clone(),
            totals: totals.clone(),
        });
        days.collect()
    }
}
