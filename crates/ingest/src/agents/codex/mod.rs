//! Codex: a rollout per session, a `.jsonl` file in a folder per day. Cold ones are compressed, the oldest are documents.

mod calls;
mod files;
mod header;
mod lines;
mod user_text;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, RecentFolders, Storage};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    session_id_in_path: files::session_id_in_path,
    resume: Some("codex resume {id}"),
    start: Some("codex {prompt}"),
    notes: AgentNotes {
        versions: "0.1 – 0.166",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "client 0.166.0; real transcripts of 0.118 – 0.140",
    },
    ..AgentFormat::new(
        Agent::Codex,
        files::home,
        &[
            Layout {
                recognizes: files::recognizes,
                header: header::of_file,
                peek: files::peek,
                copy_signs: &["\"forkedFrom\":\""],
                identify: files::identify,
                recent_folders: RecentFolders::Days,
                ..Layout::new("~/.codex/sessions/**/rollout-*.jsonl", files::roots, lines::events)
            },
            Layout {
                storage: Storage::Document { load: files::load_compressed },
                extension: "zst",
                is_transcript: files::is_compressed_rollout,
                peek: files::peek,
                copy_signs: &["\"forkedFrom\":\""],
                identify: files::identify,
                recent_folders: RecentFolders::Days,
                ..Layout::new("~/.codex/sessions/**/rollout-*.jsonl.zst", files::roots, lines::events)
            },
            Layout {
                storage: Storage::Document { load: files::load_document },
                extension: "json",
                is_transcript: files::is_rollout,
                recognizes: files::recognizes_document,
                peek: files::peek,
                identify: files::identify,
                ..Layout::new("~/.codex/sessions/rollout-*.json", files::roots, lines::events)
            },
        ],
    )
};
