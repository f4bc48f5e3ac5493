//! Grok Build: a folder per session with the updates of the Agent Client Protocol, and the model's messages.

mod chat;
mod files;
mod updates;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};
use crate::parse::folded;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: files::is_global_id,
    resume: Some("grok --resume {id}"),
    notes: AgentNotes {
        versions: "1.0",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Cost, Reads::Subagents],
        verified: "its published source; 1 generated session of version 1.0.3",
    },
    ..AgentFormat::new(
        Agent::Grok,
        files::home,
        &[
            Layout {
                storage: Storage::Document { load: files::load_updates },
                is_transcript: |path| path.file_name().is_some_and(|name| name == files::UPDATES),
                recognizes: files::recognizes,
                beside: |path| vec![path.with_file_name(files::SUMMARY)],
                copy_signs: &["\"forkedFrom\":\""],
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.grok/sessions/<project>/<id>/updates.jsonl", files::roots, folded::events)
            },
            Layout {
                storage: Storage::Document { load: files::load_chat },
                is_transcript: |path| path.file_name().is_some_and(|name| name == files::CHAT),
                beside: |path| vec![path.with_file_name(files::SUMMARY)],
                identify: files::identify_chat,
                recent_folders: RecentFolders::Sessions,
                ..Layout::new("~/.grok/sessions/<project>/<id>/chat_history.jsonl", files::roots, folded::events)
            },
        ],
    )
};
