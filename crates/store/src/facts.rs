//! Facts extracted from sessions, and the spans they were extracted from.

use std::collections::HashMap;

use rethread_model::{
    Agent, Entity, EntityKind, Entry, Fact, FactState, Predicate, SessionId, SessionKind, Timestamp, Trust,
};

use crate::entries::NO_LIMIT;
use crate::sessions::IN_SCOPE;
use crate::sql::{Row, columns, values};
use crate::{Batch, ReadStore, SessionNumber, SessionScope, StoreError, entries, sessions};

/// A part of an episode from which facts are extracted in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactSpan {
    /// The episode it belongs to.
    pub episode: u64,
    /// Seq of its first entry; identifies the span within the session.
    pub first_seq: u64,
    /// Seq of its last entry so far.
    pub last_seq: u64,
}

/// A fact with the session it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct FactRow {
    /// What was observed.
    pub fact: Fact,
    /// Our id of that session.
    pub session: SessionId,
    /// The agent that wrote its transcript.
    pub agent: Agent,
    /// Name of the session.
    pub session_name: Option<String>,
    /// Project of the session.
    pub project: Option<String>,
    /// Whether it is a main or a sub-agent session.
    pub session_kind: SessionKind,
    /// Number of the episode the fact comes from.
    pub episode: u64,
    /// When it was extracted for the first time.
    pub learned_at: Timestamp,
}

/// Selects facts.
#[derive(Clone, Debug, Default)]
pub struct FactQuery<'a> {
    /// Only facts of sessions in this scope.
    pub scope: SessionScope,
    /// Only these predicates; all if empty.
    pub predicates: &'a [Predicate],
    /// Only facts that have this entity as subject or object.
    pub about: Option<&'a Entity>,
    /// Only facts of this session.
    pub session: Option<SessionId>,
    /// Only facts until this time, and those without a time.
    pub until: Option<Timestamp>,
    /// Return at most this many.
    pub limit: Option<u64>,
}

/// Facts of models are numbered from here on; rules never extract this many from one span.
const FIRST_MODEL_FACT: i64 = 1_000_000;

const COLUMNS: &str = "fact.predicate, subject.kind AS subject_kind, subject.name AS subject_name,
    object.kind AS object_kind, object.name AS object_name, fact.detail, fact.reason, fact.state, fact.success_count,
    fact.failure_count, fact.trust, fact.line, fact.evidence_lines, fact.at, fact.model, session.id, session.agent,
    session.name, session.project, session.kind, fact.episode, fact.learned_at, fact.quote";

impl ReadStore {
    /// Facts that match the query, newest first.
    pub fn facts(&self, query: &FactQuery<'_>) -> Result<Vec<FactRow>, StoreError> {
        let about = match query.about {
            None => None,
            Some(entity) => match self.entity_number(entity)? {
                None => return Ok(Vec::new()),
                found => found,
            },
        };
        let predicates = query.predicates.iter().map(|predicate| format!("'{}'", predicate.as_str()));
        let predicates = predicates.collect::<Vec<_>>().join(", ");
        // A session has few facts: an expression keeps SQLite from reading all facts with these predicates instead.
        let predicate = if query.session.is_some() { "fact.predicate || ''" } else { "fact.predicate" };
        let by_predicate =
            if predicates.is_empty() { String::new() } else { format!("AND {predicate} IN ({predicates})") };
        // A union of two index searches: SQLite does not combine indexes for a table without row ids.
        let (table, by_entity) = if about.is_some() {
            let (subject, object) = (self.sql.index("fact_by_subject"), self.sql.index("fact_by_object"));
            let subject = format!("SELECT * FROM fact {subject} WHERE space = ?1 AND subject = ?3");
            let object = format!("SELECT * FROM fact {object} WHERE space = ?1 AND object = ?3 AND subject <> ?3");
            (format!("({subject} UNION ALL {object}) AS fact"), "")
        } else {
            ("fact".to_owned(), "AND ?3 IS NULL")
        };
        let by_session = if query.session.is_some() {
            "AND fact.session = (SELECT number FROM session WHERE space = ?1 AND id = ?4)"
        } else {
            "AND ?4 IS NULL"
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM {table}
             JOIN session ON session.space = fact.space AND session.number = fact.session
             JOIN entity AS subject ON subject.space = fact.space AND subject.number = fact.subject
             LEFT JOIN entity AS object ON object.space = fact.space AND object.number = fact.object
             WHERE fact.space = ?1 {by_predicate} {by_entity} {by_session} AND {IN_SCOPE}
             AND (?5 IS NULL OR fact.at IS NULL OR fact.at <= ?5)
             ORDER BY fact.at DESC NULLS LAST, fact.session DESC, fact.span_first_seq DESC, fact.number DESC LIMIT ?6"
        );
        let (session, limit) = (query.session.map(|id| id.to_string()), query.limit.unwrap_or(NO_LIMIT));
        self.sql.known(&sql, values![query.scope.project(), about, session, query.until, limit], from_row)
    }

    /// Sessions whose facts were extracted by another version of the rules, or not at all.
    pub fn sessions_with_outdated_facts(&self, version: u64) -> Result<Vec<SessionNumber>, StoreError> {
        self.sql.all(
            "SELECT number FROM session WHERE space = ?1 AND fact_rules_version <> ?2 AND kind <> 'removed'
             AND episodes > 0 ORDER BY number",
            values![version],
            |row| row.session("number"),
        )
    }

    fn entity_number(&self, entity: &Entity) -> Result<Option<i64>, StoreError> {
        let sql = "SELECT number FROM entity WHERE space = ?1 AND kind = ?2 AND name = ?3";
        self.sql.one(sql, values![entity.kind.as_str(), entity.name], |row| row.int("number"))
    }

    /// The spans of a session that contain this entry or later ones, in order.
    pub fn fact_spans(&self, session: SessionNumber, from_seq: u64) -> Result<Vec<FactSpan>, StoreError> {
        let mut spans = Vec::new();
        self.sql.each(
            "SELECT number, span_starts, last_seq FROM episode
             WHERE space = ?1 AND session = ?2 AND last_seq >= ?3 AND NOT is_abandoned ORDER BY number",
            values![session, from_seq],
            |row| {
                let (episode, last) = (row.u64("number")?, row.u64("last_seq")?);
                let firsts: Vec<u64> = row.text("span_starts")?.split(',').filter_map(|seq| seq.parse().ok()).collect();
                let lasts = firsts.iter().skip(1).map(|first| first.saturating_sub(1)).chain([last]);
                let all = firsts.iter().zip(lasts);
                let all = all.map(|(first_seq, last_seq)| FactSpan { episode, first_seq: *first_seq, last_seq });
                spans.extend(all.filter(|span| span.last_seq >= from_seq));
                Ok::<_, StoreError>(())
            },
        )?;
        Ok(spans)
    }

    /// The extractor's state after the last span before this entry, as JSON.
    pub fn extractor_state_before(&self, session: SessionNumber, first_seq: u64) -> Result<Option<String>, StoreError> {
        self.sql.one(
            "SELECT extractor_state FROM fact_span WHERE space = ?1 AND session = ?2 AND first_seq < ?3
             ORDER BY first_seq DESC LIMIT 1",
            values![session, first_seq],
            |row| row.string("extractor_state"),
        )
    }

    /// The extractor's state after this span, as JSON; `None` if the span was not processed yet, or its state is not
    /// stored any more.
    pub fn extractor_state_after(&self, session: SessionNumber, span: FactSpan) -> Result<Option<String>, StoreError> {
        self.sql.one(
            "SELECT extractor_state FROM fact_span WHERE space = ?1 AND session = ?2 AND first_seq = ?3",
            values![session, span.first_seq],
            |row| row.string("extractor_state"),
        )
    }

    /// The entries of a span on the current branch.
    pub fn span_entries(&self, session: SessionNumber, span: FactSpan) -> Result<Vec<Entry>, StoreError> {
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq BETWEEN ?3 AND ?4 AND episode = ?5
             AND NOT (is_abandoned OR is_retracted) ORDER BY seq",
            entries::COLUMNS
        );
        self.sql.all(&sql, values![session, span.first_seq, span.last_seq, span.episode], entries::from_row)
    }

    /// When the facts of a span were learned, by predicate, subject and line.
    fn learned(
        &self,
        session: SessionNumber,
        first_seq: u64,
    ) -> Result<HashMap<(String, i64, u64), Timestamp>, StoreError> {
        let rows = self.sql.all(
            "SELECT predicate, subject, line, learned_at FROM fact
             WHERE space = ?1 AND session = ?2 AND span_first_seq = ?3 AND model IS NULL",
            values![session, first_seq],
            |row| Ok(((row.string("predicate")?, row.int("subject")?, row.u64("line")?), row.time("learned_at")?)),
        )?;
        Ok(rows.into_iter().collect())
    }
}

/// Entities that a batch has looked up or added.
#[derive(Debug, Default)]
pub(crate) struct KnownEntities {
    numbers: HashMap<Entity, i64>,
    /// The largest number, once one was added.
    last: Option<i64>,
}

impl Batch<'_> {
    /// Replaces the facts that rules extracted from a span, and returns by how many their number grew. Facts that were
    /// there before keep `learned_at`. `carry` is the extractor's state after the span, if it is to be stored.
    pub fn replace_rule_facts(
        &mut self,
        session: SessionNumber,
        span: FactSpan,
        facts: &[Fact],
        carry: Option<&str>,
        now: Timestamp,
    ) -> Result<i64, StoreError> {
        self.note_changed_facts();
        let learned = self.learned(session, span.first_seq)?;
        if !learned.is_empty() {
            self.sql.run(
                "DELETE FROM fact WHERE space = ?1 AND session = ?2 AND span_first_seq = ?3 AND model IS NULL",
                values![session, span.first_seq],
            )?;
        }
        self.add_entities(facts)?;
        for (number, fact) in facts.iter().enumerate() {
            let key = |subject| (fact.predicate.as_str().to_owned(), subject, fact.line);
            let learned_at = |subject| learned.get(&key(subject)).copied().unwrap_or(now);
            self.insert_fact(session, span, number as i64, fact, fact.model.as_deref(), learned_at)?;
        }
        if let Some(carry) = carry {
            let key = columns! { session: session, first_seq: span.first_seq };
            self.upsert("fact_span", key, columns! { extractor_state: carry })?;
        }
        Ok(facts.len() as i64 - learned.len() as i64)
    }

    /// Removes the extractor's states after the spans before this entry.
    pub fn clear_extractor_states_before(&mut self, session: SessionNumber, seq: u64) -> Result<(), StoreError> {
        self.sql
            .run("DELETE FROM fact_span WHERE space = ?1 AND session = ?2 AND first_seq < ?3", values![session, seq])
    }

    /// Adds facts that a model found in a span to those already there, and returns how many.
    pub fn add_model_facts(
        &mut self,
        session: SessionNumber,
        span: FactSpan,
        facts: &[Fact],
        model: &str,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let last = self.sql.count(
            "SELECT max(number) FROM fact WHERE space = ?1 AND session = ?2 AND span_first_seq = ?3 AND number >= ?4",
            values![session, span.first_seq, FIRST_MODEL_FACT],
        )?;
        let first = (last as i64 + 1).max(FIRST_MODEL_FACT);
        self.note_changed_facts();
        self.add_entities(facts)?;
        for (number, fact) in (first..).zip(facts) {
            self.insert_fact(session, span, number, fact, Some(model), |_| now)?;
        }
        Ok(facts.len() as u64)
    }

    /// Removes the facts that rules extracted from a session, before they are extracted again. Facts of models stay
    /// while the line they cite is on the current branch.
    pub fn clear_rule_facts(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        self.note_changed_facts();
        let cited = "SELECT episode FROM entry WHERE entry.space = ?1 AND entry.session = ?2
             AND entry.line = fact.line AND NOT (is_abandoned OR is_retracted) AND episode IS NOT NULL";
        let by_models = "space = ?1 AND session = ?2 AND model IS NOT NULL";
        for sql in [
            &format!("DELETE FROM fact WHERE {by_models} AND NOT EXISTS ({cited})"),
            &format!("UPDATE fact SET episode = ({cited} ORDER BY seq LIMIT 1) WHERE {by_models}"),
            "DELETE FROM fact WHERE space = ?1 AND session = ?2 AND model IS NULL",
            "DELETE FROM fact_span WHERE space = ?1 AND session = ?2",
        ] {
            self.sql.run(sql, values![session])?;
        }
        self.set_fact_rules_version(session, 0)
    }

    /// Facts are also extracted again, or by a model, when nothing else changes: what was folded from them must not be
    /// used any more.
    fn note_changed_facts(&mut self) {
        self.next_change();
    }

    /// Records which version of the rules extracted the facts of a session.
    pub fn set_fact_rules_version(&mut self, session: SessionNumber, version: u64) -> Result<(), StoreError> {
        self.sql.run(
            "UPDATE session SET fact_rules_version = ?3
             WHERE space = ?1 AND number = ?2 AND fact_rules_version <> ?3",
            values![session, version],
        )
    }

    fn insert_fact(
        &mut self,
        session: SessionNumber,
        span: FactSpan,
        number: i64,
        fact: &Fact,
        model: Option<&str>,
        learned_at: impl Fn(i64) -> Timestamp,
    ) -> Result<(), StoreError> {
        let subject = self.entity_number_or_insert(&fact.subject)?;
        let object = fact.object.as_ref().map(|object| self.entity_number_or_insert(object)).transpose()?;
        let evidence_lines = fact.evidence_lines.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        self.insert(
            "fact",
            columns! {
                session: session,
                span_first_seq: span.first_seq,
                number: number,
                episode: span.episode,
                predicate: fact.predicate.as_str(),
                subject: subject,
                object: object,
                detail: fact.detail,
                reason: fact.reason,
                state: fact.state.as_str(),
                success_count: fact.success_count,
                failure_count: fact.failure_count,
                trust: fact.trust.as_str(),
                line: fact.line,
                evidence_lines: evidence_lines,
                at: fact.at,
                learned_at: learned_at(subject),
                model: model,
                quote: fact.quote,
            },
        )
    }

    /// Adds the entities of facts that are new, so that the facts can be stored one after the other.
    fn add_entities(&mut self, facts: &[Fact]) -> Result<(), StoreError> {
        for entity in facts.iter().flat_map(|fact| std::iter::once(&fact.subject).chain(&fact.object)) {
            self.entity_number_or_insert(entity)?;
        }
        Ok(())
    }

    /// The number of an entity, which is added if it is new.
    fn entity_number_or_insert(&mut self, entity: &Entity) -> Result<i64, StoreError> {
        if let Some(number) = self.entities.numbers.get(entity) {
            return Ok(*number);
        }
        let number = match self.entity_number(entity)? {
            Some(number) => number,
            None => self.add_entity(entity)?,
        };
        self.entities.numbers.insert(entity.clone(), number);
        Ok(number)
    }

    fn add_entity(&mut self, entity: &Entity) -> Result<i64, StoreError> {
        let number = match self.entities.last {
            Some(last) => last + 1,
            None => self.next_number("entity")?,
        };
        self.insert("entity", columns! { number: number, kind: entity.kind.as_str(), name: entity.name })?;
        self.entities.last = Some(number);
        Ok(number)
    }
}

/// Kind and name in two columns. None for a kind that only a newer version of the program knows.
fn entity_from_row(row: &Row<'_>, kind: &'static str, name: &'static str) -> Result<Option<Entity>, StoreError> {
    let Some(kind) = row.opt_text(kind)?.and_then(EntityKind::from_stored) else { return Ok(None) };
    Ok(Some(Entity { kind, name: row.string(name)? }))
}

fn from_row(row: &Row<'_>) -> Result<Option<FactRow>, StoreError> {
    let predicate = Predicate::from_stored(row.text("predicate")?);
    let subject = entity_from_row(row, "subject_kind", "subject_name")?;
    let (Some(predicate), Some(subject)) = (predicate, subject) else { return Ok(None) };
    let fact = Fact {
        predicate,
        subject,
        object: entity_from_row(row, "object_kind", "object_name")?,
        detail: row.string("detail")?,
        reason: row.opt_string("reason")?,
        quote: row.opt_string("quote")?,
        state: FactState::from_stored(row.text("state")?),
        success_count: row.u64("success_count")?,
        failure_count: row.u64("failure_count")?,
        trust: Trust::from_stored(row.text("trust")?),
        line: row.u64("line")?,
        evidence_lines: row.text("evidence_lines")?.split(',').filter_map(|line| line.parse().ok()).collect(),
        at: row.opt_time("at")?,
        model: row.opt_string("model")?,
    };
    let (Some(session), Some(agent)) = (row.parsed("id")?, row.parsed("agent")?) else { return Ok(None) };
    Ok(Some(FactRow {
        fact,
        session,
        agent,
        session_name: row.opt_string("name")?,
        project: row.opt_string("project")?,
        session_kind: sessions::kind(row)?,
        episode: row.u64("episode")?,
        learned_at: row.time("learned_at")?,
    }))
}
