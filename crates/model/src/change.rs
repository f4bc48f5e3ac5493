//! The changes that reading a transcript produces: `ingest` computes them, `store` writes them.

use std::collections::{BTreeMap, HashMap};

use crate::{Entry, EntryKind, EntryLocation, Episode, NativeKey, Timestamp, Tokens, ToolOutcome};

/// Which session owns an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOwner {
    /// The session being read.
    ThisSession,
    /// Another session.
    OtherSession,
    /// The entry was forgotten on the user's order and must not be stored again.
    Forgotten,
}

/// A new entry with the keys used to look it up.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// The entry to add.
    pub entry: Entry,
    /// Key of its native id.
    pub native_key: NativeKey,
    /// Key of the id of its line.
    pub line_key: NativeKey,
    /// Key of the API message it came from.
    pub message_key: Option<NativeKey>,
    /// Key of its tree node, for agents that store a tree of entries.
    pub node_key: Option<NativeKey>,
}

/// Token usage and cost of one API message.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessageUsage {
    /// Tokens of this message.
    pub tokens: Tokens,
    /// Of the tokens written to the cache, those stored for an hour instead of five minutes. They cost more.
    pub hour_write_tokens: u64,
    /// The model that answered.
    pub model: Option<String>,
    /// Time of the message.
    pub at: Option<Timestamp>,
    /// Cost in US dollars, if the transcript reports it.
    pub cost_usd: Option<f64>,
}

/// Everything a batch of events changed in one session; stored in one transaction.
#[derive(Debug, Default)]
pub struct SessionChanges {
    /// Entries to add.
    pub entries: Vec<NewEntry>,
    /// Results of calls that were stored earlier, by the call's `seq`.
    pub outcomes: Vec<(u64, ToolOutcome)>,
    /// Tool errors to add to closed episodes, by episode number.
    pub late_errors: BTreeMap<u64, u64>,
    /// Usage by API message.
    pub usage: HashMap<NativeKey, MessageUsage>,
    /// Paths edited for the first time in this session.
    pub edited_paths: Vec<String>,
    /// Episodes that are complete.
    pub closed_episodes: Vec<Episode>,
    /// New nodes of the agent's tree.
    pub nodes: Vec<TreeNode>,
    /// Titles for other sessions, each identified by the key of one of their entries.
    pub other_session_titles: Vec<(NativeKey, String)>,
    /// Steps of the prompt queue and undo steps, stored so that they are recognized if they are read again.
    pub queue_steps: Vec<NativeKey>,
    /// Entries whose own line came later than their text: `seq`, new native id and its key.
    pub renamed_entries: Vec<(u64, String, NativeKey)>,
    /// `seq` of queued prompts that the user retracted, and of entries that the user undid.
    pub retracted: Vec<u64>,
    /// Keys of calls that are copies of forgotten ones: their results stay out, too.
    pub forgotten_calls: Vec<NativeKey>,
    /// Whether the active branch changed, so that episodes must be rebuilt from the stored entries.
    pub should_rebuild_episodes: bool,
}

/// A node of the agent's entry tree: one transcript line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeNode {
    /// Transcript line, counted from 1.
    pub line: u64,
    /// Key of its id inside the session.
    pub id: NativeKey,
    /// Key of the parent node's id.
    pub parent: Option<NativeKey>,
    /// Key of its id and time; a copy in another file has the same lineage.
    pub lineage: NativeKey,
}

/// The fields of a stored entry that are needed to rebuild episodes.
#[derive(Clone, Debug)]
pub struct EntryOutline {
    /// Position in the session.
    pub seq: u64,
    /// The agent's id of the entry.
    pub native_id: String,
    /// Position in the transcript.
    pub location: EntryLocation,
    /// Time of the entry, if the agent recorded it.
    pub at: Option<Timestamp>,
    /// Kind of entry.
    pub kind: EntryKind,
    /// The API message it belongs to.
    pub message_key: Option<NativeKey>,
    /// The tree node it belongs to.
    pub node_key: Option<NativeKey>,
    /// Bytes of text stored for it.
    pub kept_bytes: u64,
    /// Whether its result was flagged as an error.
    pub is_error: bool,
    /// Paths it changed.
    pub edited_paths: Vec<String>,
    /// Whether the user retracted it before it was sent, or undid it later.
    pub is_retracted: bool,
    /// Whether it is no longer in its transcript, because the agent rewrote that.
    pub is_superseded: bool,
}
