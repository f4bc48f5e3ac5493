//! Cards as files for other programs: `cards/<session-uuid>.meta.json`, in the shape of the first session index.

use std::fs;
use std::path::{Path, PathBuf};

use rethread_model::{Session, Timestamp};
use rethread_recall::{CardFields, card_fields};
use rethread_store::{Store, StoredCard};
use serde::{Deserialize, Serialize};

use super::{Card, WrittenCard, stored_fields};
use crate::{Engine, EngineError, home};

/// The version of the shape (E001-07).
const SCHEMA_VERSION: u8 = 1;
/// Who makes cards where no model does.
const RULES: &str = "rules";
/// A file that is longer holds something else.
const LONGEST: u64 = 256 * 1024;

/// The exact shape that other programs rely on (S001-15).
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    schema_version: u8,
    session_id: String,
    session_file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    parent_session_file: Option<String>,
    name: String,
    description: String,
    summary: String,
    tags: Vec<String>,
    cwd: String,
    created_at: String,
    updated_at: String,
    model: String,
    last_indexed_leaf_id: String,
}

/// A file that is there and holds no card.
#[derive(Debug)]
pub(super) struct Damaged;

/// The card of a model in a file; nothing if there is no file, or only a card by rules in it.
pub(super) fn read(path: &Path) -> Result<Option<WrittenCard>, Damaged> {
    let Ok(about) = fs::symlink_metadata(path) else { return Ok(None) };
    // A pipe or a device would be waited for.
    if !about.is_file() || about.len() > LONGEST {
        return Err(Damaged);
    }
    let text = fs::read_to_string(path).map_err(|_| Damaged)?;
    let meta: Meta = serde_json::from_str(&text).map_err(|_| Damaged)?;
    if meta.model == RULES {
        return Ok(None);
    }
    let moment = |text: &str| text.parse::<Timestamp>().map_err(|_| Damaged);
    let (created_at, updated_at) = (moment(&meta.created_at)?, moment(&meta.updated_at)?);
    let Meta { name, description, summary, tags, .. } = meta;
    let value = stored_fields(&CardFields { name, description, summary, tags });
    let fields = card_fields(&value).map_err(|_| Damaged)?;
    let (model, leaf) = (meta.model, meta.last_indexed_leaf_id);
    Ok(Some((StoredCard { fields: value.to_string(), model, created_at, updated_at, leaf, prompts: 0 }, fields)))
}

impl Engine {
    /// Writes the card of the session a reference means to its file, whoever made it; where to.
    pub fn export_card(&self, reference: &str) -> Result<(Card, PathBuf), EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let (number, session) = self.session_for_card(&store, reference)?;
        let (written, _) = self.written_card(&store, &session)?;
        let card = self.card_of(&store, number, session)?;
        let leaf = match written {
            Some((stored, _)) => stored.leaf,
            None => store.leaf(number)?.unwrap_or_default(),
        };
        let path = self.write_card_file(&store, &card, &leaf)?;
        Ok((card, path))
    }

    /// Where a session's card is written. An id that would not be a file's name is replaced by ours.
    pub(super) fn card_path(&self, session: &Session) -> PathBuf {
        self.cards_folder().join(format!("{}.meta.json", file_stem(session)))
    }

    pub(crate) fn cards_folder(&self) -> PathBuf {
        self.folder.join("cards")
    }

    pub(super) fn write_card_file(&self, store: &Store, card: &Card, leaf: &str) -> Result<PathBuf, EngineError> {
        let session = &card.session;
        let parent = match session.parent {
            Some(parent) => store.sessions_by_exact_reference(&parent.to_string())?.pop(),
            None => None,
        };
        let meta = Meta {
            schema_version: SCHEMA_VERSION,
            session_id: session.external_id.clone(),
            session_file: session.transcript.clone().unwrap_or_default(),
            parent_session_file: parent.and_then(|parent| parent.transcript),
            name: card.fields.name.clone(),
            description: card.fields.description.clone(),
            summary: card.fields.summary.clone(),
            tags: card.fields.tags.clone(),
            cwd: session.cwd.clone().unwrap_or_default(),
            created_at: card.created_at.to_string(),
            updated_at: card.updated_at.to_string(),
            model: card.made_by.clone().unwrap_or_else(|| RULES.to_owned()),
            last_indexed_leaf_id: leaf.to_owned(),
        };
        let text = serde_json::to_string_pretty(&meta).map_err(EngineError::Memory)? + "\n";
        home::prepare(&self.cards_folder())?;
        let path = self.card_path(session);
        match home::write_whole(&path, &text) {
            Ok(()) => Ok(path),
            Err(cause) => Err(EngineError::Folder { path, cause }),
        }
    }

    /// Removes the files of a session that is gone.
    pub(crate) fn remove_card_file(&self, stem: &str) {
        for end in ["meta.json", "lock"] {
            let _ = fs::remove_file(self.cards_folder().join(format!("{stem}.{end}")));
        }
    }
}

/// The agent's id where it can be the name of a file, ours otherwise.
pub(crate) fn file_stem(session: &Session) -> String {
    let id = &session.external_id;
    let is_safe =
        (1..=100).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
    if is_safe { id.clone() } else { session.id.to_string() }
}
