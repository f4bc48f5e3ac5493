//! JSON output of `--json` and of the HTTP API. The keys are a public contract: add keys, never rename them.

mod admin;
mod agents;
mod ask;
mod awareness;
mod card;
mod conversation;
mod enrich;
mod error_sessions;
mod facts;
mod file_rules;
mod forget;
mod frame;
mod install;
mod original;
mod purge;
mod reference;
mod resume;
mod schema;
mod search;
mod serve;
mod session;
mod session_events;
mod store;
mod thread;
mod timeline;
mod transfer;
mod turn_frames;
mod usage;

use std::collections::BTreeMap;

use rethread_engine::{
    AgentSyncPlan, AgentSyncReport, BudgetStatus, ConfigLayer, Diagnosis, EngineStatus, EnrichmentEstimate,
    FindingLevel, IndexLag, NanoUsd, Setting, SettingValue, SyncReport, UnreadTranscript, VerifyReport,
};
use rethread_model::{Timestamp, is_unsafe_to_display};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::render::{age, reduction_percent};

pub(crate) use admin::{
    AdminResultJson, AuditJson, DistributeJson, MemberListJson, NewTokenJson, RetentionJson, SpaceListJson,
    TokenListJson,
};
pub(crate) use ask::{AnswerJson, AskPlanJson, HandoffJson, ProjectAnswerJson, ProjectAskPlanJson};
pub(crate) use awareness::{AwarenessJson, InjectionListJson};
pub(crate) use card::{CardJson, CardRefreshJson};
pub(crate) use conversation::{ConversationDetailsJson, ConversationListJson, LogPageJson, ResumeJson};
pub(crate) use enrich::{ClearedFailuresJson, EnrichmentFailureListJson, EnrichmentPlanJson, EnrichmentReportJson};
pub(crate) use facts::{DecisionListJson, FactsReportJson, FileHistoryJson, FixReportJson, WorkflowListJson};
pub(crate) use forget::ForgetReportJson;
pub(crate) use frame::{CallerToolJson, ClientFrameJson, FrameEventJson, FrameJson, RunEndJson};
pub(crate) use install::{InstallAllReportJson, InstallReportJson};
pub(crate) use original::EntryOriginalJson;
pub(crate) use purge::PurgeReportJson;
pub(crate) use reference::ResolvedReferencesJson;
pub(crate) use resume::ResumeCommandJson;
pub(crate) use search::{SearchResultJson, SimilarSessionsJson};
pub(crate) use serve::{ApiTokenJson, LoginLinkJson, ServerAddressJson};
pub(crate) use session::{EpisodeListJson, SessionListJson, SessionLogJson};
pub(crate) use session_events::SessionEventsJson;
pub(crate) use store::StoreCopyJson;
pub(crate) use thread::{
    AppendedRecordJson, CompactReportJson, CreatedThreadJson, DeletedThreadJson, SendPlanJson, ThreadContextJson,
    ThreadListJson,
};
pub(crate) use timeline::TimelineJson;
pub(crate) use transfer::{ExportedSessionJson, ImportReportJson};
pub(crate) use turn_frames::message_record;
pub(crate) use usage::UsageReportJson;

/// Version of all JSON output, sent as `schema`.
pub(crate) const SCHEMA: u8 = 1;

/// Serializes a value as JSON on one line.
///
/// Control characters that JSON allows in strings are escaped too, because the output may end up on a terminal.
pub(crate) fn to_json_line(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    if !text.contains(is_unsafe_to_display) {
        return Ok(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_unsafe_to_display(c) {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    Ok(out)
}

/// An amount of money in US dollars.
pub(crate) fn dollars(sum: NanoUsd) -> f64 {
    sum.get() as f64 / 1e9
}

/// The answer to a request that failed.
#[derive(Serialize, JsonSchema)]
pub(crate) struct ErrorResponseJson {
    schema: u8,
    error: ErrorJson,
}

/// What went wrong and what to do next.
#[derive(Serialize, JsonSchema)]
struct ErrorJson {
    /// Stable and kebab-case; some interfaces use codes of their own.
    code: &'static str,
    /// Our own code, present only where `code` belongs to another interface.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    message: String,
    /// What to do next; null if there is nothing to suggest.
    hint: Option<String>,
    /// Underlying errors, closest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
    /// The sessions that an ambiguous reference matches.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<ErrorCandidateJson>,
}

/// A session that an ambiguous reference matches.
#[derive(Serialize, JsonSchema)]
struct ErrorCandidateJson {
    id: String,
    /// Time since its last activity: `just now`, `5m`, `3h`, `12d`.
    age: String,
    agent: &'static str,
    name: Option<String>,
}

impl ErrorResponseJson {
    /// `now` is needed for the ages of the candidates.
    pub(crate) fn new(failure: &Failure, now: Timestamp) -> Self {
        let candidates = failure.candidates.iter().map(|session| ErrorCandidateJson {
            id: session.id.to_string(),
            age: age(session.last_activity_at, now),
            agent: session.agent.as_str(),
            name: session.name.clone(),
        });
        let hint = (!failure.hints.is_empty()).then(|| failure.hints.join("; "));
        let error = ErrorJson {
            code: failure.code.unwrap_or(failure.kind.code()),
            kind: failure.code.map(|_| failure.kind.code()),
            message: failure.source.to_string(),
            hint,
            causes: failure.causes(),
            candidates: candidates.collect(),
        };
        Self { schema: SCHEMA, error }
    }
}

/// The result of a sync, by agent.
#[derive(Serialize, JsonSchema)]
pub(crate) struct SyncReportJson<'a> {
    schema: u8,
    agents: Vec<AgentSyncJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    embeddings: Option<EmbeddingReportJson<'a>>,
    seconds: f64,
}

/// What was embedded; present only if an embedding model is configured.
#[derive(Serialize, JsonSchema)]
struct EmbeddingReportJson<'a> {
    /// Entries that were embedded.
    made: u64,
    /// Whether entries are left for the next sync.
    more: bool,
    /// Why embedding stopped; null if it did not fail.
    failed: Option<&'a str>,
}

/// What a sync read of one agent: `files` and `sessions` count all, entries, episodes and facts only new ones.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentSyncJson<'a> {
    agent: &'static str,
    files: u64,
    files_changed: u64,
    sessions: u64,
    entries: u64,
    episodes: u64,
    facts: u64,
    bytes_read: u64,
    /// Secrets that were replaced before anything was stored.
    redactions: u64,
    warnings: Vec<WarningJson<'a>>,
}

/// Something in a transcript that could not be read.
#[derive(Serialize, JsonSchema)]
struct WarningJson<'a> {
    file: &'a str,
    /// Null if the warning is about the whole file.
    line: Option<u64>,
    message: &'a str,
}

impl<'a> SyncReportJson<'a> {
    pub(crate) fn new(report: &'a SyncReport) -> Self {
        let agent = |report: &'a AgentSyncReport| AgentSyncJson {
            agent: report.agent.as_str(),
            files: report.files,
            files_changed: report.files_changed,
            sessions: report.sessions,
            entries: report.entries,
            episodes: report.episodes,
            facts: report.facts,
            bytes_read: report.bytes_read,
            redactions: report.redactions,
            warnings: report
                .warnings
                .iter()
                .map(|warning| WarningJson { file: &warning.file, line: warning.line, message: &warning.message })
                .collect(),
        };
        Self {
            schema: SCHEMA,
            agents: report.agents.iter().map(agent).collect(),
            embeddings: report.embeddings.as_ref().map(|report| EmbeddingReportJson {
                made: report.embedded,
                more: report.has_more,
                failed: report.error.as_deref(),
            }),
            seconds: (report.seconds * 1000.0).round() / 1000.0,
        }
    }
}

/// What a sync would read (`--dry-run`).
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SyncPlanJson {
    schema: u8,
    dry_run: bool,
    agents: Vec<AgentSyncPlanJson>,
    /// Estimated cost of letting a model add facts; present only if a model is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    enrichment: Option<Vec<enrich::EnrichmentEstimateJson>>,
}

/// What a sync would read of one agent.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct AgentSyncPlanJson {
    agent: &'static str,
    files: u64,
    files_changed: u64,
    /// Bytes to read.
    bytes: u64,
    /// Files skipped because of `intake.exclude`.
    excluded: u64,
    /// The files that are new or have grown.
    unread: Vec<UnreadTranscriptJson>,
}

/// A transcript that has something new.
#[derive(Serialize, JsonSchema)]
struct UnreadTranscriptJson {
    path: String,
    /// Bytes to read.
    bytes: u64,
}

impl UnreadTranscriptJson {
    fn new(unread: &UnreadTranscript) -> Self {
        Self { path: unread.path.display().to_string(), bytes: unread.bytes }
    }
}

impl SyncPlanJson {
    pub(crate) fn new(runs: &[AgentSyncPlan], estimates: Option<&[EnrichmentEstimate]>) -> Self {
        let agent = |run: &AgentSyncPlan| AgentSyncPlanJson {
            agent: run.agent.as_str(),
            files: run.files,
            files_changed: run.files_changed,
            bytes: run.bytes,
            excluded: run.excluded,
            unread: run.unread.iter().map(UnreadTranscriptJson::new).collect(),
        };
        let enrichment = estimates.map(|all| all.iter().map(enrich::EnrichmentEstimateJson::new).collect());
        Self { schema: SCHEMA, dry_run: true, agents: runs.iter().map(agent).collect(), enrichment }
    }
}

/// Sizes, counts, budget and index state.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StatusJson<'a> {
    schema: u8,
    version: &'static str,
    home: String,
    /// The agents that were used on this machine.
    agents: Vec<agents::FoundAgentJson>,
    database_bytes: u64,
    index_bytes: u64,
    /// Entries not indexed yet; null if there is no usable index.
    index_lag: Option<u64>,
    /// Null before the first sync.
    store_schema: Option<u64>,
    sessions: u64,
    /// Sessions of sub-agents.
    children: u64,
    /// Sessions without content worth listing, such as a lone `/exit`.
    empty: u64,
    entries: u64,
    episodes: u64,
    facts: u64,
    transcripts: u64,
    bytes_read: u64,
    /// The change number: grows with every stored change.
    change: u64,
    /// Secrets replaced, by rule.
    redactions: BTreeMap<&'a str, u64>,
    /// How much filtering saves, by type of session.
    reduction: Vec<ReductionJson>,
    tiers: MemoryTiersJson,
    budget: BudgetJson,
    enrichment: enrich::EnrichmentStatusJson<'a>,
}

/// How much is in each tier of memory.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct MemoryTiersJson {
    hot_entries: u64,
    /// Sessions of the last week.
    recent_sessions: u64,
    /// Sessions before that.
    older_sessions: u64,
    /// Archived periods of work.
    archives: u64,
    archive_bytes: u64,
}

/// Daily limits for model requests, and what was spent today. A limit is null if it is not set.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct BudgetJson {
    daily_tokens: Option<u64>,
    daily_usd: Option<f64>,
    requests: u64,
    tokens: u64,
    usd: f64,
}

impl BudgetJson {
    fn new(budget: &BudgetStatus) -> Self {
        Self {
            daily_tokens: budget.daily_tokens,
            daily_usd: budget.daily_usd.map(dollars),
            requests: budget.requests,
            tokens: budget.tokens,
            usd: dollars(budget.usd),
        }
    }
}

/// How much of the transcripts of one type of session is kept.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReductionJson {
    #[serde(rename = "type")]
    kind: &'static str,
    sessions: u64,
    raw_tokens: u64,
    kept_tokens: u64,
    /// Share of the tokens that was filtered out, 0 to 100; null if there were none.
    percent: Option<f64>,
}

impl<'a> StatusJson<'a> {
    pub(crate) fn new(status: &'a EngineStatus) -> Self {
        let statistics = status.statistics.as_ref();
        let reduction = status.reductions.iter().map(|kind| ReductionJson {
            kind: kind.session_type.as_str(),
            sessions: kind.sessions,
            raw_tokens: kind.raw_tokens,
            kept_tokens: kind.kept_tokens,
            percent: reduction_percent(kind.raw_tokens, kind.kept_tokens)
                .map(|percent| (percent * 10.0).round() / 10.0),
        });
        let redactions = statistics.into_iter().flat_map(|all| &all.redactions);
        Self {
            schema: SCHEMA,
            agents: status.agents.iter().map(agents::FoundAgentJson::new).collect(),
            version: status.version,
            home: status.folder.display().to_string(),
            database_bytes: status.database_bytes,
            index_bytes: status.index_bytes,
            index_lag: match status.index_lag {
                IndexLag::None => Some(0),
                IndexLag::Entries(entries) => Some(entries),
                IndexLag::Unusable(_) => None,
            },
            store_schema: statistics.map(|all| all.schema),
            sessions: statistics.map_or(0, |all| all.sessions),
            children: statistics.map_or(0, |all| all.child_sessions),
            empty: statistics.map_or(0, |all| all.empty_sessions),
            entries: statistics.map_or(0, |all| all.entries),
            episodes: statistics.map_or(0, |all| all.episodes),
            facts: statistics.map_or(0, |all| all.facts),
            transcripts: statistics.map_or(0, |all| all.transcripts),
            bytes_read: statistics.map_or(0, |all| all.bytes_read),
            change: statistics.map_or(0, |all| all.change),
            redactions: redactions.map(|(rule, count)| (rule.as_str(), *count)).collect(),
            reduction: reduction.collect(),
            tiers: MemoryTiersJson {
                hot_entries: status.tiers.counts.hot_entries,
                recent_sessions: status.tiers.counts.recent_sessions,
                older_sessions: status.tiers.counts.older_sessions,
                archives: status.tiers.archive_count,
                archive_bytes: status.tiers.archive_bytes,
            },
            budget: BudgetJson::new(&status.budget),
            enrichment: enrich::EnrichmentStatusJson::new(&status.enrichment),
        }
    }
}

/// The checks of `rethread doctor`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DiagnosisJson<'a> {
    schema: u8,
    /// False if any finding is a problem.
    ok: bool,
    findings: Vec<FindingJson<'a>>,
}

/// One check: `health` is `ok`, `info` or `problem`.
#[derive(Serialize, JsonSchema)]
struct FindingJson<'a> {
    area: &'a str,
    health: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> DiagnosisJson<'a> {
    pub(crate) fn new(diagnosis: &'a Diagnosis) -> Self {
        let findings = diagnosis.findings.iter().map(|finding| FindingJson {
            area: &finding.area,
            health: match finding.level {
                FindingLevel::Ok => "ok",
                FindingLevel::Info => "info",
                FindingLevel::Problem => "problem",
            },
            message: &finding.message,
            hint: finding.hint.as_deref(),
        });
        Self { schema: SCHEMA, ok: !diagnosis.has_problems(), findings: findings.collect() }
    }
}

/// The result of `rethread debug verify`.
#[derive(Serialize)]
pub(crate) struct VerifyReportJson<'a> {
    schema: u8,
    ok: bool,
    sessions: u64,
    checks: &'a [&'static str],
    damage: Vec<DamageJson<'a>>,
}

#[derive(Serialize)]
struct DamageJson<'a> {
    check: &'static str,
    found: &'a str,
}

impl<'a> VerifyReportJson<'a> {
    pub(crate) fn new(report: &'a VerifyReport) -> Self {
        let damage = report.damage.iter().map(|damage| DamageJson { check: damage.check, found: &damage.detail });
        Self {
            schema: SCHEMA,
            ok: report.damage.is_empty(),
            sessions: report.sessions,
            checks: &report.checks,
            damage: damage.collect(),
        }
    }
}

/// All settings, each with the layer it comes from.
#[derive(Serialize)]
pub(crate) struct ConfigJson<'a> {
    schema: u8,
    path: String,
    settings: Vec<SettingJson<'a>>,
}

#[derive(Serialize)]
struct SettingJson<'a> {
    key: &'static str,
    value: SettingValueJson<'a>,
    origin: String,
    changed: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SettingValueJson<'a> {
    Flag(bool),
    Number(u64),
    Text(&'a str),
    List(&'a [String]),
}

impl<'a> ConfigJson<'a> {
    pub(crate) fn new(path: &std::path::Path, settings: &'a [Setting]) -> Self {
        let set = |setting: &'a Setting| SettingJson {
            key: &setting.key.name,
            value: match &setting.value {
                SettingValue::Flag(flag) => SettingValueJson::Flag(*flag),
                SettingValue::Number(number) => SettingValueJson::Number(*number),
                SettingValue::Text(text) => SettingValueJson::Text(text),
                SettingValue::List(list) => SettingValueJson::List(list),
            },
            origin: setting.layer.to_string(),
            changed: setting.layer != ConfigLayer::Default,
        };
        Self { schema: SCHEMA, path: path.display().to_string(), settings: settings.iter().map(set).collect() }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes_control_characters_that_json_allows() {
        let text = super::to_json_line(&"a\u{9b}b\u{202e}c\u{7f}\u{e0041}\n").unwrap();
        assert_eq!(text, r#""a\u009bb\u202ec\u007f\udb40\udc41\n""#);
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "a\u{9b}b\u{202e}c\u{7f}\u{e0041}\n");
    }
}
