//! What differs between agents: one folder per agent with one `FORMAT`, and the table of all of them.

mod aider;
mod antigravity;
mod auggie;
mod claude_code;
mod claude_desktop;
mod cline;
mod codex;
mod r#continue;
mod copilot;
mod crush;
mod cursor;
mod deepseek;
mod droid;
mod gemini;
mod goose;
mod gptme;
mod grok;
mod hermes;
mod junie;
mod kilo;
mod kimi;
mod kiro;
#[cfg(feature = "made-up-agents")]
pub mod made_up;
mod native;
mod openclaw;
mod opencode;
mod openhands;
mod pi;
mod qwen;
mod roo;
mod rovodev;
mod vibe;
mod vscode_copilot;
mod warp;
mod zed;

use std::io;
use std::path::{Path, PathBuf};

use rethread_model::{Agent, SessionKind};

use crate::TranscriptEvent;
use crate::parse::{ParseContext, ShellReport};
use crate::source::{
    ArchivedSession, DatabaseQueries, LiveSession, SessionDocument, SourceConfig, TranscriptHead, TranscriptPeek,
    split_address,
};

pub use native::explicit_thread_name;

/// Declares which folder has the format of which agent.
macro_rules! formats {
    ($($folder:ident => $agent:ident,)*) => {
        fn declared_format(agent: Agent) -> &'static AgentFormat {
            match agent { $(Agent::$agent => &$folder::FORMAT,)* }
        }

        const _: () = {
            $(assert!(
                matches!($folder::FORMAT.agent, Agent::$agent),
                concat!("the FORMAT in agents/", stringify!($folder), " is of another agent than its line in `formats!`")
            );)*
        };
    };
}

formats! {
    aider => Aider,
    antigravity => Antigravity,
    auggie => Auggie,
    claude_code => ClaudeCode,
    claude_desktop => ClaudeDesktop,
    cline => Cline,
    codex => Codex,
    copilot => Copilot,
    crush => Crush,
    cursor => Cursor,
    deepseek => DeepSeek,
    droid => Droid,
    gemini => Gemini,
    goose => Goose,
    gptme => Gptme,
    grok => Grok,
    hermes => Hermes,
    junie => Junie,
    kilo => Kilo,
    kimi => Kimi,
    kiro => Kiro,
    native => Native,
    openclaw => OpenClaw,
    opencode => OpenCode,
    openhands => OpenHands,
    pi => Pi,
    qwen => Qwen,
    r#continue => Continue,
    roo => Roo,
    rovodev => RovoDev,
    vibe => Vibe,
    vscode_copilot => VscodeCopilot,
    warp => Warp,
    zed => Zed,
}

/// The format of an agent.
pub fn format_of(agent: Agent) -> &'static AgentFormat {
    #[cfg(feature = "made-up-agents")]
    if let Some(format) = made_up::format_of(agent) {
        return format;
    }
    declared_format(agent)
}

/// The layouts of every agent.
pub(crate) fn all_layouts() -> impl Iterator<Item = (Agent, &'static Layout)> {
    Agent::ALL.into_iter().flat_map(|agent| format_of(agent).layouts.iter().map(move |layout| (agent, layout)))
}

/// How an agent's sessions are found, recognized and read. `AgentFormat::new` has the defaults.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each answers one question about the agent")]
pub struct AgentFormat {
    /// The agent that writes them.
    pub agent: Agent,
    /// The agent's own directory. It exists once the agent was used.
    pub home: fn(&SourceConfig) -> PathBuf,
    /// The ways in which its versions store sessions, newest first.
    pub layouts: &'static [Layout],
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
    /// Whether a session can be in several layouts. It is then read from the first one that has it, if the paths show it.
    pub(crate) repeats_sessions: bool,
    /// What the result of its shell tool says about a command, if the text has an exit code in a form of the agent's own.
    pub shell_report: fn(&str) -> Option<ShellReport<'_>>,
    /// Sessions that the agent itself lists as running.
    pub(crate) live_sessions: fn(&SourceConfig) -> Vec<LiveSession>,
    /// The command that continues a session, with `{id}` in place of the session's id.
    pub resume: Option<&'static str>,
    /// The command that starts a session on a terminal, with `{prompt}` in place of its first prompt.
    pub start: Option<&'static str>,
    /// Which transcripts the agent deletes.
    pub retention: Retention,
    /// What the documentation says about it.
    pub notes: AgentNotes,
}

/// One way in which an agent stores sessions. `Layout::new` has the defaults.
#[derive(Debug)]
pub struct Layout {
    /// Where its files are, as the documentation shows it: a path, or words with paths in backticks.
    pub location: &'static str,
    /// The directories or files to search, and why each is searched.
    pub(crate) roots: fn(&SourceConfig) -> Vec<(PathBuf, &'static str)>,
    /// What the sessions are stored in.
    pub storage: Storage,
    /// Extension of the files that may be transcripts; empty if their names have none.
    pub(crate) extension: &'static str,
    /// Whether a file with that extension is a transcript. Gets the path below the root, or the whole path.
    pub(crate) is_transcript: fn(&Path) -> bool,
    /// Whether a file in any place is a transcript of this layout, for paths that a user names. A database is
    /// recognized by its queries.
    pub(crate) recognizes: fn(&TranscriptHead) -> bool,
    /// Other files of the session. If one of them changes, the session has changed.
    pub(crate) beside: fn(&Path) -> Vec<PathBuf>,
    /// What those files say about the session as a whole, as JSON. Lines have no other header; a database's own one is
    /// completed by it; for documents it is not used.
    pub(crate) header: fn(&Path) -> Option<String>,
    /// What the beginning of a transcript says about its session, and which session started it as its sub-agent.
    pub(crate) peek: fn(&TranscriptHead) -> TranscriptPeek,
    /// Texts in the beginning of a transcript that mark it as a copy of another session's lines.
    pub(crate) copy_signs: &'static [&'static str],
    /// The session of a transcript; `None` while it cannot be determined.
    pub(crate) identify: fn(&Path, &TranscriptPeek) -> Option<SessionIdentity>,
    /// The events of one record: a line, an element of a document, a row, or the header. Must accept any object, and
    /// remembers nothing: what spans records is up to `SessionAssembler`.
    pub(crate) parse: ParseRecord,
    /// The folders that hold the transcripts of one project. Without them, hooks list all new transcripts.
    pub project_folders: Option<ProjectFolders>,
    /// Whether listing the sessions of a file means reading all of it. Hooks leave large ones to the next sync.
    pub(crate) lists_slowly: bool,
    /// Without folders of projects: which folders below a root can have new transcripts.
    pub(crate) recent_folders: RecentFolders,
}

/// Which folders below a root can have new transcripts. Hooks list only those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecentFolders {
    /// Any.
    Any,
    /// A folder per day, `<year>/<month>/<day>`.
    Days,
    /// A folder per session: only new ones can have sessions that are not known.
    Sessions,
}

/// What an agent stores its sessions in.
#[derive(Clone, Copy, Debug)]
pub enum Storage {
    /// A file per session that grows by lines of JSON.
    Lines,
    /// A file per session, or several, that are rewritten and read as a whole.
    Document {
        /// Reads it.
        load: fn(&Path) -> io::Result<SessionDocument>,
    },
    /// A file with many sessions that is not a database.
    Archive {
        /// Its sessions.
        sessions: fn(&Path) -> io::Result<Vec<ArchivedSession>>,
        /// Reads one of them, by its id.
        load: fn(&Path, &str) -> io::Result<SessionDocument>,
    },
    /// A SQLite database with many sessions, whose rows can change. One description per generation of its tables,
    /// newest first: a session is read from the first one that has it.
    Database(&'static [DatabaseQueries]),
}

/// Which transcripts an agent deletes.
#[derive(Clone, Copy, Debug)]
pub enum Retention {
    /// None, as far as we know.
    Kept,
    /// Those that did not change for some days; `None` if the user turned that off.
    Days(fn(&SourceConfig) -> Option<u64>),
    /// All but the newest ones of a project.
    Newest(usize),
}

/// What the documentation says about an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentNotes {
    /// The versions whose transcripts are read.
    pub versions: &'static str,
    /// What is read besides prompts and answers.
    pub reads: &'static [Reads],
    /// What the reader was tried on: a client of some version, real transcripts, only the fixture.
    pub verified: &'static str,
}

/// A part of a session besides prompts and answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// Tool calls and whether they failed.
    Tools,
    /// Exit codes of commands.
    ExitCodes,
    /// Tokens.
    Tokens,
    /// Cost, as the agent calculated it.
    Cost,
    /// Sessions of sub-agents.
    Subagents,
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
    const fn new(agent: Agent, home: fn(&SourceConfig) -> PathBuf, layouts: &'static [Layout]) -> Self {
        Self {
            agent,
            home,
            layouts,
            is_global_id: |_| false,
            call_ids_repeat: true,
            results_may_come_first: false,
            is_subagent_id: |_| false,
            names_subagents: false,
            session_id_in_path: |_| None,
            repeats_sessions: false,
            shell_report: |_| None,
            live_sessions: |_| Vec::new(),
            resume: None,
            start: None,
            retention: Retention::Kept,
            notes: AgentNotes { versions: "", reads: &[], verified: "" },
        }
    }

    /// The layout of a file or of a session's address. Without a fitting name, the content decides.
    pub(crate) fn layout_of(&self, path: &Path) -> &'static Layout {
        let [first, others @ ..] = self.layouts else { panic!("{} has no layout", self.agent) };
        if others.is_empty() {
            return first;
        }
        let named = self.layouts.iter().find(|layout| layout.is_named(path));
        let recognized = || {
            let file = split_address(path).map_or(path, |(file, _)| file);
            let head = TranscriptHead::of_file(file).ok()?;
            self.layouts.iter().find(|layout| layout.may_be(&head))
        };
        named.or_else(recognized).unwrap_or(first)
    }

    /// The words of the command that continues a session.
    pub fn resume_words(&self, id: &str) -> Option<Vec<String>> {
        Some(self.resume?.split(' ').map(|word| word.replace("{id}", id)).collect())
    }

    /// The words of the command that starts a session on a terminal with a first prompt.
    pub fn start_words(&self, prompt: &str) -> Option<Vec<String>> {
        Some(self.start?.split(' ').map(|word| word.replace("{prompt}", prompt)).collect())
    }
}

impl Layout {
    /// An agent that appends lines of JSON to one `.jsonl` file per session, with the usual names for the usual fields:
    /// the session is `sessionId`, or else the name of the file, and a `parentSessionId` makes it a sub-agent's.
    const fn new(
        location: &'static str,
        roots: fn(&SourceConfig) -> Vec<(PathBuf, &'static str)>,
        parse: ParseRecord,
    ) -> Self {
        Self {
            location,
            roots,
            storage: Storage::Lines,
            extension: "jsonl",
            is_transcript: |_| true,
            recognizes: |_| false,
            beside: |_| Vec::new(),
            header: |_| None,
            peek: |head| head.usual_fields(None),
            copy_signs: &[],
            identify: usual_identity,
            parse,
            project_folders: None,
            lists_slowly: false,
            recent_folders: RecentFolders::Any,
        }
    }

    /// Whether a file's name is that of a transcript.
    pub(crate) fn is_file_named(&self, path: &Path) -> bool {
        self.has_extension(path) && (self.is_transcript)(path)
    }

    /// Whether a file can be a transcript, judged by its extension.
    pub(crate) fn has_extension(&self, path: &Path) -> bool {
        match self.extension {
            "" => (self.is_transcript)(path),
            extension => path.extension().is_some_and(|found| found == extension),
        }
    }

    /// Whether a file, or the file in the address of a session, has the name of a transcript.
    fn is_named(&self, path: &Path) -> bool {
        match self.storage {
            Storage::Lines | Storage::Document { .. } => self.is_file_named(path),
            Storage::Archive { .. } | Storage::Database(_) => {
                split_address(path).is_some_and(|(file, _)| self.is_file_named(file))
            }
        }
    }

    /// Whether a file that begins like this may be a transcript.
    pub(crate) fn may_be(&self, head: &TranscriptHead) -> bool {
        match self.storage {
            Storage::Database(_) => head.is_database(),
            _ => (self.recognizes)(head),
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
