//! Answers a prompt of an agent's user from facts, within the time of a hook. Reads a bounded number of rows.

use rethread_model::{Predicate, SessionId};
use rethread_recall::{
    Exchange, MemoryKind, MemoryQuestion, ProjectEvidence, PromptAnswer, SearchError, SearchHit, SearchQuery,
    answer_prompt,
};
use rethread_store::{FactQuery, FactRow, ReadStore, SessionNumber, SessionScope};

use super::project_evidence::EVENTS;
use crate::index::{GuardedError, catch_index_damage};
use crate::search::search_in_sessions;
use crate::{EngineError, QuestionService};

/// Newest facts of each group that are read.
const MAX_FACTS: u64 = 1_000;
/// Hits from which exchanges are taken, and the exchanges that are read.
const MAX_HITS: usize = 16;
const MAX_EXCHANGES: usize = 5;
/// An exchange with more lines takes too long to read.
const MAX_EXCHANGE_LINES: u64 = 400;

/// Predicates of facts about errors and causes.
const EXPLANATIONS: [Predicate; 5] =
    [Predicate::FixedBy, Predicate::NotFixedBy, Predicate::CausedBy, Predicate::Requires, Predicate::ConflictsWith];

/// A question in a prompt, and who asks it.
pub(crate) struct PromptQuestion<'a> {
    pub(crate) question: &'a MemoryQuestion,
    pub(crate) project: &'a str,
    /// The session that asks.
    pub(crate) own: Option<(SessionNumber, SessionId)>,
}

impl QuestionService<'_> {
    /// The fact that answers a prompt beyond doubt. `decided` has the facts about decisions in the project. The index is
    /// only searched if these do not answer it.
    pub(crate) fn answer_prompt(
        self,
        store: &ReadStore,
        asked: &PromptQuestion<'_>,
        decided: Vec<FactRow>,
    ) -> Result<Option<PromptAnswer>, EngineError> {
        let PromptQuestion { question, project, own } = *asked;
        let facts = |predicates: &[Predicate]| -> Result<Vec<FactRow>, EngineError> {
            let (scope, limit) = (SessionScope::Project(project.to_owned()), Some(MAX_FACTS));
            let mut found = store.facts(&FactQuery { scope, predicates, limit, ..FactQuery::default() })?;
            found.retain(|known| known.fact.model.is_none() && known.project.as_deref() == Some(project));
            Ok(found)
        };
        let mut evidence = ProjectEvidence { facts: decided, ..ProjectEvidence::default() };
        if question.asks_when() {
            evidence.events = facts(&EVENTS)?;
        }
        let shape = question.shape();
        let may_explain = shape.asks_why
            || question.asks_when()
            || [MemoryKind::Fix, MemoryKind::Cause, MemoryKind::Requirement]
                .into_iter()
                .any(|kind| shape.is_mostly(kind));
        if may_explain {
            evidence.facts.extend(facts(&EXPLANATIONS)?);
        }
        let (own_session, now) = (own.map(|(_, id)| id), self.engine.now());
        let answer = answer_prompt(question, &evidence, own_session, now);
        // Searching takes longer than all the rest, and without such a fact an exchange answers nothing.
        let may_know = may_explain || evidence.facts.iter().any(|known| may_be_about(known, question));
        if answer.is_some() || !may_know {
            return Ok(answer);
        }
        evidence.exchanges = self.quick_exchanges(store, question.text(), project, own.map(|(number, _)| number))?;
        Ok(answer_prompt(question, &evidence, own_session, now))
    }

    /// The exchanges that match best. None if the index is unusable or too far behind.
    fn quick_exchanges(
        self,
        store: &ReadStore,
        question: &str,
        project: &str,
        own: Option<SessionNumber>,
    ) -> Result<Vec<Exchange>, EngineError> {
        let hits = match catch_index_damage(|| self.quick_hits(store, question, project, own)) {
            Ok(hits) => hits,
            // The next search repairs the index.
            Err(GuardedError::DamagedIndex) => Vec::new(),
            Err(GuardedError::Other(error)) => {
                self.engine.journal().error("answer for a prompt", &error.into());
                Vec::new()
            }
        };
        let is_short = |hit: &SearchHit| {
            hit.episode
                .as_ref()
                .is_some_and(|episode| episode.lines.1.saturating_sub(episode.lines.0) <= MAX_EXCHANGE_LINES)
        };
        Self::exchanges_of(store, hits.into_iter().filter(is_short).collect(), MAX_EXCHANGES)
    }

    fn quick_hits(
        self,
        store: &ReadStore,
        question: &str,
        project: &str,
        own: Option<SessionNumber>,
    ) -> Result<Vec<SearchHit>, SearchError> {
        let now = self.engine.local_now();
        let query = SearchQuery::from_prose(question, &now);
        let scope = SessionScope::Project(project.to_owned());
        let mut sessions = store.session_numbers(&scope)?;
        sessions.retain(|number| Some(*number) != own);
        let Some(snapshot) = self.engine.index().indexed_snapshot(store)? else { return Ok(Vec::new()) };
        search_in_sessions(store, &snapshot, &query, &sessions, MAX_HITS, &now)
    }
}

/// Whether a decision may answer a question together with the exchange that made it: one of several things was picked,
/// or it has a longer word of the question.
fn may_be_about(known: &FactRow, question: &MemoryQuestion) -> bool {
    const MIN_WORD_BYTES: usize = 5;
    let detail = known.fact.detail.to_lowercase();
    let mut words = question.text().split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() >= MIN_WORD_BYTES);
    question.asks_which() && detail.contains(" → ") || words.any(|word| detail.contains(word))
}
