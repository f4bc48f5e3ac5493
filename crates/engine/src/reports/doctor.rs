//! Checks for `doctor`: finds problems with sources, hooks, store, model and configuration, and suggests fixes.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rethread_index::{IndexLag, IndexProblem, index_lag};
use rethread_ingest::agents::format_of;
use rethread_ingest::source;
use rethread_llm::{ChatLimits, NanoUsd};
use rethread_model::{Agent, counted};
use rethread_store::ReadStore;

use super::AgentCoverage;
use crate::{EngineError, ModelError, ReportService};

/// At most this many problems are listed one by one; the rest are counted.
const MAX_PROBLEMS_LISTED: usize = 5;
/// Of an agent with more places than this, they are summed up.
const MAX_PLACES: usize = 4;

/// With less free space than this, a sync may fail.
const MIN_FREE_BYTES: u64 = 50_000_000;
const REPLACE_HINT: &str = "run: rethread rebuild (it keeps the file, begins a new store and carries over what it can)";

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FindingLevel {
    /// Works as intended.
    Ok,
    /// Worth knowing, no action needed.
    Info,
    /// Needs to be fixed.
    Problem,
}

/// The result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was checked: a source, the store, the configuration …
    pub area: String,
    /// How severe it is.
    pub level: FindingLevel,
    /// What was found, as a sentence.
    pub message: String,
    /// How to fix it, with a command.
    pub hint: Option<String>,
}

/// The results of all checks.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// In the order of the checks.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// Whether any finding is a problem.
    pub fn has_problems(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == FindingLevel::Problem)
    }

    pub(crate) fn add(&mut self, area: &str, health: FindingLevel, message: String, hint: Option<&str>) {
        self.findings.push(Finding { area: area.to_owned(), level: health, message, hint: hint.map(str::to_owned) });
    }
}

impl ReportService<'_> {
    /// Checks sources, hooks, store, model and configuration. Changes nothing.
    pub fn doctor(self) -> Result<Diagnosis, EngineError> {
        let mut diagnosis = Diagnosis::default();
        self.check_sources(&mut diagnosis);
        self.engine.sync().check_aliases(&mut diagnosis);
        self.engine.install().check_hooks(&mut diagnosis);
        self.check_store(&mut diagnosis);
        self.check_set_aside(&mut diagnosis);
        self.check_disk(&mut diagnosis);
        self.check_model(&mut diagnosis);
        self.check_enrichment(&mut diagnosis);
        self.check_config(&mut diagnosis);
        Ok(diagnosis)
    }

    fn check_sources(self, diagnosis: &mut Diagnosis) {
        let store = self.engine.reader().ok().flatten();
        let work_dirs = store.as_ref().and_then(|store| store.work_dirs().ok()).unwrap_or_default();
        let source_config = self.engine.source_config_with(&work_dirs);
        let mut total = 0;
        for agent in self.agents_in(store.as_ref()).unwrap_or_default() {
            let Some(readable) = agent.agent else {
                let message = format!("{}: {}", agent.label, agent.coverage.explanation().unwrap_or_default());
                diagnosis.add("agents", FindingLevel::Info, message, None);
                continue;
            };
            let found = self.check_roots(readable, &source_config, diagnosis);
            total += found.len();
            if let AgentCoverage::OptIn { .. } | AgentCoverage::NotSelected = agent.coverage {
                let message = agent.coverage.explanation().unwrap_or_default();
                diagnosis.add(readable.as_str(), FindingLevel::Info, message, None);
            }
            self.check_retention(format_of(readable), &found, store.as_ref(), diagnosis);
        }
        if total == 0 {
            let message = "no transcripts of any agent found".to_owned();
            let hint = "start an agent once, or add its directory, as in: rethread config set sources.claude-code DIR \
                        (docs/agents.md lists the agents)";
            diagnosis.add("sources", FindingLevel::Problem, message, Some(hint));
        }
    }

    /// Says what is in the places of an agent, and returns it.
    fn check_roots(
        self,
        agent: Agent,
        source_config: &source::SourceConfig,
        diagnosis: &mut Diagnosis,
    ) -> Vec<source::TranscriptFile> {
        let (mut all, mut places): (Vec<source::TranscriptFile>, Vec<(String, u64)>) = (Vec::new(), Vec::new());
        let mut details = Diagnosis::default();
        for root in source::roots(agent, source_config) {
            let (found, warnings) = source::discover(&root, &|_, _| false);
            let place = format!("{} ({})", root.path.display(), root.reason);
            match places.iter_mut().find(|(known, _)| *known == place) {
                Some((_, count)) => *count += found.len() as u64,
                // An empty place is worth a line only if the user named it.
                None if found.is_empty() && !is_chosen(root.reason) => {}
                None => places.push((place, found.len() as u64)),
            }
            details.findings.extend(self.current_directory_finding(&root, &found));
            for warning in warnings.iter().take(MAX_PROBLEMS_LISTED) {
                let message = format!("{}: {}", warning.file, warning.message);
                details.add(agent.as_str(), FindingLevel::Info, message, None);
            }
            all.extend(found);
        }
        let shown = if places.len() > MAX_PLACES { 1 } else { places.len() };
        if shown < places.len() {
            places[0] = (format!("{} places, such as {}", places.len(), places[0].0), all.len() as u64);
        }
        for (place, count) in &places[..shown] {
            let health = if *count == 0 { FindingLevel::Info } else { FindingLevel::Ok };
            let message = format!("{} in {place}", counted(*count, "transcript", "transcripts"));
            diagnosis.add(agent.as_str(), health, message, None);
        }
        if all.is_empty() && places.is_empty() {
            diagnosis.add(agent.as_str(), FindingLevel::Info, "no transcripts yet".to_owned(), None);
        }
        diagnosis.findings.append(&mut details.findings);
        all
    }

    /// How many transcripts an agent probably wrote for the current directory. An estimate: several directories can
    /// share one folder.
    fn current_directory_finding(
        self,
        root: &source::TranscriptRoot,
        found: &[source::TranscriptFile],
    ) -> Option<Finding> {
        let folders = root.layout.project_folders.filter(|folders| folders.are_complete && !found.is_empty())?;
        let folder = (folders.name)(&self.engine.environment.cwd.to_string_lossy());
        let here = found.iter().filter(|one| one.path.components().any(|part| part.as_os_str() == folder.as_str()));
        let message = format!("{} of them belong to the current directory, judged by their folder name", here.count());
        Some(Finding { area: root.agent.to_string(), level: FindingLevel::Info, message, hint: None })
    }

    fn check_store(self, diagnosis: &mut Diagnosis) {
        let area = "store";
        let store = match self.engine.reader() {
            Ok(Some(store)) => store,
            Ok(None) => {
                let message = format!("no store in {} yet: nothing synced", self.engine.folder.display());
                return diagnosis.add(area, FindingLevel::Problem, message, Some("run: rethread sync"));
            }
            Err(error) => {
                let hint = error.is_store_unusable().then_some(REPLACE_HINT);
                return diagnosis.add(area, FindingLevel::Problem, with_cause(&error), hint);
            }
        };
        if self.engine.location().is_damaged() {
            let message = format!("the store {} is damaged", self.engine.location());
            diagnosis.add(area, FindingLevel::Problem, message, Some(REPLACE_HINT));
        }
        let changed = self.changed_entries(&store).unwrap_or_default();
        if changed > 0 {
            let message = format!("{changed} stored entries are not as they were written; the disk may be failing");
            diagnosis.add(area, FindingLevel::Problem, message, Some("run: rethread rebuild"));
        }
        match store.statistics() {
            Ok(statistics) => {
                let sessions = counted(statistics.sessions, "session", "sessions");
                let entries = counted(statistics.entries, "entry", "entries");
                diagnosis.add(area, FindingLevel::Ok, format!("{sessions}, {entries}"), None);
            }
            Err(error) => diagnosis.add(area, FindingLevel::Problem, with_cause(&error), Some(REPLACE_HINT)),
        }
        if store.needs_wipe().unwrap_or_default() {
            let message = "forgotten text is not yet erased from the store's files".to_owned();
            diagnosis.add(
                area,
                FindingLevel::Problem,
                message,
                Some("stop other rethread processes, then run: rethread sync"),
            );
        }
        let waiting = self.engine.hooks().spooled_count();
        if waiting > 0 {
            let message = format!("{waiting} hook events wait, because the store was in use when they happened");
            diagnosis.add(area, FindingLevel::Info, message, Some("run: rethread sync"));
        }
        self.check_index(&store, diagnosis);
        let is_loose = |folder: &Path| fs::metadata(folder).is_ok_and(|data| data.permissions().mode() & 0o077 != 0);
        if is_loose(&self.engine.folder) || self.engine.location().is_readable_by_others() {
            let message = format!("other users can read {}", self.engine.folder.display());
            let hint = format!("run: chmod -R go-rwx {}", self.engine.folder.display());
            diagnosis.add(area, FindingLevel::Problem, message, Some(&hint));
        }
        let problems = store.transcript_problems().unwrap_or_default();
        for problem in problems.iter().take(MAX_PROBLEMS_LISTED) {
            let message = format!("{}:{}: {}", problem.path, problem.line, problem.message);
            diagnosis.add("transcripts", FindingLevel::Info, message, None);
        }
        if problems.len() > MAX_PROBLEMS_LISTED {
            let message = format!("{} more transcript lines could not be read", problems.len() - MAX_PROBLEMS_LISTED);
            diagnosis.add("transcripts", FindingLevel::Info, message, None);
        }
    }

    /// How many entries are not as they were written. All are read for that, so a server does it once per change.
    fn changed_entries(self, store: &ReadStore) -> Result<usize, EngineError> {
        let count = || Ok(store.changed_entries()?.len());
        Ok(*self.engine.folds.changed_entries.get(store.head()?, (), count)?)
    }

    /// Stores that had to be replaced: the files stay until the user deletes them.
    fn check_set_aside(self, diagnosis: &mut Diagnosis) {
        for old in self.engine.maintenance().set_aside_stores() {
            let path = old.location;
            if old.is_carried_over {
                let message = format!("an earlier store was replaced and carried over; its file is kept: {path}");
                diagnosis.add("store", FindingLevel::Info, message, None);
            } else {
                let message = format!("an earlier store was replaced and is not carried over yet: {path}");
                diagnosis.add("store", FindingLevel::Problem, message, Some("run: rethread sync"));
            }
        }
    }

    /// A full disk stops every write, while reading goes on as if nothing was wrong.
    fn check_disk(self, diagnosis: &mut Diagnosis) {
        let Some(folder) = self.engine.folder.ancestors().find(|folder| folder.exists()) else { return };
        let Ok(disk) = rustix::fs::statvfs(folder) else { return };
        let free = disk.f_bavail.saturating_mul(disk.f_frsize);
        if free < MIN_FREE_BYTES {
            let message = format!("only {} MB free on the disk of {}", free / 1_000_000, self.engine.folder.display());
            diagnosis.add("disk", FindingLevel::Problem, message, Some("free some space: nothing new can be stored"));
        }
    }

    fn check_index(self, store: &ReadStore, diagnosis: &mut Diagnosis) {
        let area = "index";
        match index_lag(&self.engine.index().folder(), store, u64::MAX) {
            Ok(IndexLag::None) => diagnosis.add(area, FindingLevel::Ok, "all entries are indexed".to_owned(), None),
            Ok(IndexLag::Entries(entries)) => {
                let message = format!("up to {entries} entries not indexed yet; search reads them from the store");
                diagnosis.add(area, FindingLevel::Info, message, None);
            }
            Ok(IndexLag::Unusable(why)) => {
                let message = format!("the search index {}; the next sync or search builds it", describe_unusable(why));
                diagnosis.add(area, FindingLevel::Info, message, None);
            }
            Err(error) => {
                diagnosis.add(
                    area,
                    FindingLevel::Problem,
                    with_cause(&error),
                    Some("run: rethread rebuild --index-only"),
                );
            }
        }
    }

    /// A model is optional, but a configured one needs its key and a budget.
    fn check_model(self, diagnosis: &mut Diagnosis) {
        let area = "model";
        let model = match self.engine.models().configured(None, ChatLimits::BACKGROUND) {
            Ok(model) => model.chat,
            Err(ModelError::NotConfigured) => {
                let message = "no language model configured (optional)".to_owned();
                return diagnosis.add(area, FindingLevel::Info, message, None);
            }
            Err(error) => {
                return diagnosis.add(
                    area,
                    FindingLevel::Problem,
                    with_cause(&error),
                    Some("run: rethread config show"),
                );
            }
        };
        let budget = self.engine.models().budget();
        let (name, endpoint) = (model.model(), model.endpoint());
        if budget.daily_tokens == 0 && budget.daily_usd == NanoUsd::default() {
            let message = format!("{name} at {endpoint} is configured without a budget, so no requests are sent");
            let hint = "run: rethread config set budget.daily_usd 1, or budget.daily_tokens 100000";
            return diagnosis.add(area, FindingLevel::Problem, message, Some(hint));
        }
        if budget.daily_usd > NanoUsd::default() && model.price().is_none() {
            let message = format!("the price of {name} is unknown, so the budget in dollars blocks all requests");
            let hint = "run: rethread config set model.price_input USD, and the same for model.price_output";
            return diagnosis.add(area, FindingLevel::Problem, message, Some(hint));
        }
        diagnosis.add(area, FindingLevel::Ok, format!("{name} at {endpoint}"), None);
    }

    /// Only if a model is configured to add facts: without it there is nothing to check.
    fn check_enrichment(self, diagnosis: &mut Diagnosis) {
        if !self.engine.settings().facts.model {
            return;
        }
        let area = "facts";
        let status = self.engine.reader().and_then(|store| self.engine.enrichment().status(store.as_ref()));
        let status = match status {
            Ok(status) => status,
            Err(error) => {
                return diagnosis.add(area, FindingLevel::Problem, with_cause(&error), Some("run: rethread verify"));
            }
        };
        let reason = status.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let waiting = format!("{} waiting, {} failed", counted(status.queued, "session", "sessions"), status.failed);
        let (health, how) = match status.level {
            0 => (FindingLevel::Ok, "a model extracts facts in addition to the rules"),
            1 => (FindingLevel::Info, "the model cannot be reached; sessions wait for it"),
            _ => (FindingLevel::Info, "facts are extracted by rules only"),
        };
        diagnosis.add(area, health, format!("{how}{reason}: {waiting}"), None);
        if status.failed > 0 {
            let failed = counted(status.failed, "session; it is", "sessions; they are");
            let message = format!("the model failed for {failed} not retried");
            diagnosis.add(area, FindingLevel::Info, message, Some("run: rethread enrich --failed"));
        }
    }

    fn check_config(self, diagnosis: &mut Diagnosis) {
        let problems = self.engine.config.problems().iter().map(ToString::to_string);
        // In a process that runs for long.
        let rejected =
            self.engine.config.rejected().map(|reason| format!("{reason}; the last valid settings still apply"));
        // Nothing is read while it is unknown what must not be.
        let exclude =
            self.engine.sync().exclude_rules().err().map(|error| format!("intake.exclude: {}", with_cause(&error)));
        let problems: Vec<String> = problems.chain(rejected).chain(exclude).collect();
        let is_valid = problems.is_empty();
        for message in problems {
            diagnosis.add("config", FindingLevel::Problem, message, Some("run: rethread config show --origin"));
        }
        if is_valid {
            let entries = self.engine.config.entries().iter();
            let changed = entries.filter(|setting| setting.layer != crate::ConfigLayer::Default).count();
            let (one, many) = ("setting changed from its default", "settings changed from their defaults");
            diagnosis.add("config", FindingLevel::Ok, counted(changed as u64, one, many), None);
        }
    }
}

/// Whether a place is searched because the user said so: in the configuration or with a variable.
fn is_chosen(reason: &str) -> bool {
    reason == "config" || reason.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_')
}

/// Why an index cannot be used, as the end of a sentence.
fn describe_unusable(why: IndexProblem) -> &'static str {
    match why {
        IndexProblem::Missing => "does not exist",
        IndexProblem::Damaged => "is damaged",
        IndexProblem::OtherVersion => "was created by another version of rethread",
        IndexProblem::OtherStore => "was created from another store",
    }
}

pub(crate) fn with_cause(error: &dyn std::error::Error) -> String {
    match error.source() {
        None => error.to_string(),
        Some(cause) => format!("{error} ({cause})"),
    }
}
