//! The sessions beside one: reads what is new in their transcripts, and tells what they did.

use std::collections::HashMap;
use std::path::PathBuf;

use rethread_model::{Agent, Session, Timestamp};
use rethread_recall::OtherSession;
use rethread_store::{SessionKey, SessionNumber, Store, Watermark};

use crate::{Engine, EngineError};

/// Sessions in which nothing happened for longer are not looked at.
pub(super) const NEIGHBOUR_MILLIS: i64 = 24 * 3_600_000;
/// Of a session that is seen for the first time only the last hour is told.
const FIRST_SIGHT_MILLIS: i64 = 3_600_000;
/// A session that ended so shortly before was cleared to make room for the one that begins.
const CLEARED_MILLIS: i64 = 5_000;
/// Names that begin so are of sessions that nobody wants to hear of.
const EPHEMERAL: &str = "new-";

/// What the sessions beside a reader did since it last looked.
#[derive(Clone, Debug, Default)]
pub(super) struct Neighbours {
    /// Those with something new.
    pub(super) others: Vec<OtherSession>,
    /// How far each of them has been seen once it was told.
    pub(super) marks: Vec<Watermark>,
    /// How far those have been seen that did something, but nothing worth telling.
    pub(super) quiet: Vec<Watermark>,
}

impl Engine {
    /// Reads what is new in the transcripts of sessions at work in a project. One that cannot be read hides no other.
    pub(super) fn catch_up(&self, store: &mut Store, project: &str, now: Timestamp) -> Result<(), EngineError> {
        let since = Timestamp::from_millis(now.as_millis() - NEIGHBOUR_MILLIS);
        let grown = store.at_one_moment(|store| -> Result<_, EngineError> {
            let mut grown: HashMap<Agent, Vec<PathBuf>> = HashMap::new();
            for (_, session) in store.live_sessions(project, since)? {
                let Some(path) = session.transcript.as_deref() else { continue };
                let known = store.transcript(path)?.map(|row| row.fingerprint.size);
                let about = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file);
                let size = about.map(|about| about.len());
                if size.is_some() && size != known {
                    grown.entry(session.agent).or_default().push(PathBuf::from(path));
                }
            }
            Ok(grown)
        })?;
        for (agent, paths) in grown {
            self.take_in_with(store, agent, &paths)?;
        }
        Ok(())
    }

    /// The session that somebody has just cleared is no news to the one that takes its place.
    pub(super) fn pass_over_cleared(
        store: &mut Store,
        reader: SessionKey<'_>,
        project: &str,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let found = Self::neighbours(store, reader, project, now)?;
        let mut cleared = Vec::new();
        for mark in found.marks {
            let Some(session) = store.session_by_number(mark.session)? else { continue };
            let key = SessionKey { agent: session.agent, external_id: &session.external_id };
            let closed = store.life(key)?.and_then(|life| life.closed);
            let is_fresh = closed.is_some_and(|(_, at)| now.millis_since(at) <= CLEARED_MILLIS);
            cleared.extend((is_fresh && session.agent == reader.agent).then_some(mark));
        }
        let mut batch = store.begin()?;
        for mark in cleared {
            batch.see(reader, mark)?;
        }
        Ok(batch.commit()?)
    }

    /// What the other sessions of a project did since the reader last looked.
    pub(super) fn neighbours(
        store: &Store,
        reader: SessionKey<'_>,
        project: &str,
        now: Timestamp,
    ) -> Result<Neighbours, EngineError> {
        let ago = |millis: i64| Timestamp::from_millis(now.as_millis() - millis);
        let seen: HashMap<SessionNumber, u64> = store.seen(reader)?.into_iter().collect();
        let mut found = Neighbours::default();
        for (number, session) in store.live_sessions(project, ago(NEIGHBOUR_MILLIS))? {
            if !is_neighbour(&session, reader) {
                continue;
            }
            let deeds = match seen.get(&number) {
                Some(seq) => store.deeds_since(number, Some(*seq), Timestamp::from_millis(0))?,
                None => store.deeds_since(number, None, ago(FIRST_SIGHT_MILLIS))?,
            };
            let Some(last) = deeds.last_seq else { continue };
            // A transcript that was rewritten has fewer entries than were seen: it is met for the first time again.
            let deeds = match seen.get(&number) {
                Some(seq) if *seq > last => store.deeds_since(number, None, ago(FIRST_SIGHT_MILLIS))?,
                _ => deeds,
            };
            let mark = Watermark { session: number, from: seen.get(&number).copied(), to: last };
            if deeds.entries.is_empty() {
                found.quiet.extend((mark.from != Some(last)).then_some(mark));
            } else {
                found.marks.push(mark);
                found.others.push(OtherSession {
                    name: name_of(&session),
                    branch: session.branch,
                    project: session.project,
                    messages: deeds.messages,
                    entries: deeds.entries,
                });
            }
        }
        Ok(found)
    }
}

pub(super) fn is_neighbour(session: &Session, reader: SessionKey<'_>) -> bool {
    let is_self = session.agent == reader.agent && session.external_id == reader.external_id;
    let is_ephemeral = session.alias.as_deref().is_some_and(|alias| alias.starts_with(EPHEMERAL));
    !is_self && !is_ephemeral && session.agent != Agent::Native
}

pub(super) fn name_of(session: &Session) -> String {
    let named = session.alias.clone().or_else(|| session.name.clone());
    named.unwrap_or_else(|| session.external_id.chars().take(8).collect())
}
