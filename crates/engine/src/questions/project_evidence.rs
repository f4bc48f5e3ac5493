//! Collects what the memories have for a project question: facts, file histories, sessions and exchanges.

use rethread_model::{EntityKind, EntryKind, FactState, Predicate, Session, relative_path};
use rethread_recall::{
    Exchange, FeatureWeights, KnownError, MemoryKind, ProjectEvidence, QuestionShape, RuleEvidence, SearchHit,
    SearchInput, SearchQuery, SessionEvidence, TimePhrase, TimeSpan, known_errors, search,
};
use rethread_store::{EntityQuery, FactQuery, ReadStore, SessionFilter, SessionKey, SessionNumber, SessionScope};

use crate::{AskRequest, DecisionRequest, EngineError, FileRequest, FileRule, FixRequest, QuestionService};

/// Hits from which exchanges are taken.
const MAX_HITS: usize = 40;
/// Exchanges read for passages.
const MAX_EXCHANGES: usize = 16;
/// Sessions listed for a question about a time.
const MAX_SESSIONS: u64 = 4;
/// Episodes read of a file's history.
const MAX_TOUCHES: usize = 6;
/// Files of a question that are looked up.
const MAX_FILES: usize = 3;
/// Entries read from the start and the end of a session.
const FIRST_ENTRIES: u64 = 40;
const LAST_ENTRIES: u64 = 120;
/// Newest facts of each group that are read; more are noise.
const MAX_FACTS: u64 = 20_000;

/// Predicates of facts that are knowledge.
const KNOWLEDGE: [Predicate; 9] = [
    Predicate::FailedWith,
    Predicate::FixedBy,
    Predicate::NotFixedBy,
    Predicate::Decided,
    Predicate::Prefers,
    Predicate::Forbids,
    Predicate::CausedBy,
    Predicate::Requires,
    Predicate::ConflictsWith,
];
/// Predicates of facts that say when something happened.
pub(super) const EVENTS: [Predicate; 6] = [
    Predicate::Committed,
    Predicate::Reverted,
    Predicate::Branched,
    Predicate::Merged,
    Predicate::Added,
    Predicate::Removed,
];

impl QuestionService<'_> {
    /// Everything in scope that may answer a question. The session that asks is left out: it only repeats the question.
    pub(super) fn project_evidence(
        self,
        store: &ReadStore,
        question: &str,
        shape: &QuestionShape,
        scope: &SessionScope,
        request: &AskRequest,
    ) -> Result<ProjectEvidence, EngineError> {
        let own = match &request.asker {
            Some(asker) => store.session_by_external_id(asker.key())?.map(|(number, _)| number),
            None => None,
        };
        let facts = |predicates: &[Predicate]| {
            let (scope, limit) = (scope.clone(), Some(MAX_FACTS));
            Ok::<_, EngineError>(store.facts(&FactQuery { scope, predicates, limit, ..FactQuery::default() })?)
        };
        let wants_events = shape.asks_when || shape.is_mostly(MemoryKind::Event);
        Ok(ProjectEvidence {
            facts: self.engine.folds.knowledge.get(store.head()?, scope.clone(), || facts(&KNOWLEDGE))?.to_vec(),
            events: if wants_events { facts(&EVENTS)? } else { Vec::new() },
            errors: self.printed_errors(question, shape, scope)?,
            rules: self.rules(scope)?,
            files: self.file_histories(store, shape, scope)?,
            exchanges: self.exchanges(store, question, scope, own, request.is_read_only)?,
            sessions: self.newest_sessions(store, question, shape, scope, own)?,
        })
    }

    /// The rules in files for agents, as they are now.
    fn rules(self, scope: &SessionScope) -> Result<Vec<RuleEvidence>, EngineError> {
        let request = DecisionRequest { scope: scope.clone(), ..DecisionRequest::default() };
        let rules = self.engine.facts().file_rules(&request)?.into_iter().map(
            |FileRule { rule, statement, path, line, .. }| RuleEvidence {
                predicate: rule.predicate,
                subject: rule.subject,
                instead: rule.instead,
                statement,
                path,
                line,
            },
        );
        Ok(rules.collect())
    }

    /// Errors that are printed in the question and known.
    fn printed_errors(
        self,
        question: &str,
        shape: &QuestionShape,
        scope: &SessionScope,
    ) -> Result<Vec<KnownError>, EngineError> {
        if !shape.may_quote_error {
            return Ok(Vec::new());
        }
        let report = self.engine.facts().fix(&FixRequest { text: question.to_owned(), scope: scope.clone() })?;
        let is_known = |error: &KnownError| error.similarity >= 1.0 && !error.fixes.is_empty();
        Ok(report.errors.into_iter().filter(is_known).collect())
    }

    fn file_histories(
        self,
        store: &ReadStore,
        shape: &QuestionShape,
        scope: &SessionScope,
    ) -> Result<Vec<(String, Vec<rethread_recall::FileTouch>)>, EngineError> {
        let mut histories = Vec::new();
        for path in shape.files.iter().take(MAX_FILES) {
            let request =
                FileRequest { path: path.clone(), scope: scope.clone(), limit: MAX_TOUCHES, ..FileRequest::default() };
            let history = match self.engine.facts().file_history(&request) {
                // Of several files with this name, the best known one is meant.
                Err(EngineError::AmbiguousFile { .. }) => {
                    let Some(path) = best_known_file(store, path, scope)? else { continue };
                    self.engine.facts().file_history(&FileRequest { path, ..request })?
                }
                history => history?,
            };
            if let Some(name) = history.names.into_iter().next() {
                histories.push((name, history.touches));
            }
        }
        Ok(histories)
    }

    /// The exchanges that match the question best, each once.
    fn exchanges(
        self,
        store: &ReadStore,
        question: &str,
        scope: &SessionScope,
        own: Option<SessionNumber>,
        is_read_only: bool,
    ) -> Result<Vec<Exchange>, EngineError> {
        let now = self.engine.local_now();
        let query = SearchQuery::from_prose(question, &now);
        let sessions = match (scope, own) {
            (SessionScope::AllProjects, None) => None,
            _ => Some(store.session_numbers(scope)?.into_iter().filter(|number| Some(*number) != own).collect()),
        };
        let sessions: Option<Vec<SessionNumber>> = sessions;
        let similarity = if is_read_only { None } else { self.engine.embeddings().similarity(store, &query) };
        let similarity = similarity.and_then(Result::ok);
        let input = SearchInput {
            query: &query,
            sessions: sessions.as_deref(),
            project_sessions: &[],
            limit: MAX_HITS,
            is_full_text: false,
            now: &now,
            weights: &FeatureWeights::default(),
            similarity: similarity.as_ref(),
        };
        let index = self.engine.index();
        let found = if is_read_only {
            index.with_snapshot_read_only(store, |snapshot| search(store, snapshot, input))?
        } else {
            index.with_snapshot(store, |snapshot| search(store, snapshot, input))?.0
        };
        Self::exchanges_of(store, found.hits, MAX_EXCHANGES)
    }

    /// The exchanges of hits, best first, each once.
    pub(super) fn exchanges_of(
        store: &ReadStore,
        hits: Vec<SearchHit>,
        max_exchanges: usize,
    ) -> Result<Vec<Exchange>, EngineError> {
        let best = hits.iter().map(|hit| hit.score).fold(f32::EPSILON, f32::max);
        let mut exchanges: Vec<Exchange> = Vec::new();
        for hit in hits {
            let SearchHit { session, key, score, entry, .. } = hit;
            let relative = (entry.seq, (score / best).clamp(0.0, 1.0));
            let is_same = |one: &&mut Exchange| one.session.id == session.id && one.episode == key.number;
            if let Some(known) = exchanges.iter_mut().find(is_same) {
                known.hits.push(relative);
            } else if exchanges.len() < max_exchanges {
                let mut entries = store.episode_entries(key)?;
                if let Some(last) = entries.last() {
                    let next = store.entry_at(key.session, last.seq + 1)?;
                    entries.extend(next.filter(|next| next.kind == EntryKind::Prompt));
                }
                exchanges.push(Exchange { session, episode: key.number, entries, hits: vec![relative] });
            }
        }
        Ok(exchanges)
    }

    /// The newest session, or those of the time that the question names.
    fn newest_sessions(
        self,
        store: &ReadStore,
        question: &str,
        shape: &QuestionShape,
        scope: &SessionScope,
        own: Option<SessionNumber>,
    ) -> Result<Vec<SessionEvidence>, EngineError> {
        if !shape.is_mostly(MemoryKind::Session) {
            return Ok(Vec::new());
        }
        let time = SearchQuery::from_prose(question, &self.engine.local_now()).times.into_iter().find_map(|time| {
            let TimePhrase::Span(span) = time else { return None };
            Some(span)
        });
        // The time is compared here and not in SQL, so more sessions are read than shown.
        let limit = Some(if time.is_some() { 200 } else { MAX_SESSIONS });
        let filter = SessionFilter { scope: scope.clone(), limit, ..SessionFilter::default() };
        let mut found = Vec::new();
        for session in store.sessions(&filter)? {
            let Some(number) = store.session_number(session.id)? else { continue };
            if Some(number) == own || time.is_some_and(|time| !was_active(&session, time)) {
                continue;
            }
            found.push(session_evidence(store, number, session)?);
            if time.is_none() || found.len() as u64 == MAX_SESSIONS {
                break;
            }
        }
        Ok(found)
    }
}

fn was_active(session: &Session, time: TimeSpan) -> bool {
    let started_before_end = session.started_at.is_none_or(|at| at < time.to || time.from == time.to);
    started_before_end && session.last_activity_at.is_some_and(|at| at >= time.from)
}

fn session_evidence(
    store: &ReadStore,
    number: SessionNumber,
    session: Session,
) -> Result<SessionEvidence, EngineError> {
    let predicates = [Predicate::FailedWith, Predicate::FixedBy, Predicate::NotFixedBy, Predicate::Ran];
    let facts =
        store.facts(&FactQuery { session: Some(session.id), predicates: &predicates, ..FactQuery::default() })?;
    let succeeded_after = |command: &str, line: u64| {
        facts.iter().any(|known| {
            let fact = &known.fact;
            fact.predicate == Predicate::Ran
                && fact.subject.name == command
                && fact.line > line
                && fact.success_count > 0
        })
    };
    let failing = |signature: &str| {
        facts.iter().find(|known| {
            known.fact.predicate == Predicate::FailedWith
                && known.fact.object.as_ref().is_some_and(|error| error.name == signature)
        })
    };
    let open_errors = known_errors(facts.clone()).into_iter().filter_map(|error| {
        let failed = failing(&error.signature)?;
        let is_fixed = error.fixes.fixes.iter().any(|fix| fix.state == FactState::Confirmed);
        let is_open = !is_fixed && !succeeded_after(&failed.fact.subject.name, failed.fact.line);
        is_open.then_some((error.line, failed.fact.line))
    });
    let project = session.project.as_deref().or(session.cwd.as_deref());
    let mut changed = store.changed_paths(number)?;
    changed.sort_by_key(|changed| std::cmp::Reverse(changed.last_line));
    let files = changed.iter().map(|changed| relative_path(&changed.path, project).to_owned()).collect();
    Ok(SessionEvidence {
        entries: store.branch_ends(number, FIRST_ENTRIES, LAST_ENTRIES)?,
        files,
        open_errors: open_errors.collect(),
        task: store.session_labels(SessionKey::of(&session))?.task,
        session,
    })
}

/// The file with most facts among those whose path ends with this one.
fn best_known_file(store: &ReadStore, path: &str, scope: &SessionScope) -> Result<Option<String>, EngineError> {
    let query = EntityQuery {
        scope: scope.clone(),
        kind: Some(EntityKind::File),
        name_contains: Some(path),
        ..EntityQuery::default()
    };
    let end = format!("/{}", path.trim_start_matches('/'));
    let names = store.entities_with_facts(&query)?.into_iter().map(|entity| entity.entity.name);
    Ok(names.into_iter().find(|name| name == path || name.ends_with(&end)))
}
