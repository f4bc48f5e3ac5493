//! Cards of sessions: what a model wrote if one did, made by rules on the spot otherwise.

mod after_turn;
mod export;
mod refresh;
mod settings;

use std::path::PathBuf;

use rethread_ingest::given_title;
use rethread_model::{Session, Timestamp};
use rethread_recall::{CardFields, CardSource, card_by_rules, card_fields};
use rethread_store::{SessionKey, SessionNumber, Store, StoredCard};
use serde_json::{Value, json};

use crate::{Engine, EngineError};

pub(crate) use export::file_stem;
pub use refresh::{CardPlan, Refresh, Refreshed};
pub(crate) use settings::problem_in;

/// Entries that are read of the beginning of a session for a card by rules.
const FIRST_ENTRIES: u64 = 80;
/// Bytes of an entry that are looked at.
const LONGEST_ENTRY: usize = 20_000;
/// And of its end.
const LAST_ENTRIES: u64 = 400;

/// What a model wrote, as it is kept and as it is read.
type WrittenCard = (StoredCard, CardFields);

/// The card of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// The session.
    pub session: Session,
    /// What the card says.
    pub fields: CardFields,
    /// The model that wrote it; nothing if it was made by rules.
    pub made_by: Option<String>,
    /// When the first card was written; of one by rules, when the session began.
    pub created_at: Timestamp,
    /// When this one was written; of one by rules, when the session last went on.
    pub updated_at: Timestamp,
    /// Whether the session has gone on since a model wrote it.
    pub is_older: bool,
    /// A file with a card that could not be read. It counts as missing; the next card of a model replaces it.
    pub damaged: Option<PathBuf>,
}

impl Engine {
    /// The card of the session a reference means.
    pub fn card(&self, reference: &str) -> Result<Card, EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let (number, session) = self.session_for_card(&store, reference)?;
        self.card_of(&store, number, session)
    }

    /// The card of a session, quickly: of a long one only both ends are read.
    pub(crate) fn card_of(&self, store: &Store, number: SessionNumber, session: Session) -> Result<Card, EngineError> {
        let (written, damaged) = self.written_card(store, &session)?;
        if let Some((card, fields)) = written {
            let is_older = store.leaf(number)?.is_some_and(|leaf| leaf != card.leaf);
            let (made_by, created_at, updated_at) = (Some(card.model), card.created_at, card.updated_at);
            return Ok(Card { session, fields, made_by, created_at, updated_at, is_older, damaged });
        }
        let fields = Self::fields_by_rules(store, number, &session)?;
        let created_at = session.started_at.or(session.last_activity_at).unwrap_or_else(|| self.now());
        let updated_at = session.last_activity_at.unwrap_or(created_at);
        Ok(Card { session, fields, made_by: None, created_at, updated_at, is_older: false, damaged })
    }

    /// What a model wrote: in the store, or in the exported file if the store was made anew; and a file that is
    /// damaged.
    fn written_card(
        &self,
        store: &Store,
        session: &Session,
    ) -> Result<(Option<WrittenCard>, Option<PathBuf>), EngineError> {
        let kept = store.card(key(session))?.and_then(|card| {
            let fields = serde_json::from_str::<Value>(&card.fields).ok().and_then(|value| card_fields(&value).ok());
            fields.map(|fields| (card, fields))
        });
        if kept.is_some() {
            return Ok((kept, None));
        }
        let path = self.card_path(session);
        Ok(match export::read(&path) {
            Ok(found) => (found, None),
            Err(export::Damaged) => (None, Some(path)),
        })
    }

    fn fields_by_rules(store: &Store, number: SessionNumber, session: &Session) -> Result<CardFields, EngineError> {
        let mut entries = store.ends_of_branch(number, FIRST_ENTRIES, LAST_ENTRIES)?;
        for entry in entries.iter_mut().filter(|entry| entry.text.len() > LONGEST_ENTRY) {
            // What is told beyond that tells no more of what it is about.
            entry.text.truncate(entry.text.floor_char_boundary(LONGEST_ENTRY));
        }
        let title = store.memory(session.id)?.and_then(|memory| given_title(&memory));
        Ok(card_by_rules(&CardSource { session, title: title.as_deref(), entries: &entries }))
    }

    fn session_for_card(&self, store: &Store, reference: &str) -> Result<(SessionNumber, Session), EngineError> {
        let session = self.resolve_in(store, reference)?.session;
        let number = store.session_number(session.id)?;
        number.map(|number| (number, session)).ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))
    }
}

fn key(session: &Session) -> SessionKey<'_> {
    SessionKey { agent: session.agent, external_id: &session.external_id }
}

/// The fields as they are stored.
fn stored_fields(fields: &CardFields) -> Value {
    json!({
        "name": fields.name,
        "description": fields.description,
        "summary": fields.summary,
        "tags": fields.tags,
    })
}
