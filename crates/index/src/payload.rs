//! The payload of an index commit: which store it was made from, up to which change, in which version.

use std::path::Path;

use rethread_store::StoreHead;
use serde::{Deserialize, Serialize};
use tantivy::Index;

use crate::open::open_to_read;
use crate::schema::INDEX_VERSION;

/// Why an index cannot be used and must be rebuilt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexProblem {
    /// There is no index.
    Missing,
    /// It cannot be read.
    Damaged,
    /// It was made by another version of the program.
    OtherVersion,
    /// It was made from another database, or the database was restored to an earlier state.
    OtherStore,
}

/// Stored with each commit, so that index content and position are always consistent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CommitPayload {
    version: u32,
    store: i64,
    pub(crate) change: i64,
}

impl CommitPayload {
    pub(crate) fn for_head(head: StoreHead) -> Self {
        Self { version: INDEX_VERSION, store: head.identity, change: head.change }
    }

    /// The state of the store that the index shows.
    pub(crate) fn head(self) -> StoreHead {
        StoreHead { identity: self.store, change: self.change }
    }

    pub(crate) fn to_text(self) -> String {
        serde_json::to_string(&self).unwrap_or_default()
    }

    /// Reads the payload of the index in a folder.
    pub(crate) fn load(folder: &Path) -> Result<Self, IndexProblem> {
        if !folder.join("meta.json").exists() {
            return Err(IndexProblem::Missing);
        }
        let index = open_to_read(folder).map_err(|_| IndexProblem::Damaged)?;
        Self::from_index(&index)
    }

    pub(crate) fn from_index(index: &Index) -> Result<Self, IndexProblem> {
        let metas = index.load_metas().map_err(|_| IndexProblem::Damaged)?;
        let text = metas.payload.ok_or(IndexProblem::Damaged)?;
        let payload: Self = serde_json::from_str(&text).map_err(|_| IndexProblem::OtherVersion)?;
        let (schema, _) = crate::schema::schema();
        let same = payload.version == INDEX_VERSION && index.schema() == schema;
        if same { Ok(payload) } else { Err(IndexProblem::OtherVersion) }
    }

    /// Checks that the index was made from this store and is not ahead of it.
    pub(crate) fn check_store(self, head: StoreHead) -> Result<Self, IndexProblem> {
        let same = self.store == head.identity && self.change <= head.change;
        if same { Ok(self) } else { Err(IndexProblem::OtherStore) }
    }
}
