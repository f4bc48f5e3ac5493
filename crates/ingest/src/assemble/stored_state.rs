//! What an assembler asks about earlier reads. The caller answers, so that this crate needs no database.

use rethread_model::{EntryOwner, NativeKey, Timestamp};

/// Queries about what the store already contains.
pub trait StoredState {
    /// Error of the store.
    type Error;

    /// The owner of the entry with this native key, if there is one.
    fn entry_owner(&self, key: NativeKey) -> Result<Option<EntryOwner>, Self::Error>;
    /// Whether this session already stored this queue step or undo step.
    fn has_queue_step(&self, key: NativeKey) -> Result<bool, Self::Error>;
    /// Whether this session has a node with this id.
    fn has_node(&self, id: NativeKey) -> Result<bool, Self::Error>;
    /// Whether another session has a node with this lineage.
    fn is_copied_node(&self, lineage: NativeKey) -> Result<bool, Self::Error>;
    /// Whether an entry, line or node with this key was forgotten.
    fn is_forgotten_key(&self, key: NativeKey) -> Result<bool, Self::Error>;
    /// Whether an entry with this time, text and arguments was forgotten.
    fn is_forgotten_content(&self, at: Option<Timestamp>, text: &str, arguments: &str) -> Result<bool, Self::Error>;
    /// Whether the agent's session with this id is stored.
    fn has_session(&self, external_id: &str) -> Result<bool, Self::Error>;
    /// Whether the agent's session with this id was forgotten.
    fn is_forgotten(&self, external_id: &str) -> Result<bool, Self::Error>;
    /// The `seq` of this session's last prompts, newest first, without retracted ones.
    fn last_prompts(&self, count: u64) -> Result<Vec<u64>, Self::Error>;
    /// The `seq` of this session's first entry with this key, or from the line with this key.
    fn first_seq_of(&self, key: NativeKey) -> Result<Option<u64>, Self::Error>;
    /// Whether this session already recorded an edit of the path.
    fn has_edited(&self, path: &str) -> Result<bool, Self::Error>;
}
