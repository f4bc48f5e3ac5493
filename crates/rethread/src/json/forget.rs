//! JSON of `rethread forget`.

use rethread_engine::ForgetReport;
use rethread_model::Session;
use serde::Serialize;

use super::SCHEMA;

/// What was erased, or would be (`--dry-run`).
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ForgetReportJson<'a> {
    schema: u8,
    dry_run: bool,
    /// Sessions erased completely.
    sessions: Vec<ForgottenSessionJson<'a>>,
    /// Sessions that lose only some episodes or names.
    shortened: Vec<ForgottenSessionJson<'a>>,
    threads: Vec<String>,
    removed: Vec<RemovedCountJson>,
    /// What contains the text and is not removed.
    remaining: Vec<RemainingCountJson>,
    /// Markers that keep sync from bringing it back.
    tombstones: u64,
    seconds: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ForgottenSessionJson<'a> {
    id: String,
    agent: &'static str,
    external_id: &'a str,
}

#[derive(Serialize)]
struct RemovedCountJson {
    place: &'static str,
    count: u64,
    /// How many are still there, verified afterwards.
    left: u64,
}

#[derive(Serialize)]
struct RemainingCountJson {
    place: &'static str,
    count: u64,
}

impl<'a> ForgetReportJson<'a> {
    pub(crate) fn new(report: &'a ForgetReport, dry_run: bool) -> Self {
        let removed = report.removed.iter();
        Self {
            schema: SCHEMA,
            dry_run,
            sessions: report.sessions.iter().map(forgotten_session).collect(),
            shortened: report.partial_sessions.iter().map(forgotten_session).collect(),
            threads: report.threads.iter().map(ToString::to_string).collect(),
            removed: removed
                .map(|one| RemovedCountJson { place: one.place, count: one.count, left: one.remaining })
                .collect(),
            remaining: report
                .retained
                .iter()
                .map(|(place, count)| RemainingCountJson { place, count: *count })
                .collect(),
            tombstones: report.tombstones,
            seconds: report.seconds,
        }
    }
}

fn forgotten_session(session: &Session) -> ForgottenSessionJson<'_> {
    ForgottenSessionJson {
        id: session.id.to_string(),
        agent: session.agent.as_str(),
        external_id: &session.external_id,
    }
}
