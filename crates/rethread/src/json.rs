//! What programs get: the wire shapes of `--json`. Names here are a public contract; keys are added, never renamed.

mod awareness;
mod card;
mod conversation;
mod enrich;
mod facts;
mod forget;
mod frame;
mod install;
mod question;
mod reference;
mod search;
mod serve;
mod session;
mod shape;
mod thread;
mod timeline;
mod turn;
mod usage;

use std::collections::BTreeMap;

use rethread_engine::{
    AgentReport, BudgetStatus, Diagnosis, DryRun, EnrichmentEstimate, Health, IndexLag, Layer, NanoUsd, Setting,
    Status, SyncReport, Value, VerifyReport,
};
use rethread_model::{Timestamp, is_dangerous};
use schemars::JsonSchema;
use serde::Serialize;

use crate::failure::Failure;
use crate::render::{age, reduction};

pub(crate) use awareness::{Awareness, Injections};
pub(crate) use card::{Card, RefreshedCard};
pub(crate) use conversation::{Conversations, LogPiece, OneConversation, Resumed};
pub(crate) use enrich::{Cleared, Enriched, NotEnriched, WouldEnrich};
pub(crate) use facts::{Decided, FileStory, Fixed, Known, Worked};
pub(crate) use forget::Forgotten;
pub(crate) use frame::{Asked, Frame, OfferedTool, Told};
pub(crate) use install::Installed;
pub(crate) use question::{Answered, HandedOff, WouldAsk};
pub(crate) use reference::Resolved;
pub(crate) use search::Recall;
pub(crate) use serve::{Link, Serving, Token};
pub(crate) use session::{Exchanges, Sessions, Shown};
pub(crate) use thread::{Appended, Compacted, Context, DeletedThread, MadeThread, ThreadList, WouldSend};
pub(crate) use timeline::Happenings;
pub(crate) use turn::record_of;
pub(crate) use usage::Usage;

/// The version of all shapes in this file.
pub(crate) const SCHEMA: u8 = 1;

/// JSON on one line. Control characters that JSON allows in strings are escaped too, for whoever looks at it.
pub(crate) fn text(value: &impl Serialize) -> Result<String, serde_json::Error> {
    let text = serde_json::to_string(value)?;
    if !text.contains(is_dangerous) {
        return Ok(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_dangerous(c) {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
    Ok(out)
}

/// Money as programs read it.
pub(crate) fn dollars(sum: NanoUsd) -> f64 {
    sum.get() as f64 / 1e9
}

/// A failure.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Error")]
pub(crate) struct Failed {
    schema: u8,
    error: Problem,
}

#[derive(Serialize, JsonSchema)]
struct Problem {
    code: &'static str,
    /// Our own name for it, where the code is another's.
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    message: String,
    hint: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    candidates: Vec<Candidate>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ErrorCandidate")]
struct Candidate {
    id: String,
    age: String,
    agent: &'static str,
    name: Option<String>,
}

impl Failed {
    /// A failure as seen now.
    pub(crate) fn new(failure: &Failure, now: Timestamp) -> Self {
        let candidates = failure.candidates.iter().map(|session| Candidate {
            id: session.id.to_string(),
            age: age(session.last_activity_at, now),
            agent: session.agent.as_str(),
            name: session.name.clone(),
        });
        let hint = (!failure.hints.is_empty()).then(|| failure.hints.join("; "));
        let error = Problem {
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

/// What a sync did.
#[derive(Serialize, JsonSchema)]
pub(crate) struct Synced<'a> {
    schema: u8,
    agents: Vec<SyncedAgent<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    embeddings: Option<Embedded<'a>>,
    seconds: f64,
}

/// Only there when an embedding model is configured.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Embeddings")]
struct Embedded<'a> {
    made: u64,
    more: bool,
    failed: Option<&'a str>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SyncedAgent<'a> {
    agent: &'static str,
    files: u64,
    files_changed: u64,
    sessions: u64,
    entries: u64,
    episodes: u64,
    facts: u64,
    bytes_read: u64,
    redactions: u64,
    warnings: Vec<Warned<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Warning")]
struct Warned<'a> {
    file: &'a str,
    line: Option<u64>,
    message: &'a str,
}

impl<'a> Synced<'a> {
    pub(crate) fn new(report: &'a SyncReport) -> Self {
        let agent = |report: &'a AgentReport| SyncedAgent {
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
                .map(|warning| Warned { file: &warning.file, line: warning.line, message: &warning.message })
                .collect(),
        };
        Self {
            schema: SCHEMA,
            agents: report.agents.iter().map(agent).collect(),
            embeddings: report.embeddings.as_ref().map(|report| Embedded {
                made: report.made,
                more: report.more,
                failed: report.failed.as_deref(),
            }),
            seconds: (report.seconds * 1000.0).round() / 1000.0,
        }
    }
}

/// What a sync would do.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WouldSync {
    schema: u8,
    dry_run: bool,
    agents: Vec<WouldSyncAgent>,
    /// Only there when a model is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    enrichment: Option<Vec<enrich::Estimated>>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct WouldSyncAgent {
    agent: &'static str,
    files: u64,
    files_changed: u64,
    bytes: u64,
    excluded: u64,
}

impl WouldSync {
    pub(crate) fn new(runs: &[DryRun], estimates: Option<&[EnrichmentEstimate]>) -> Self {
        let agent = |run: &DryRun| WouldSyncAgent {
            agent: run.agent.as_str(),
            files: run.files,
            files_changed: run.files_changed,
            bytes: run.bytes,
            excluded: run.excluded,
        };
        let enrichment = estimates.map(|all| all.iter().map(enrich::Estimated::new).collect());
        Self { schema: SCHEMA, dry_run: true, agents: runs.iter().map(agent).collect(), enrichment }
    }
}

/// Sizes and counts.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Status")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Stated<'a> {
    schema: u8,
    version: &'static str,
    home: String,
    database_bytes: u64,
    index_bytes: u64,
    /// Entries not indexed yet; nothing if there is no usable index.
    index_lag: Option<u64>,
    store_schema: Option<u64>,
    sessions: u64,
    children: u64,
    empty: u64,
    entries: u64,
    episodes: u64,
    facts: u64,
    transcripts: u64,
    bytes_read: u64,
    change: u64,
    redactions: BTreeMap<&'a str, u64>,
    reduction: Vec<Reduced>,
    tiers: Tiered,
    budget: Budgeted,
    enrichment: enrich::Standing<'a>,
}

/// How much lies in which tier of memory.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Tiers")]
#[serde(rename_all = "camelCase")]
struct Tiered {
    hot_entries: u64,
    warm_sessions: u64,
    cold_sessions: u64,
    archives: u64,
    archive_bytes: u64,
}

/// What may be spent on models in a day, and what was today.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Budget")]
#[serde(rename_all = "camelCase")]
struct Budgeted {
    daily_tokens: Option<u64>,
    daily_usd: Option<f64>,
    requests: u64,
    tokens: u64,
    usd: f64,
}

impl Budgeted {
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

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Reduced {
    #[serde(rename = "type")]
    kind: &'static str,
    sessions: u64,
    raw_tokens: u64,
    kept_tokens: u64,
    percent: Option<f64>,
}

impl<'a> Stated<'a> {
    pub(crate) fn new(status: &'a Status) -> Self {
        let statistics = status.statistics.as_ref();
        let reduction = status.kept.iter().map(|kind| Reduced {
            kind: kind.kind.as_str(),
            sessions: kind.sessions,
            raw_tokens: kind.raw_tokens,
            kept_tokens: kind.kept_tokens,
            percent: reduction(kind.raw_tokens, kind.kept_tokens).map(|percent| (percent * 10.0).round() / 10.0),
        });
        let redactions = statistics.into_iter().flat_map(|all| &all.redactions);
        Self {
            schema: SCHEMA,
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
            children: statistics.map_or(0, |all| all.children),
            empty: statistics.map_or(0, |all| all.empty),
            entries: statistics.map_or(0, |all| all.entries),
            episodes: statistics.map_or(0, |all| all.episodes),
            facts: statistics.map_or(0, |all| all.facts),
            transcripts: statistics.map_or(0, |all| all.transcripts),
            bytes_read: statistics.map_or(0, |all| all.bytes_read),
            change: statistics.map_or(0, |all| all.change),
            redactions: redactions.map(|(rule, count)| (rule.as_str(), *count)).collect(),
            reduction: reduction.collect(),
            tiers: Tiered {
                hot_entries: status.tiers.tiers.hot,
                warm_sessions: status.tiers.tiers.warm,
                cold_sessions: status.tiers.tiers.cold,
                archives: status.tiers.archives,
                archive_bytes: status.tiers.archive_bytes,
            },
            budget: Budgeted::new(&status.budget),
            enrichment: enrich::Standing::new(&status.enrichment),
        }
    }
}

/// What is well and what is not.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Diagnosis")]
pub(crate) struct Diagnosed<'a> {
    schema: u8,
    ok: bool,
    findings: Vec<Found<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Finding")]
struct Found<'a> {
    area: &'a str,
    health: &'static str,
    message: &'a str,
    hint: Option<&'a str>,
}

impl<'a> Diagnosed<'a> {
    pub(crate) fn new(diagnosis: &'a Diagnosis) -> Self {
        let findings = diagnosis.findings.iter().map(|finding| Found {
            area: &finding.area,
            health: match finding.health {
                Health::Well => "well",
                Health::Note => "note",
                Health::Ill => "ill",
            },
            message: &finding.message,
            hint: finding.hint.as_deref(),
        });
        Self { schema: SCHEMA, ok: !diagnosis.is_ill(), findings: findings.collect() }
    }
}

/// What a check found.
#[derive(Serialize)]
pub(crate) struct Verified<'a> {
    schema: u8,
    ok: bool,
    sessions: u64,
    checks: &'a [&'static str],
    damage: Vec<Damaged<'a>>,
}

#[derive(Serialize)]
struct Damaged<'a> {
    check: &'static str,
    found: &'a str,
}

impl<'a> Verified<'a> {
    pub(crate) fn new(report: &'a VerifyReport) -> Self {
        let damage = report.damage.iter().map(|damage| Damaged { check: damage.check, found: &damage.found });
        Self {
            schema: SCHEMA,
            ok: report.damage.is_empty(),
            sessions: report.sessions,
            checks: &report.checks,
            damage: damage.collect(),
        }
    }
}

/// All settings.
#[derive(Serialize)]
pub(crate) struct Configured<'a> {
    schema: u8,
    path: String,
    settings: Vec<Set<'a>>,
}

#[derive(Serialize)]
struct Set<'a> {
    key: &'static str,
    value: Plain<'a>,
    origin: String,
    changed: bool,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Plain<'a> {
    Flag(bool),
    Number(u64),
    Text(&'a str),
    List(&'a [String]),
}

impl<'a> Configured<'a> {
    pub(crate) fn new(path: &std::path::Path, settings: &'a [Setting]) -> Self {
        let set = |setting: &'a Setting| Set {
            key: setting.key.name,
            value: match &setting.value {
                Value::Flag(flag) => Plain::Flag(*flag),
                Value::Number(number) => Plain::Number(*number),
                Value::Text(text) => Plain::Text(text),
                Value::List(list) => Plain::List(list),
            },
            origin: setting.layer.to_string(),
            changed: setting.layer != Layer::Default,
        };
        Self { schema: SCHEMA, path: path.display().to_string(), settings: settings.iter().map(set).collect() }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn control_characters_that_json_allows_are_escaped_too() {
        let text = super::text(&"a\u{9b}b\u{202e}c\u{7f}\u{e0041}\n").unwrap();
        assert_eq!(text, r#""a\u009bb\u202ec\u007f\udb40\udc41\n""#);
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), "a\u{9b}b\u{202e}c\u{7f}\u{e0041}\n");
    }
}
