//! What differs between agents: one folder per agent with one `FORMAT`, and the table of all of them.

mod claude_code;
#[cfg(feature = "made-up-agents")]
pub mod made_up;
mod native;
mod pi;

use std::path::{Path, PathBuf};

use rethread_model::{Agent, SessionKind};

use crate::TranscriptEvent;
use crate::parse::ParseContext;
use crate::source::{DatabaseQueries, SourceConfig, TranscriptHead, TranscriptPeek};

pub use native::explicit_thread_name;

/// One per agent, in the order of the rows in `crates/model/src/agent.rs`. If the length does not fit, add the `FORMAT`
/// of the new agent here.
static FORMATS: [&AgentFormat; Agent::ALL.len()] = [&claude_code::FORMAT, &pi::FORMAT, &native::FORMAT];

const _: () = {
    let mut at = 0;
    while at < FORMATS.len() {
        assert!(
            FORMATS[at].agent as usize == at,
            "FORMATS and the rows in crates/model/src/agent.rs differ in order: move the agent's FORMAT to the same place"
        );
        at += 1;
    }
};

/// The format of an agent.
pub fn format_of(agent: Agent) -> &'static AgentFormat {
    #[cfg(feature = "made-up-agents")]
    if let Some(format) = made_up::format_of(agent) {
        return format;
    }
    FORMATS[agent as usize]
}

/// The format of every agent.
pub(crate) fn formats() -> impl Iterator<Item = &'static AgentFormat> {
    Agent::ALL.into_iter().map(format_of)
}

/// How an agent's transcripts are found, recognized and read. `AgentFormat::new` has the defaults.
#[derive(Debug)]
pub struct AgentFormat {
    /// The agent that writes them.
    pub agent: Agent,
    /// The agent's own directory. It exists once the agent was used.
    pub home: fn(&SourceConfig) -> PathBuf,
    /// The directories with transcripts, and why each is searched.
    pub(crate) roots: fn(&SourceConfig) -> Vec<(PathBuf, &'static str)>,
    /// What the sessions are stored in.
    pub storage: Storage,
    /// Extension of the files that may be transcripts.
    pub(crate) extension: &'static str,
    /// Whether a file with that extension is a transcript. Gets the path below the root.
    pub(crate) is_transcript: fn(&Path) -> bool,
    /// Whether a file in any place is a transcript of this agent, for paths that a user names. A database is recognized
    /// by its queries.
    pub(crate) recognizes: fn(&TranscriptHead) -> bool,
    /// What the beginning of a transcript says about its session, and which session started it as its sub-agent.
    pub(crate) peek: fn(&TranscriptHead) -> TranscriptPeek,
    /// Texts in the beginning of a transcript that mark it as a copy of another session's lines.
    pub(crate) copy_signs: &'static [&'static str],
    /// The session of a transcript; `None` while it cannot be determined.
    pub(crate) identify: fn(&Path, &TranscriptPeek) -> Option<SessionIdentity>,
    /// The events of one record: a line, an element of a document, a row, or the header of those two. Must accept any
    /// object, and remembers nothing: what spans records is up to `SessionAssembler`.
    pub(crate) parse: ParseRecord,
    /// Whether an id is unique across all sessions of the agent, so that a second occurrence is a copy.
    pub(crate) is_global_id: fn(&str) -> bool,
    /// Whether the id of a tool call is unique only within its message.
    pub(crate) call_ids_repeat: bool,
    /// Whether the result of a tool call can be written before the call.
    pub(crate) results_may_come_first: bool,
    /// Whether the id of a session marks it as a sub-agent's.
    pub is_subagent_id: fn(&str) -> bool,
    /// Whether a session's name can mark it as a sub-agent's, until it gets another one.
    pub names_subagents: bool,
    /// The session id in the path of a transcript, which may come from another machine.
    pub session_id_in_path: fn(&str) -> Option<&str>,
    /// The folders that hold the transcripts of one project. Without them, hooks list all new transcripts.
    pub project_folders: Option<ProjectFolders>,
    /// Names that the agent itself shows for its sessions: the session's id, its name.
    pub(crate) shown_names: fn(&SourceConfig) -> Vec<(String, String)>,
    /// The words before a session's id in the command that continues it.
    pub resume: Option<&'static str>,
}

/// What an agent stores its sessions in.
#[derive(Clone, Copy, Debug)]
pub enum Storage {
    /// A file per session that grows by lines of JSON.
    Lines,
    /// A JSON object per session in a file that is rewritten as a whole. `records` names the array with the records;
    /// the other fields are the header.
    Document {
        /// Name of the array.
        records: &'static str,
    },
    /// A SQLite database with many sessions, whose rows can change.
    Database(&'static DatabaseQueries),
}

/// Parses one record into events.
pub(crate) type ParseRecord = fn(&str, &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error>;

/// How an agent names the folders of projects.
#[derive(Clone, Copy, Debug)]
pub struct ProjectFolders {
    /// The name for a working directory.
    pub name: fn(&str) -> String,
    /// The folder below a root that contains them, if the root also has other folders.
    pub(crate) parent: Option<&'static str>,
    /// Whether every transcript is in such a folder.
    pub are_complete: bool,
}

/// The identity of a transcript's session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionIdentity {
    /// The agent's id of the session.
    pub external_id: String,
    /// Main session or sub-agent.
    pub kind: SessionKind,
    /// The agent's id of the session that started this one as its sub-agent.
    pub parent_external_id: Option<String>,
}

impl AgentFormat {
    /// An agent that appends lines of JSON to one `.jsonl` file per session, with the usual names for the usual fields:
    /// the session is `sessionId`, or else the name of the file, and a `parentSessionId` makes it a sub-agent's.
    const fn new(
        agent: Agent,
        home: fn(&SourceConfig) -> PathBuf,
        roots: fn(&SourceConfig) -> Vec<(PathBuf, &'static str)>,
        parse: ParseRecord,
    ) -> Self {
        Self {
            agent,
            home,
            roots,
            storage: Storage::Lines,
            extension: "jsonl",
            is_transcript: |_| true,
            recognizes: |_| false,
            peek: |head| head.usual_fields(None),
            copy_signs: &[],
            identify: usual_identity,
            parse,
            is_global_id: |_| false,
            call_ids_repeat: true,
            results_may_come_first: false,
            is_subagent_id: |_| false,
            names_subagents: false,
            session_id_in_path: |_| None,
            project_folders: None,
            shown_names: |_| Vec::new(),
            resume: None,
        }
    }
}

impl SessionIdentity {
    /// A session of its own, not a sub-agent.
    fn main(external_id: String) -> Self {
        Self { external_id, kind: SessionKind::Main, parent_external_id: None }
    }
}

fn usual_identity(path: &Path, peek: &TranscriptPeek) -> Option<SessionIdentity> {
    let stem = || path.file_stem()?.to_str().map(str::to_owned);
    let external_id = peek.session_id.clone().or_else(stem)?;
    let kind = if peek.parent_id.is_some() { SessionKind::Child } else { SessionKind::Main };
    Some(SessionIdentity { external_id, kind, parent_external_id: peek.parent_id.clone() })
}
