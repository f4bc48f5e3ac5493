//! Injects a decision against what a prompt or call names, the fact that answers a prompt, or a decision about a file.

use std::time::Instant;

use rethread_model::{FactState, SessionId, Trust};
use rethread_recall::{
    DECISION_PREDICATES, Decision, InjectionSection, MemoryQuestion, RuledOut, SectionKind, decision_key,
    decision_line, decisions, memory_block, mentions_path, ruled_out, ruled_out_line,
};
use rethread_store::{FactQuery, FactRow};

use super::caller::Caller;
use super::inject::{inject_once, text_hash};
use super::known_fix::{FactFinder, KnownFactLine};
use super::tool_call_text::{HookToolCall, preview_source};
use crate::EngineError;
use crate::awareness::AwarenessService;
use crate::questions::PromptQuestion;

/// Number of facts about decisions that are searched, newest first.
const MAX_FACTS_SEARCHED: u64 = 1_000;
/// A prompt with fewer words names nothing.
const MIN_PROMPT_WORDS: usize = 2;

impl AwarenessService<'_> {
    /// The decision against a package that a call is about to install or import, once per session.
    pub(crate) fn inject_before_install(
        self,
        caller: &Caller,
        call: &HookToolCall,
    ) -> Result<Option<String>, EngineError> {
        let packages = call.added_packages(&caller.cwd);
        // A sub-agent follows the instructions of its session, which gets the decision itself.
        if packages.is_empty() || caller.is_subagent() || !self.engine.settings().inject.memory {
            return Ok(None);
        }
        let (began, now) = (Instant::now(), self.engine.now());
        let Some(mut store) = self.engine.existing_writer()? else { return Ok(None) };
        let project = self.project_of(&store, caller)?;
        let finder = FactFinder { engine: self.engine, store: &store, caller, project: &project, now };
        // Nearly always there is none, and reading the transcript costs more than looking.
        if finder.decision_against(&packages)?.is_none() {
            return Ok(None);
        }
        // The user may have changed the decision in this session.
        self.sync_caller_transcript(&mut store, caller)?;
        let finder = FactFinder { engine: self.engine, store: &store, caller, project: &project, now };
        let Some(known) = finder.decision_against(&packages)? else { return Ok(None) };
        let (text, reason) = (memory_block(&[known.text]), known.reason.to_owned());
        let dedupe_keys = vec![known.dedupe_key];
        let section = InjectionSection { kind: SectionKind::Memory, text, reason, dedupe_keys };
        let budget = self.engine.settings().inject.budget_tokens;
        inject_once(&mut store, caller, section, budget, "PreToolUse", now, began)
    }
}

impl FactFinder<'_> {
    /// What a prompt should know: a decision against something it names, the answer to what it asks, or a decision about
    /// a file it names.
    pub(super) fn known_decision(&self, prompt: &str) -> Result<Option<KnownFactLine>, EngineError> {
        let prompt = preview_source(prompt);
        // "yes" or "continue" names nothing, and searching the decisions costs time.
        if prompt.split_whitespace().nth(MIN_PROMPT_WORDS - 1).is_none() {
            return Ok(None);
        }
        let facts = self.decision_facts()?;
        let (mut all, own) = (decisions(&facts), self.own_session()?);
        if let Some(ruled) = ruled_out_elsewhere(&all, own).iter().find(|ruled| ruled.is_wanted_by(prompt)) {
            let text = ruled_out_line(ruled, self.now);
            return Ok(Some(known_line(&ruled.decision, text, "the user ruled out something that the prompt names")));
        }
        if let Some(question) = MemoryQuestion::find(prompt) {
            let own =
                self.store.session_by_external_id(self.caller.key())?.map(|(number, session)| (number, session.id));
            let asked = PromptQuestion { question: &question, project: self.project, own };
            let answer = self.engine.questions().answer_prompt(self.store, &asked, facts)?;
            if let Some(answer) = answer {
                let (text, dedupe_key) = (answer.line, text_hash(&answer.key));
                return Ok(Some(KnownFactLine {
                    text,
                    dedupe_key,
                    reason: "this is known about what the prompt asks",
                }));
            }
        }
        all.retain(|decision| !is_of_session(decision, own));
        let files: Vec<&str> = file_names_in(prompt).collect();
        let about_file = all.iter().filter(|decision| {
            decision.trust == Trust::Human
                && decision.state == FactState::Confirmed
                && decision.is_open()
                && files.iter().any(|file| mentions_path(&decision.statement, file))
        });
        Ok(about_file.max_by_key(|decision| decision.valid_from).map(|decision| {
            let text = decision_line(decision, self.now);
            known_line(decision, text, "there is a decision about a file that the prompt names")
        }))
    }

    /// The decision against one of these packages.
    fn decision_against(&self, packages: &[String]) -> Result<Option<KnownFactLine>, EngineError> {
        let all = ruled_out_elsewhere(&decisions(&self.decision_facts()?), self.own_session()?);
        let found = all.iter().find(|ruled| packages.iter().any(|package| ruled.is_package(package)));
        Ok(found.map(|ruled| {
            let text = ruled_out_line(ruled, self.now);
            known_line(&ruled.decision, text, "the user ruled out a package that the call adds")
        }))
    }

    /// Facts about decisions of the project. Those of the session itself are among them: they close others.
    fn decision_facts(&self) -> Result<Vec<FactRow>, EngineError> {
        let query = FactQuery {
            scope: self.scope(),
            predicates: &DECISION_PREDICATES,
            limit: Some(MAX_FACTS_SEARCHED),
            ..FactQuery::default()
        };
        let mut known = self.store.facts(&query)?;
        // Facts extracted by a model are shown on request, but never injected.
        known.retain(|known| known.fact.model.is_none() && known.project.as_deref() == Some(self.project));
        Ok(known)
    }
}

/// What the user ruled out in other sessions of the project, newest first.
fn ruled_out_elsewhere(all: &[Decision], own: Option<SessionId>) -> Vec<RuledOut> {
    let mut found = ruled_out(all);
    found.retain(|ruled| !is_of_session(&ruled.decision, own));
    found
}

/// Whether a session stated a decision; it is then in its context.
fn is_of_session(decision: &Decision, session: Option<SessionId>) -> bool {
    decision.sources.iter().chain(&decision.closed_by).any(|source| Some(source.session) == session)
}

/// However a decision is found, it is injected once.
fn known_line(decision: &Decision, text: String, reason: &'static str) -> KnownFactLine {
    let dedupe_key = text_hash(&decision_key(decision));
    KnownFactLine { text, dedupe_key, reason }
}

/// Words of a prompt that look like file names: `src/a.rs`, `Cargo.toml`.
fn file_names_in(prompt: &str) -> impl Iterator<Item = &str> {
    let bare = |word: &'_ str| word.len() < 200;
    let words = prompt.split(|c: char| c.is_whitespace() || "`'\"(),;:?!".contains(c)).filter(move |word| bare(word));
    let is_file = |word: &&str| {
        let (stem, end) = word.trim_end_matches('.').rsplit_once('.').unwrap_or_default();
        let is_extension = (1..=4).contains(&end.len()) && end.bytes().all(|byte| byte.is_ascii_lowercase());
        stem.len() > 2 && is_extension && !word.contains("//")
    };
    words.filter(is_file).map(|word| word.trim_end_matches('.')).take(4)
}
