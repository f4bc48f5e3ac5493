//! What a commit says about itself: which store it follows, how far, and in which version.

use std::path::Path;

use rethread_store::Head;
use serde::{Deserialize, Serialize};
use tantivy::Index;

use crate::schema::VERSION;

/// Why an index cannot be used as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// There is none.
    Missing,
    /// It cannot be read.
    Damaged,
    /// Another version of the program made it.
    OtherVersion,
    /// It was made from another database, or the database was put back to an earlier moment.
    OtherStore,
}

/// The commit payload, not the segment count, says how far the index is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Payload {
    version: u32,
    store: i64,
    pub(crate) change: i64,
}

impl Payload {
    pub(crate) fn of(head: Head) -> Self {
        Self { version: VERSION, store: head.identity, change: head.change }
    }

    pub(crate) fn to_text(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }

    /// Reads the payload of the index in that folder.
    pub(crate) fn load(folder: &Path) -> Result<Self, Unusable> {
        if !folder.join("meta.json").exists() {
            return Err(Unusable::Missing);
        }
        let index = Index::open_in_dir(folder).map_err(|_| Unusable::Damaged)?;
        Self::of_index(&index)
    }

    pub(crate) fn of_index(index: &Index) -> Result<Self, Unusable> {
        let metas = index.load_metas().map_err(|_| Unusable::Damaged)?;
        let text = metas.payload.ok_or(Unusable::Damaged)?;
        let payload: Self = serde_json::from_str(&text).map_err(|_| Unusable::OtherVersion)?;
        let (schema, _) = crate::schema::schema();
        let same = payload.version == VERSION && index.schema() == schema;
        if same { Ok(payload) } else { Err(Unusable::OtherVersion) }
    }

    /// Whether the payload is of this store, and not ahead of it.
    pub(crate) fn of_store(self, head: Head) -> Result<Self, Unusable> {
        let same = self.store == head.identity && self.change <= head.change;
        if same { Ok(self) } else { Err(Unusable::OtherStore) }
    }
}
