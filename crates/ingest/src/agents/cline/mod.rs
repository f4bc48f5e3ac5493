//! Cline: a document per session. `tasks` reads what the extension wrote before, and what Roo Code and Kilo made of it.

mod files;
mod messages;
mod outcomes;
pub(super) mod tasks;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: files::is_global_id,
    call_ids_repeat: false,
    is_subagent_id: |id| id.contains("__agent_"),
    resume: Some("cline -i --id {id}"),
    start: Some("cline -i {prompt}"),
    notes: AgentNotes {
        versions: "extension 3.x, CLI and SDK 3.0",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "client 3.0.65; 1 real task of the extension, 1 session of the makers",
    },
    ..AgentFormat::new(
        Agent::Cline,
        files::home,
        &[
            Layout {
                storage: Storage::Document { load: files::load },
                extension: "json",
                is_transcript: files::is_transcript,
                recognizes: files::recognizes,
                beside: |path| files::manifest(path).into_iter().collect(),
                peek: files::peek,
                identify: files::identify,
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.cline/data/sessions/<id>/<id>.messages.json", files::roots, messages::events)
            },
            tasks::layout(
                "`saoudrizwan.claude-dev/tasks/<id>/api_conversation_history.json` in the editor's global storage, \
                 `~/.cline/data/tasks`",
                files::task_roots,
            ),
        ],
    )
};
