//! What a reading of a transcript changes: the words between `ingest`, which finds it out, and `store`, which keeps it.

use std::collections::{BTreeMap, HashMap};

use crate::{Entry, Episode, NativeKey, Outcome, Place, Speech, Timestamp, Tokens};

/// Who has an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// This session.
    Here,
    /// Another session.
    Elsewhere,
    /// Nobody any more, and nobody shall have it again.
    Forgotten,
}

/// A new entry with the keys it is found by.
#[derive(Clone, Debug)]
pub struct NewEntry {
    /// The entry.
    pub entry: Entry,
    /// Key of its native id.
    pub key: NativeKey,
    /// Key of its API message.
    pub message: Option<NativeKey>,
    /// Key of the tree node it stands on, for agents that have a tree.
    pub node: Option<NativeKey>,
}

/// What an API message cost.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UsageRow {
    /// Tokens.
    pub tokens: Tokens,
    /// Model.
    pub model: Option<String>,
    /// When.
    pub at: Option<Timestamp>,
    /// US dollars, where noted.
    pub cost_usd: Option<f64>,
}

/// What a batch of events changed, to be stored in one transaction.
#[derive(Debug, Default)]
pub struct Changes {
    /// Entries to add.
    pub entries: Vec<NewEntry>,
    /// Results of calls stored earlier.
    pub outcomes: Vec<(u64, Outcome)>,
    /// Tool errors to add to episodes that are no longer open.
    pub late_errors: BTreeMap<u64, u64>,
    /// Usage by API message.
    pub usage: HashMap<NativeKey, UsageRow>,
    /// Paths newly edited.
    pub edited: Vec<String>,
    /// Episodes that ended.
    pub closed: Vec<Episode>,
    /// New nodes of the agent's tree.
    pub nodes: Vec<NodeRow>,
    /// Names for sessions by one of their entries.
    pub titles_elsewhere: Vec<(NativeKey, String)>,
    /// Steps of the queue of typed texts, by which they are recognised when met again.
    pub queued: Vec<NativeKey>,
    /// Entries whose own line came later: their ids.
    pub renamed: Vec<(u64, String, NativeKey)>,
    /// Entries that a human took back.
    pub taken_back: Vec<u64>,
    /// Whether the branch changed, so that the story must be told again from what is stored.
    pub retell: bool,
}

/// A node of the agent's tree of entries: one transcript line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeRow {
    /// The line it stands on.
    pub line: u64,
    /// Key of its id inside the session.
    pub id: NativeKey,
    /// Key of the id it follows.
    pub parent: Option<NativeKey>,
    /// Key of its id and time, by which a copy in another file is recognised.
    pub lineage: NativeKey,
}

/// What must be known of a stored entry to tell the story again.
#[derive(Clone, Debug)]
pub struct Skeleton {
    /// Position in the session.
    pub seq: u64,
    /// The agent's id.
    pub native_id: String,
    /// Where it stands.
    pub place: Place,
    /// When it was said.
    pub at: Option<Timestamp>,
    /// What kind of text it is.
    pub speech: Speech,
    /// The API message it belongs to.
    pub message: Option<NativeKey>,
    /// The tree node it stands on.
    pub node: Option<NativeKey>,
    /// Bytes kept of it.
    pub kept_bytes: u64,
    /// Whether its result was flagged as an error.
    pub is_error: bool,
    /// The paths it changed.
    pub edited: Vec<String>,
    /// Whether a human took it back before it was sent.
    pub taken_back: bool,
}
