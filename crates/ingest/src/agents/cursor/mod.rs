//! Cursor: a small database per session of its CLI, one large database of the editor, and transcripts of both as text.

mod bubbles;
mod composers;
mod files;
mod messages;
mod store;
mod text_transcript;
mod user_query;
mod workspaces;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, Storage};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    call_ids_repeat: false,
    // A task that the editor gives to a sub-agent.
    is_subagent_id: |id| id.starts_with("task-"),
    session_id_in_path: files::session_id_in_path,
    repeats_sessions: true,
    resume: Some("cursor-agent --resume {id}"),
    start: Some("cursor-agent {prompt}"),
    notes: AgentNotes {
        versions: "CLI 2025.10 – 2026.9; editor 0.45 – 3.12",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "2 real transcripts of the CLI; its database and the editor's: only the fixture",
    },
    ..AgentFormat::new(
        Agent::Cursor,
        files::home,
        &[
            Layout {
                storage: Storage::Document { load: store::load },
                extension: "db",
                is_transcript: |path| path.ends_with("store.db"),
                beside: store::files_beside,
                peek: files::peek_chat,
                identify: files::identify_chat,
                ..Layout::new("~/.cursor/chats/*/*/store.db", files::chats, messages::events)
            },
            Layout {
                storage: Storage::Database(&[composers::COMPOSERS]),
                extension: "vscdb",
                is_transcript: |path| !files::is_of_workspace(path),
                header: composers::header,
                lists_slowly: true,
                ..Layout::new(
                    "~/.config/Cursor/User/globalStorage/state.vscdb",
                    files::editor_databases,
                    bubbles::events,
                )
            },
            Layout {
                recognizes: files::is_transcript_head,
                header: files::header,
                peek: files::peek_transcript,
                identify: files::identify_transcript,
                ..Layout::new("~/.cursor/projects/*/agent-transcripts/**/*.jsonl", files::transcripts, messages::events)
            },
            Layout {
                storage: Storage::Document { load: text_transcript::load },
                extension: "txt",
                identify: files::identify_transcript,
                ..Layout::new("~/.cursor/projects/*/agent-transcripts/**/*.txt", files::transcripts, messages::events)
            },
            Layout {
                storage: Storage::Database(&[composers::OLD_CHATS]),
                extension: "vscdb",
                is_transcript: files::is_of_workspace,
                header: composers::workspace_header,
                ..Layout::new(
                    "~/.config/Cursor/User/workspaceStorage/*/state.vscdb",
                    files::workspace_databases,
                    bubbles::events,
                )
            },
        ],
    )
};
