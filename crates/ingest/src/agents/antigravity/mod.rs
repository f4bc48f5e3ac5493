//! Antigravity, the successor of Gemini CLI as a command and as an editor: a log of steps per conversation.
//!
//! The conversations themselves are in databases and files whose content is encoded or encrypted and not read here:
//! they would add tokens, which the log does not have.

mod files;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    resume: Some("agy --conversation {id}"),
    notes: AgentNotes { versions: "1.0 – 1.1", reads: &[Reads::Tools, Reads::ExitCodes], verified: "fixture only" },
    ..AgentFormat::new(
        Agent::Antigravity,
        files::home,
        &[Layout {
            is_transcript: files::is_transcript,
            recognizes: files::recognizes,
            header: |path| Some(files::header(path)),
            ..Layout::new(
                "~/.gemini/antigravity*/brain/*/.system_generated/logs/transcript_full.jsonl",
                files::roots,
                lines::events,
            )
        }],
    )
};
