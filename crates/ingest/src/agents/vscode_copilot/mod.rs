//! VS Code Copilot Chat: a chat per session, first as a document, now as a log of changes; and the agent's transcripts.

mod chat;
mod files;
mod mutation_log;
mod requests;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Retention, Storage, copilot};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    retention: Retention::Kept,
    notes: AgentNotes {
        versions: "1.95 – 1.125",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "one real export; fixture",
    },
    ..AgentFormat::new(
        Agent::VscodeCopilot,
        files::home,
        &[
            Layout {
                storage: Storage::Document { load: chat::load_log },
                is_transcript: files::is_chat,
                recognizes: mutation_log::recognizes,
                beside: files::beside,
                ..Layout::new(
                    "~/.config/Code/User/workspaceStorage/*/chatSessions/*.jsonl",
                    files::chats,
                    requests::events,
                )
            },
            Layout {
                storage: Storage::Document { load: chat::load_document },
                extension: "json",
                is_transcript: files::is_chat,
                recognizes: chat::recognizes,
                beside: files::beside,
                ..Layout::new(
                    "~/.config/Code/User/workspaceStorage/*/chatSessions/*.json",
                    files::chats,
                    requests::events,
                )
            },
            // Only where there are no chats: on the other side of a remote connection. They have the same sessions.
            Layout {
                is_transcript: files::is_agent_transcript,
                header: files::transcript_header,
                beside: files::beside,
                identify: files::identify_transcript,
                ..Layout::new(
                    "~/.vscode-server/data/User/workspaceStorage/*/GitHub.copilot-chat/transcripts/*.jsonl",
                    files::agent_transcripts,
                    copilot::events,
                )
            },
        ],
    )
};
