//! Facts extracted from sessions, and the spans they were extracted from.

use std::collections::HashMap;

use rethread_model::{
    Agent, Entity, EntityKind, Entry, Fact, FactState, Predicate, SessionId, SessionKind, Timestamp, Trust,
};
use rusqlite::{OptionalExtension, Row, params};

use crate::{Batch, ReadStore, SessionNumber, SessionScope, StoreError, entries};

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

const COLUMNS: &str = "fact.predicate, subject.kind, subject.name, object.kind, object.name, fact.detail, fact.reason,
    fact.state, fact.success_count, fact.failure_count, fact.trust, fact.line, fact.evidence_lines, fact.at, fact.model,
    session.id, session.agent, session.name, session.project, session.kind, fact.episode, fact.learned_at, fact.quote";

impl ReadStore {
    /// Facts that match the query, newest first.
    pub fn facts(&self, query: &FactQuery<'_>) -> Result<Vec<FactRow>, StoreError> {
        self.select_facts(query).map_err(|cause| self.err(cause))
    }

    fn select_facts(&self, query: &FactQuery<'_>) -> rusqlite::Result<Vec<FactRow>> {
        let project = match &query.scope {
            SessionScope::AllProjects => None,
            SessionScope::Project(path) => Some(path.as_str()),
        };
        let about = match query.about {
            None => None,
            Some(entity) => match entity_number(&self.connection, self.space.as_str(), entity)? {
                None => return Ok(Vec::new()),
                found => found,
            },
        };
        let predicates = query.predicates.iter().map(|predicate| format!("'{}'", predicate.as_str()));
        let predicates = predicates.collect::<Vec<_>>().join(", ");
        let by_predicate =
            if predicates.is_empty() { String::new() } else { format!("AND fact.predicate IN ({predicates})") };
        // A union of two index searches: SQLite does not combine indexes for a table without row ids.
        let (table, by_entity) = if about.is_some() {
            let subject = "SELECT * FROM fact INDEXED BY fact_by_subject WHERE space = ?1 AND subject = ?3";
            let object =
                "SELECT * FROM fact INDEXED BY fact_by_object WHERE space = ?1 AND object = ?3 AND subject <> ?3";
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
             WHERE fact.space = ?1 {by_predicate} {by_entity} {by_session}
             AND (?2 IS NULL OR session.project = ?2 OR session.cwd = ?2
                  OR substr(session.cwd, 1, length(?2) + 1) = ?2 || '/')
             AND (?5 IS NULL OR fact.at IS NULL OR fact.at <= ?5)
             ORDER BY fact.at DESC, fact.session DESC, fact.span_first_seq DESC, fact.number DESC LIMIT ?6"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let values = params![
            self.space.as_str(),
            project,
            about,
            query.session.map(|id| id.to_string()),
            query.until.map(Timestamp::as_millis),
            query.limit.map_or(-1, |limit| limit as i64),
        ];
        let rows = statement.query_map(values, from_row)?;
        rows.filter_map(Result::transpose).collect()
    }

    /// Sessions whose facts were extracted by another version of the rules, or not at all.
    pub fn sessions_with_outdated_facts(&self, version: u64) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT number FROM session WHERE space = ?1 AND fact_rules_version <> ?2 AND kind <> 'removed'
                 AND episodes > 0 ORDER BY number",
            )?;
            let values = params![self.space.as_str(), version as i64];
            statement.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// The spans of a session that contain this entry or later ones, in order.
    pub fn fact_spans(&self, session: SessionNumber, from_seq: u64) -> Result<Vec<FactSpan>, StoreError> {
        let episodes: Vec<(i64, String, i64)> = self.all(
            "SELECT number, span_starts, last_seq FROM episode
             WHERE space = ?1 AND session = ?2 AND last_seq >= ?3 AND NOT is_abandoned ORDER BY number",
            params![self.space(), session.0, from_seq as i64],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let mut spans = Vec::new();
        for (episode, span_starts, last) in episodes {
            let firsts: Vec<u64> = span_starts.split(',').filter_map(|seq| seq.parse().ok()).collect();
            let lasts = firsts.iter().skip(1).map(|first| first.saturating_sub(1)).chain([last as u64]);
            let episode = episode as u64;
            let all = firsts.iter().zip(lasts).map(|(first_seq, last_seq)| FactSpan {
                episode,
                first_seq: *first_seq,
                last_seq,
            });
            spans.extend(all.filter(|span| span.last_seq >= from_seq));
        }
        Ok(spans)
    }

    /// The extractor's state after the last span before this entry, as JSON.
    pub fn extractor_state_before(&self, session: SessionNumber, first_seq: u64) -> Result<Option<String>, StoreError> {
        self.one(
            "SELECT extractor_state FROM fact_span WHERE space = ?1 AND session = ?2 AND first_seq < ?3
             ORDER BY first_seq DESC LIMIT 1",
            params![self.space(), session.0, first_seq as i64],
            |row| row.get(0),
        )
    }

    /// The extractor's state after this span, as JSON; `None` if the span was not processed yet.
    pub fn extractor_state_after(&self, session: SessionNumber, span: FactSpan) -> Result<Option<String>, StoreError> {
        self.one(
            "SELECT extractor_state FROM fact_span WHERE space = ?1 AND session = ?2 AND first_seq = ?3",
            params![self.space(), session.0, span.first_seq as i64],
            |row| row.get(0),
        )
    }

    /// The entries of a span on the current branch.
    pub fn span_entries(&self, session: SessionNumber, span: FactSpan) -> Result<Vec<Entry>, StoreError> {
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq BETWEEN ?3 AND ?4 AND episode = ?5
             AND NOT (is_abandoned OR is_retracted) ORDER BY seq",
            entries::COLUMNS
        );
        let [first, last, episode] = [span.first_seq, span.last_seq, span.episode].map(|count| count as i64);
        self.all(&sql, params![self.space(), session.0, first, last, episode], entries::from_row)
    }

    /// Replaces the facts that rules extracted from a span, and returns by how many their number grew. Facts that were
    /// there before keep `learned_at`. `carry` is the extractor's state after the span.
    pub fn replace_rule_facts(
        &mut self,
        session: SessionNumber,
        span: FactSpan,
        facts: &[Fact],
        carry: &str,
        now: Timestamp,
    ) -> Result<i64, StoreError> {
        let first_seq = span.first_seq as i64;
        let learned = self.learned(session, first_seq)?;
        if !learned.is_empty() {
            self.run(
                "DELETE FROM fact WHERE space = ?1 AND session = ?2 AND span_first_seq = ?3 AND model IS NULL",
                params![self.space(), session.0, first_seq],
            )?;
        }
        for (number, fact) in facts.iter().enumerate() {
            let subject = self.entity_number_or_insert(&fact.subject)?;
            let object = fact.object.as_ref().map(|object| self.entity_number_or_insert(object)).transpose()?;
            let key = (fact.predicate.as_str().to_owned(), subject, fact.line as i64);
            let at = learned.get(&key).copied().unwrap_or_else(|| now.as_millis());
            self.insert_fact(session, (first_seq, number as i64, span.episode), fact, (subject, object), at)?;
        }
        self.run(
            "INSERT INTO fact_span (space, session, first_seq, extractor_state) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET extractor_state = excluded.extractor_state",
            params![self.space(), session.0, first_seq, carry],
        )?;
        Ok(facts.len() as i64 - learned.len() as i64)
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
        let first_seq = span.first_seq as i64;
        let last: Option<Option<i64>> = self.one(
            "SELECT max(number) FROM fact WHERE space = ?1 AND session = ?2 AND span_first_seq = ?3 AND number >= ?4",
            params![self.space(), session.0, first_seq, FIRST_MODEL_FACT],
            |row| row.get(0),
        )?;
        let first = last.flatten().map_or(FIRST_MODEL_FACT, |last| last + 1);
        for (number, fact) in (first..).zip(facts) {
            let subject = self.entity_number_or_insert(&fact.subject)?;
            let object = fact.object.as_ref().map(|object| self.entity_number_or_insert(object)).transpose()?;
            let fact = Fact { model: Some(model.to_owned()), ..fact.clone() };
            self.insert_fact(session, (first_seq, number, span.episode), &fact, (subject, object), now.as_millis())?;
        }
        Ok(facts.len() as u64)
    }

    /// Removes the facts that rules extracted from a session, before they are extracted again. Facts of models stay
    /// while the line they cite is on the current branch.
    pub fn clear_rule_facts(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        let cited = "SELECT episode FROM entry WHERE entry.space = ?1 AND entry.session = ?2
             AND entry.line = fact.line AND NOT (is_abandoned OR is_retracted) AND episode IS NOT NULL";
        let by_models = "space = ?1 AND session = ?2 AND model IS NOT NULL";
        let delete = format!("DELETE FROM fact WHERE {by_models} AND NOT EXISTS ({cited})");
        self.run(&delete, params![self.space(), session.0])?;
        let update = format!("UPDATE fact SET episode = ({cited} LIMIT 1) WHERE {by_models}");
        self.run(&update, params![self.space(), session.0])?;
        self.run(
            "DELETE FROM fact WHERE space = ?1 AND session = ?2 AND model IS NULL",
            params![self.space(), session.0],
        )?;
        self.run("DELETE FROM fact_span WHERE space = ?1 AND session = ?2", params![self.space(), session.0])?;
        self.set_fact_rules_version(session, 0)
    }

    /// Records which version of the rules extracted the facts of a session.
    pub fn set_fact_rules_version(&mut self, session: SessionNumber, version: u64) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET fact_rules_version = ?3
             WHERE space = ?1 AND number = ?2 AND fact_rules_version <> ?3",
            params![self.space(), session.0, version as i64],
        )
    }

    /// When the facts of a span were learned, by predicate, subject and line.
    fn learned(&self, session: SessionNumber, first_seq: i64) -> Result<HashMap<(String, i64, i64), i64>, StoreError> {
        let rows = self.all(
            "SELECT predicate, subject, line, learned_at FROM fact
             WHERE space = ?1 AND session = ?2 AND span_first_seq = ?3 AND model IS NULL",
            params![self.space(), session.0, first_seq],
            |row| Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?)),
        )?;
        Ok(rows.into_iter().collect())
    }

    fn insert_fact(
        &mut self,
        session: SessionNumber,
        (span_first_seq, number, episode): (i64, i64, u64),
        fact: &Fact,
        (subject, object): (i64, Option<i64>),
        learned_at: i64,
    ) -> Result<(), StoreError> {
        let evidence = fact.evidence_lines.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        self.run(
            "INSERT INTO fact (space, session, span_first_seq, number, episode, predicate, subject, object, detail,
             reason, state, success_count, failure_count, trust, line, evidence_lines, at, learned_at, model, quote)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
            params![
                self.space(),
                session.0,
                span_first_seq,
                number,
                episode as i64,
                fact.predicate.as_str(),
                subject,
                object,
                fact.detail,
                fact.reason,
                fact.state.as_str(),
                fact.success_count as i64,
                fact.failure_count as i64,
                fact.trust.as_str(),
                fact.line as i64,
                evidence,
                fact.at.map(Timestamp::as_millis),
                learned_at,
                fact.model,
                fact.quote,
            ],
        )
    }

    /// The number of an entity, which is added if it is new.
    fn entity_number_or_insert(&mut self, entity: &Entity) -> Result<i64, StoreError> {
        let found = entity_number(self.connection(), self.space(), entity).map_err(|cause| self.err(cause))?;
        if let Some(number) = found {
            return Ok(number);
        }
        let number = self.next_number("entity")?;
        self.run(
            "INSERT INTO entity (space, number, kind, name) VALUES (?1, ?2, ?3, ?4)",
            params![self.space(), number, entity.kind.as_str(), entity.name],
        )?;
        Ok(number)
    }
}

fn entity_number(connection: &rusqlite::Connection, space: &str, entity: &Entity) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT number FROM entity WHERE space = ?1 AND kind = ?2 AND name = ?3")?
        .query_row(params![space, entity.kind.as_str(), entity.name], |row| row.get(0))
        .optional()
}

/// Kind and name in two columns. None for a kind that only a newer version of the program knows.
fn entity_from_row(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Entity>> {
    let Some(kind) = row.get_ref(at)?.as_str_or_null()?.and_then(EntityKind::from_stored) else { return Ok(None) };
    Ok(Some(Entity { kind, name: row.get(at + 1)? }))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<FactRow>> {
    let (Some(predicate), Some(subject)) =
        (Predicate::from_stored(row.get_ref(0)?.as_str()?), entity_from_row(row, 1)?)
    else {
        return Ok(None);
    };
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    let fact = Fact {
        predicate,
        subject,
        object: entity_from_row(row, 3)?,
        detail: row.get(5)?,
        reason: row.get(6)?,
        quote: row.get(22)?,
        state: FactState::from_stored(row.get_ref(7)?.as_str()?),
        success_count: count(8)?,
        failure_count: count(9)?,
        trust: Trust::from_stored(row.get_ref(10)?.as_str()?),
        line: count(11)?,
        evidence_lines: row.get_ref(12)?.as_str()?.split(',').filter_map(|line| line.parse().ok()).collect(),
        at: row.get::<_, Option<i64>>(13)?.map(Timestamp::from_millis),
        model: row.get(14)?,
    };
    let (Ok(session), Ok(agent)) = (row.get::<_, String>(15)?.parse(), row.get::<_, String>(16)?.parse()) else {
        return Ok(None);
    };
    let session_kind = if row.get_ref(19)?.as_str()? == "child" { SessionKind::Child } else { SessionKind::Main };
    Ok(Some(FactRow {
        fact,
        session,
        agent,
        session_name: row.get(17)?,
        project: row.get(18)?,
        session_kind,
        episode: count(20)?,
        learned_at: Timestamp::from_millis(row.get(21)?),
    }))
}
