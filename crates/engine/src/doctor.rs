//! What is well, what is not, and how to mend it.

use std::os::unix::fs::PermissionsExt;

use rethread_index::{Lag, Unusable, lag};
use rethread_ingest::source::{self, project};
use rethread_llm::{ChatLimits, NanoUsd};
use rethread_model::Agent;
use rethread_store::Store;

use crate::{Engine, EngineError, ModelError};

/// How many single problems are named before the rest is only counted.
const MOST_NAMED: usize = 5;

/// How something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Health {
    /// As it should be.
    Well,
    /// Worth knowing, nothing to do.
    Note,
    /// Needs mending.
    Ill,
}

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at: a source, the store, the configuration.
    pub area: String,
    /// How it is.
    pub health: Health,
    /// What was found.
    pub message: String,
    /// How to mend it.
    pub hint: Option<String>,
}

/// Everything that was looked at.
#[derive(Clone, Debug, Default)]
pub struct Diagnosis {
    /// In the order it was looked at.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// Whether anything needs mending.
    pub fn is_ill(&self) -> bool {
        self.findings.iter().any(|finding| finding.health == Health::Ill)
    }

    pub(crate) fn add(&mut self, area: &str, health: Health, message: String, hint: Option<&str>) {
        self.findings.push(Finding { area: area.to_owned(), health, message, hint: hint.map(str::to_owned) });
    }
}

impl Engine {
    /// Looks at each source, the hooks, the store and the configuration. Changes nothing.
    pub fn doctor(&self) -> Result<Diagnosis, EngineError> {
        let mut diagnosis = Diagnosis::default();
        self.look_at_sources(&mut diagnosis);
        self.look_at_hooks(&mut diagnosis);
        self.look_at_store(&mut diagnosis);
        self.look_at_model(&mut diagnosis);
        self.look_at_enrichment(&mut diagnosis);
        self.look_at_config(&mut diagnosis);
        Ok(diagnosis)
    }

    fn look_at_sources(&self, diagnosis: &mut Diagnosis) {
        let surroundings = self.surroundings();
        let mut total = 0;
        for agent in Agent::OTHERS {
            for root in source::roots(agent, &surroundings) {
                let (found, warnings) = source::discover(&root);
                total += found.len();
                let noun = if found.len() == 1 { "transcript" } else { "transcripts" };
                let message = format!("{} {noun} found in {} ({})", found.len(), root.path.display(), root.reason);
                let health = if found.is_empty() { Health::Note } else { Health::Well };
                diagnosis.add(agent.as_str(), health, message, None);
                if agent == Agent::ClaudeCode && !found.is_empty() {
                    diagnosis.findings.push(self.this_directory(&found));
                }
                for warning in warnings.iter().take(MOST_NAMED) {
                    let message = format!("{}: {}", warning.file, warning.message);
                    diagnosis.add(agent.as_str(), Health::Note, message, None);
                }
            }
        }
        if total == 0 {
            diagnosis.add(
                "sources",
                Health::Ill,
                "no transcripts of any agent were found".to_owned(),
                Some("start an agent once, or name another directory: rethread config set sources.claude-code DIR"),
            );
        }
    }

    /// How many of the transcripts Claude Code probably wrote for the current directory. Only a hint: several
    /// directories can share one folder.
    fn this_directory(&self, found: &[source::Found]) -> Finding {
        let folder = project::claude_folder_name(&self.environment.cwd.to_string_lossy());
        let here = found.iter().filter(|one| one.path.components().any(|part| part.as_os_str() == folder.as_str()));
        let message =
            format!("{} of them are of this directory, as far as the name of their folder tells", here.count());
        Finding { area: Agent::ClaudeCode.to_string(), health: Health::Note, message, hint: None }
    }

    fn look_at_store(&self, diagnosis: &mut Diagnosis) {
        let area = "store";
        let store = match self.reader() {
            Ok(Some(store)) => store,
            Ok(None) => {
                let message = format!("there is no store in {} yet", self.folder.display());
                return diagnosis.add(area, Health::Ill, message, Some("run: rethread sync"));
            }
            Err(error) => {
                let hint = "move the file away and run: rethread sync";
                return diagnosis.add(area, Health::Ill, with_causes(&error), Some(hint));
            }
        };
        match store.statistics() {
            Ok(statistics) => {
                let message = format!("{} sessions, {} entries", statistics.sessions, statistics.entries);
                diagnosis.add(area, Health::Well, message, None);
            }
            Err(error) => diagnosis.add(area, Health::Ill, with_causes(&error), Some("run: rethread verify")),
        }
        if store.is_unwiped().unwrap_or_default() {
            let message = "bytes of what was forgotten are still in the files".to_owned();
            diagnosis.add(area, Health::Ill, message, Some("stop other rethread processes and run: rethread sync"));
        }
        self.look_at_index(&store, diagnosis);
        let loose =
            |path: &std::path::Path| std::fs::metadata(path).is_ok_and(|data| data.permissions().mode() & 0o077 != 0);
        if loose(&self.folder) || loose(&self.database()) {
            let message = format!("others can look into {}", self.folder.display());
            diagnosis.add(area, Health::Ill, message, Some("run: chmod -R go-rwx on it"));
        }
        let problems = store.problems().unwrap_or_default();
        for problem in problems.iter().take(MOST_NAMED) {
            let message = format!("{}:{}: {}", problem.path, problem.line, problem.message);
            diagnosis.add("transcripts", Health::Note, message, None);
        }
        if problems.len() > MOST_NAMED {
            let message = format!("{} more lines could not be read", problems.len() - MOST_NAMED);
            diagnosis.add("transcripts", Health::Note, message, None);
        }
    }

    fn look_at_index(&self, store: &Store, diagnosis: &mut Diagnosis) {
        let area = "index";
        match lag(&self.index_folder(), store, u64::MAX) {
            Ok(Lag::None) => diagnosis.add(area, Health::Well, "everything is indexed".to_owned(), None),
            Ok(Lag::Entries(entries)) => {
                let message =
                    format!("up to {entries} entries are not indexed yet; a search reads them from the store");
                diagnosis.add(area, Health::Note, message, None);
            }
            Ok(Lag::Unusable(why)) => {
                let message = format!("the search index {}; the next sync or search makes it again", describe(why));
                diagnosis.add(area, Health::Note, message, None);
            }
            Err(error) => {
                diagnosis.add(area, Health::Ill, with_causes(&error), Some("run: rethread rebuild --index-only"));
            }
        }
    }

    /// A model that is configured must have its key and a budget; none is needed.
    fn look_at_model(&self, diagnosis: &mut Diagnosis) {
        let area = "model";
        let model = match self.model(None, ChatLimits::PATIENT) {
            Ok(model) => model.chat,
            Err(ModelError::NotConfigured) => {
                let message = "no language model is configured; everything works without one".to_owned();
                return diagnosis.add(area, Health::Note, message, None);
            }
            Err(error) => {
                return diagnosis.add(area, Health::Ill, with_causes(&error), Some("see: rethread config show"));
            }
        };
        let budget = self.budget();
        let (name, endpoint) = (model.model(), model.endpoint());
        if budget.daily_tokens == 0 && budget.daily_usd == NanoUsd::default() {
            let message = format!("{name} at {endpoint} is configured, and no budget: nothing is sent to it");
            let hint = "run: rethread config set budget.daily_usd 1, or budget.daily_tokens 100000";
            return diagnosis.add(area, Health::Ill, message, Some(hint));
        }
        if budget.daily_usd > NanoUsd::default() && model.price().is_none() {
            let message = format!("no price is known for {name}, so a budget in dollars lets nothing through");
            let hint = "run: rethread config set model.price_input …, and model.price_output …";
            return diagnosis.add(area, Health::Ill, message, Some(hint));
        }
        diagnosis.add(area, Health::Well, format!("{name} at {endpoint}"), None);
    }

    /// Only where a model is to add facts: off is as good as on.
    fn look_at_enrichment(&self, diagnosis: &mut Diagnosis) {
        if !self.config.flag("facts.model") {
            return;
        }
        let area = "facts";
        let status = self.reader().and_then(|store| self.enrichment_status(store.as_ref()));
        let status = match status {
            Ok(status) => status,
            Err(error) => return diagnosis.add(area, Health::Ill, with_causes(&error), Some("run: rethread verify")),
        };
        let reason = status.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        let waiting = format!("{} sessions wait, {} failed", status.waiting, status.failed);
        let (health, how) = match status.level {
            0 => (Health::Well, "the model adds facts to what rules draw"),
            1 => (Health::Note, "the model cannot be reached, so sessions wait for it"),
            _ => (Health::Note, "facts are drawn by rules only"),
        };
        diagnosis.add(area, health, format!("{how}{reason}: {waiting}"), None);
        if status.failed > 0 {
            let message = format!("{} sessions are not shown to the model any more", status.failed);
            diagnosis.add(area, Health::Note, message, Some("see: rethread enrich --failed"));
        }
    }

    fn look_at_config(&self, diagnosis: &mut Diagnosis) {
        let problems = self.config.problems();
        for problem in problems {
            let message = format!("{}: {}", problem.place, problem.message);
            diagnosis.add("config", Health::Ill, message, Some("see: rethread config show --origin"));
        }
        if problems.is_empty() {
            let changed =
                self.config.settings().iter().filter(|setting| setting.layer != crate::Layer::Default).count();
            diagnosis.add("config", Health::Well, format!("{changed} settings changed from their defaults"), None);
        }
    }
}

/// What is the matter with an index, as the end of a sentence.
fn describe(why: Unusable) -> &'static str {
    match why {
        Unusable::Missing => "is not there",
        Unusable::Damaged => "is damaged",
        Unusable::OtherVersion => "was made by another version",
        Unusable::OtherStore => "was made from another store",
    }
}

pub(crate) fn with_causes(error: &dyn std::error::Error) -> String {
    match error.source() {
        None => error.to_string(),
        Some(cause) => format!("{error} ({cause})"),
    }
}
