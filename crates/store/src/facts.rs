//! What was learned from sessions: things, what is said of them, and the stretches it was drawn from.

use std::collections::HashMap;

use rethread_model::{
    Agent, Entity, EntityKind, Entry, Fact, FactState, Predicate, SessionId, SessionKind, Timestamp, Trust,
};
use rusqlite::{OptionalExtension, Row, params};

use crate::{Batch, Scope, SessionNumber, Store, StoreError, entries};

/// A stretch of a session from which facts are drawn at once: a part of an episode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The episode it belongs to.
    pub episode: u64,
    /// Its first entry.
    pub first_seq: u64,
    /// Its last entry so far.
    pub last_seq: u64,
}

/// A fact with the session it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownFact {
    /// What was learned.
    pub fact: Fact,
    /// The session that says it.
    pub session: SessionId,
    /// Whose session.
    pub agent: Agent,
    /// Its name.
    pub session_name: Option<String>,
    /// Its project.
    pub project: Option<String>,
    /// Its kind.
    pub kind: SessionKind,
    /// The episode that says it.
    pub episode: u64,
    /// When we learned it.
    pub learned_at: Timestamp,
}

/// Which facts are wanted; newest first.
#[derive(Clone, Debug, Default)]
pub struct FactQuery<'a> {
    /// Where.
    pub scope: Scope,
    /// What they say; anything if empty.
    pub predicates: &'a [Predicate],
    /// What they are about, as subject or object.
    pub about: Option<&'a Entity>,
    /// Of one session.
    pub session: Option<SessionId>,
    /// Only what was said until then.
    pub until: Option<Timestamp>,
    /// At most this many.
    pub limit: Option<u64>,
}

/// From here on facts of models are numbered; rules never draw so many from one stretch.
const FIRST_OF_MODELS: i64 = 1_000_000;

const COLUMNS: &str = "fact.predicate, subject.kind, subject.name, object.kind, object.name, fact.detail, fact.reason,
    fact.state, fact.succeeded, fact.failed, fact.trust, fact.line, fact.evidence, fact.at, fact.model,
    session.id, session.agent, session.name, session.project, session.kind, fact.episode, fact.learned_at, fact.quote";

impl Store {
    /// Facts that fit the query, newest first.
    pub fn facts(&self, query: &FactQuery<'_>) -> Result<Vec<KnownFact>, StoreError> {
        self.select_facts(query).map_err(|cause| self.err(cause))
    }

    fn select_facts(&self, query: &FactQuery<'_>) -> rusqlite::Result<Vec<KnownFact>> {
        let project = match &query.scope {
            Scope::AllProjects => None,
            Scope::Project(path) => Some(path.as_str()),
        };
        let about = match query.about {
            None => None,
            Some(entity) => match number_of(&self.connection, self.space.as_str(), entity)? {
                None => return Ok(Vec::new()),
                found => found,
            },
        };
        let predicates = query.predicates.iter().map(|predicate| format!("'{}'", predicate.as_str()));
        let predicates = predicates.collect::<Vec<_>>().join(", ");
        let wanted =
            if predicates.is_empty() { String::new() } else { format!("AND fact.predicate IN ({predicates})") };
        // One look into each index: SQLite does not use both for a table without row ids.
        let (table, of_thing) = if about.is_some() {
            let subject = "SELECT * FROM fact INDEXED BY fact_by_subject WHERE space = ?1 AND subject = ?3";
            let object =
                "SELECT * FROM fact INDEXED BY fact_by_object WHERE space = ?1 AND object = ?3 AND subject <> ?3";
            (format!("({subject} UNION ALL {object}) AS fact"), "")
        } else {
            ("fact".to_owned(), "AND ?3 IS NULL")
        };
        let of_session = if query.session.is_some() {
            "AND fact.session = (SELECT num FROM session WHERE space = ?1 AND id = ?4)"
        } else {
            "AND ?4 IS NULL"
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM {table}
             JOIN session ON session.space = fact.space AND session.num = fact.session
             JOIN entity AS subject ON subject.space = fact.space AND subject.num = fact.subject
             LEFT JOIN entity AS object ON object.space = fact.space AND object.num = fact.object
             WHERE fact.space = ?1 {wanted} {of_thing} {of_session}
             AND (?2 IS NULL OR session.project = ?2 OR session.cwd = ?2
                  OR substr(session.cwd, 1, length(?2) + 1) = ?2 || '/')
             AND (?5 IS NULL OR fact.at IS NULL OR fact.at <= ?5)
             ORDER BY fact.at DESC, fact.session DESC, fact.unit DESC, fact.num DESC LIMIT ?6"
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

    /// Sessions whose facts were drawn by other rules, or not at all.
    pub fn sessions_with_other_rules(&self, version: u64) -> Result<Vec<SessionNumber>, StoreError> {
        let read = || -> rusqlite::Result<Vec<SessionNumber>> {
            let mut statement = self.connection.prepare_cached(
                "SELECT num FROM session WHERE space = ?1 AND facts <> ?2 AND kind <> 'gone' AND episodes > 0
                 ORDER BY num",
            )?;
            let values = params![self.space.as_str(), version as i64];
            statement.query_map(values, |row| row.get(0).map(SessionNumber))?.collect()
        };
        read().map_err(|cause| self.err(cause))
    }
}

impl Batch<'_> {
    /// The stretches of a session that hold this entry or later ones, in order.
    pub fn stretches(&self, session: SessionNumber, from_seq: u64) -> Result<Vec<Stretch>, StoreError> {
        let episodes: Vec<(i64, String, i64)> = self.all(
            "SELECT number, parts, last_seq FROM episode
             WHERE space = ?1 AND session = ?2 AND last_seq >= ?3 AND NOT abandoned ORDER BY number",
            params![self.space(), session.0, from_seq as i64],
            |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
        )?;
        let mut stretches = Vec::new();
        for (episode, parts, last) in episodes {
            let firsts: Vec<u64> = parts.split(',').filter_map(|seq| seq.parse().ok()).collect();
            let lasts = firsts.iter().skip(1).map(|first| first.saturating_sub(1)).chain([last as u64]);
            let episode = episode as u64;
            let all = firsts.iter().zip(lasts).map(|(first_seq, last_seq)| Stretch {
                episode,
                first_seq: *first_seq,
                last_seq,
            });
            stretches.extend(all.filter(|stretch| stretch.last_seq >= from_seq));
        }
        Ok(stretches)
    }

    /// What was to be remembered after the last stretch before this one.
    pub fn carry_before(&self, session: SessionNumber, first_seq: u64) -> Result<Option<String>, StoreError> {
        self.one(
            "SELECT carry FROM fact_unit WHERE space = ?1 AND session = ?2 AND first_seq < ?3
             ORDER BY first_seq DESC LIMIT 1",
            params![self.space(), session.0, first_seq as i64],
            |row| row.get(0),
        )
    }

    /// What was to be remembered after this stretch.
    pub fn carry_after(&self, session: SessionNumber, stretch: Stretch) -> Result<Option<String>, StoreError> {
        self.one(
            "SELECT carry FROM fact_unit WHERE space = ?1 AND session = ?2 AND first_seq = ?3",
            params![self.space(), session.0, stretch.first_seq as i64],
            |row| row.get(0),
        )
    }

    /// The entries of a stretch that still count.
    pub fn stretch_entries(&self, session: SessionNumber, stretch: Stretch) -> Result<Vec<Entry>, StoreError> {
        let sql = format!(
            "SELECT {} FROM entry WHERE space = ?1 AND session = ?2 AND seq BETWEEN ?3 AND ?4 AND episode = ?5
             AND NOT (abandoned OR taken_back) ORDER BY seq",
            entries::COLUMNS
        );
        let [first, last, episode] = [stretch.first_seq, stretch.last_seq, stretch.episode].map(|count| count as i64);
        self.all(&sql, params![self.space(), session.0, first, last, episode], entries::from_row)
    }

    /// Replaces what was drawn from a stretch by rules; how many facts there are more than before. What was known
    /// already keeps the time it was learned at.
    pub fn put_facts(
        &mut self,
        session: SessionNumber,
        stretch: Stretch,
        facts: &[Fact],
        carry: &str,
        now: Timestamp,
    ) -> Result<i64, StoreError> {
        let unit = stretch.first_seq as i64;
        let learned = self.learned(session, unit)?;
        if !learned.is_empty() {
            self.run(
                "DELETE FROM fact WHERE space = ?1 AND session = ?2 AND unit = ?3 AND model IS NULL",
                params![self.space(), session.0, unit],
            )?;
        }
        for (number, fact) in facts.iter().enumerate() {
            let subject = self.entity(&fact.subject)?;
            let object = fact.object.as_ref().map(|object| self.entity(object)).transpose()?;
            let key = (fact.predicate.as_str().to_owned(), subject, fact.line as i64);
            let at = learned.get(&key).copied().unwrap_or_else(|| now.as_millis());
            self.insert_fact(session, (unit, number as i64, stretch.episode), fact, (subject, object), at)?;
        }
        self.run(
            "INSERT INTO fact_unit (space, session, first_seq, carry) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT DO UPDATE SET carry = excluded.carry",
            params![self.space(), session.0, unit, carry],
        )?;
        Ok(facts.len() as i64 - learned.len() as i64)
    }

    /// Adds what a model found in a stretch, beside what rules drew from it and what a model found before; how many.
    pub fn put_model_facts(
        &mut self,
        session: SessionNumber,
        stretch: Stretch,
        facts: &[Fact],
        model: &str,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let unit = stretch.first_seq as i64;
        let last: Option<Option<i64>> = self.one(
            "SELECT max(num) FROM fact WHERE space = ?1 AND session = ?2 AND unit = ?3 AND num >= ?4",
            params![self.space(), session.0, unit, FIRST_OF_MODELS],
            |row| row.get(0),
        )?;
        let first = last.flatten().map_or(FIRST_OF_MODELS, |last| last + 1);
        for (number, fact) in (first..).zip(facts) {
            let subject = self.entity(&fact.subject)?;
            let object = fact.object.as_ref().map(|object| self.entity(object)).transpose()?;
            let fact = Fact { model: Some(model.to_owned()), ..fact.clone() };
            self.insert_fact(session, (unit, number, stretch.episode), &fact, (subject, object), now.as_millis())?;
        }
        Ok(facts.len() as u64)
    }

    /// Removes all that was drawn from a session by rules, before it is drawn anew. What a model added stays as long as
    /// the line that says it is on the branch the session is on.
    pub fn clear_facts(&mut self, session: SessionNumber) -> Result<(), StoreError> {
        let said = "SELECT episode FROM entry WHERE entry.space = ?1 AND entry.session = ?2
             AND entry.line = fact.line AND NOT (abandoned OR taken_back) AND episode IS NOT NULL";
        let of_models = "space = ?1 AND session = ?2 AND model IS NOT NULL";
        let gone = format!("DELETE FROM fact WHERE {of_models} AND NOT EXISTS ({said})");
        self.run(&gone, params![self.space(), session.0])?;
        let moved = format!("UPDATE fact SET episode = ({said} LIMIT 1) WHERE {of_models}");
        self.run(&moved, params![self.space(), session.0])?;
        self.run(
            "DELETE FROM fact WHERE space = ?1 AND session = ?2 AND model IS NULL",
            params![self.space(), session.0],
        )?;
        self.run("DELETE FROM fact_unit WHERE space = ?1 AND session = ?2", params![self.space(), session.0])?;
        self.set_fact_rules(session, 0)
    }

    /// Notes by which version of the rules a session's facts were drawn.
    pub fn set_fact_rules(&mut self, session: SessionNumber, version: u64) -> Result<(), StoreError> {
        self.run(
            "UPDATE session SET facts = ?3 WHERE space = ?1 AND num = ?2 AND facts <> ?3",
            params![self.space(), session.0, version as i64],
        )
    }

    fn learned(&self, session: SessionNumber, unit: i64) -> Result<HashMap<(String, i64, i64), i64>, StoreError> {
        let rows = self.all(
            "SELECT predicate, subject, line, learned_at FROM fact
             WHERE space = ?1 AND session = ?2 AND unit = ?3 AND model IS NULL",
            params![self.space(), session.0, unit],
            |row| Ok(((row.get(0)?, row.get(1)?, row.get(2)?), row.get(3)?)),
        )?;
        Ok(rows.into_iter().collect())
    }

    fn insert_fact(
        &mut self,
        session: SessionNumber,
        (unit, number, episode): (i64, i64, u64),
        fact: &Fact,
        (subject, object): (i64, Option<i64>),
        learned_at: i64,
    ) -> Result<(), StoreError> {
        let evidence = fact.evidence.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        self.run(
            "INSERT INTO fact (space, session, unit, num, episode, predicate, subject, object, detail, reason, state,
             succeeded, failed, trust, line, evidence, at, learned_at, model, quote)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20)",
            params![
                self.space(),
                session.0,
                unit,
                number,
                episode as i64,
                fact.predicate.as_str(),
                subject,
                object,
                fact.detail,
                fact.reason,
                fact.state.as_str(),
                fact.succeeded as i64,
                fact.failed as i64,
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

    /// The number of a thing, given if it has none.
    fn entity(&mut self, entity: &Entity) -> Result<i64, StoreError> {
        let found = number_of(self.connection(), self.space(), entity).map_err(|cause| self.err(cause))?;
        if let Some(number) = found {
            return Ok(number);
        }
        let number = self.next_number("entity")?;
        self.run(
            "INSERT INTO entity (space, num, kind, name) VALUES (?1, ?2, ?3, ?4)",
            params![self.space(), number, entity.kind.as_str(), entity.name],
        )?;
        Ok(number)
    }
}

fn number_of(connection: &rusqlite::Connection, space: &str, entity: &Entity) -> rusqlite::Result<Option<i64>> {
    connection
        .prepare_cached("SELECT num FROM entity WHERE space = ?1 AND kind = ?2 AND name = ?3")?
        .query_row(params![space, entity.kind.as_str(), entity.name], |row| row.get(0))
        .optional()
}

/// The thing in two columns; nothing where a newer program wrote a kind that is not known here.
fn entity(row: &Row<'_>, at: usize) -> rusqlite::Result<Option<Entity>> {
    let Some(kind) = row.get_ref(at)?.as_str_or_null()?.and_then(EntityKind::from_stored) else { return Ok(None) };
    Ok(Some(Entity { kind, name: row.get(at + 1)? }))
}

fn from_row(row: &Row<'_>) -> rusqlite::Result<Option<KnownFact>> {
    let (Some(predicate), Some(subject)) = (Predicate::from_stored(row.get_ref(0)?.as_str()?), entity(row, 1)?) else {
        return Ok(None);
    };
    let count = |at: usize| row.get::<_, i64>(at).map(|number| number as u64);
    let fact = Fact {
        predicate,
        subject,
        object: entity(row, 3)?,
        detail: row.get(5)?,
        reason: row.get(6)?,
        quote: row.get(22)?,
        state: FactState::from_stored(row.get_ref(7)?.as_str()?),
        succeeded: count(8)?,
        failed: count(9)?,
        trust: Trust::from_stored(row.get_ref(10)?.as_str()?),
        line: count(11)?,
        evidence: row.get_ref(12)?.as_str()?.split(',').filter_map(|line| line.parse().ok()).collect(),
        at: row.get::<_, Option<i64>>(13)?.map(Timestamp::from_millis),
        model: row.get(14)?,
    };
    let (Ok(session), Ok(agent)) = (row.get::<_, String>(15)?.parse(), row.get::<_, String>(16)?.parse()) else {
        return Ok(None);
    };
    let kind = if row.get_ref(19)?.as_str()? == "child" { SessionKind::Child } else { SessionKind::Main };
    Ok(Some(KnownFact {
        fact,
        session,
        agent,
        session_name: row.get(17)?,
        project: row.get(18)?,
        kind,
        episode: count(20)?,
        learned_at: Timestamp::from_millis(row.get(21)?),
    }))
}
