//! Groups sessions that are nearly the same, so that a result shows one of them.
//!
//! Copies have the same first turn. A fork belongs to the session it was forked from. Sub-agents of one session do
//! different work, so they do not belong together.

use std::hash::{Hash as _, Hasher as _};

use rethread_model::{EntryKind, Session, SessionId, SessionKind};
use rethread_store::{ReadStore, SessionNumber, StoreError};
use rustc_hash::{FxHashMap, FxHasher};

/// Entries at the start of a session that are compared.
const COMPARED_ENTRIES: u64 = 8;
/// Shorter first turns ("hi", "commit this") are equal by chance.
const MIN_TURN_BYTES: usize = 100;

/// What the sessions of a group share.
#[derive(PartialEq, Eq, Hash)]
enum SharedTrait {
    Session(SessionId),
    FirstTurn(u64),
}

/// The groups of the sessions seen so far. The first member of a group leads it.
pub(crate) struct SessionGroups<'s> {
    store: &'s ReadStore,
    leaders: FxHashMap<SharedTrait, SessionNumber>,
    known: FxHashMap<SessionNumber, SessionNumber>,
    /// Texts shown by each group, with the session that has them.
    shown_texts: FxHashMap<(SessionNumber, u64), SessionNumber>,
}

impl<'s> SessionGroups<'s> {
    pub(crate) fn new(store: &'s ReadStore) -> Self {
        Self { store, leaders: FxHashMap::default(), known: FxHashMap::default(), shown_texts: FxHashMap::default() }
    }

    /// The first session seen of the group that this one belongs to; itself if it is the first.
    pub(crate) fn leader(&mut self, number: SessionNumber, session: &Session) -> Result<SessionNumber, StoreError> {
        if let Some(leader) = self.known.get(&number) {
            return Ok(*leader);
        }
        let turn = first_turn_hash(&self.store.first_texts(number, COMPARED_ENTRIES)?);
        let origin = session.parent.filter(|_| session.kind == SessionKind::Main);
        let keys = [Some(session.id), origin].into_iter().flatten().map(SharedTrait::Session);
        let keys: Vec<SharedTrait> = keys.chain(turn.map(SharedTrait::FirstTurn)).collect();
        let leader = keys.iter().find_map(|key| self.leaders.get(key).copied()).unwrap_or(number);
        for key in keys {
            self.leaders.entry(key).or_insert(leader);
        }
        self.known.insert(number, leader);
        Ok(leader)
    }

    /// The session that already showed this text, if it is another one of the same group.
    pub(crate) fn shown_by(
        &mut self,
        number: SessionNumber,
        session: &Session,
        text: &str,
    ) -> Result<Option<SessionNumber>, StoreError> {
        let key = (self.leader(number, session)?, hash([text]));
        let first = *self.shown_texts.entry(key).or_insert(number);
        Ok((first != number).then_some(first))
    }
}

/// Two runs of the same task may begin with the same calls, but the agent writes other words. So without any of these
/// nothing is compared.
fn first_turn_hash(texts: &[(EntryKind, String)]) -> Option<u64> {
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    let has_reply = texts.iter().any(|(kind, _)| *kind == EntryKind::AssistantText);
    (has_reply && bytes >= MIN_TURN_BYTES).then(|| hash(texts.iter().map(|(_, text)| text.as_str())))
}

fn hash<'t>(texts: impl IntoIterator<Item = &'t str>) -> u64 {
    let mut hasher = FxHasher::default();
    texts.into_iter().for_each(|text| text.hash(&mut hasher));
    hasher.finish()
}
