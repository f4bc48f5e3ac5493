//! Claude Code: a `.jsonl` file per session and per sub-agent, in one folder per project.

mod files;
mod lines;
mod registry;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, ProjectFolders, Reads, Retention};
use crate::parse::is_globally_unique;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_globally_unique,
    call_ids_repeat: false,
    // Parallel calls are flushed in any order.
    results_may_come_first: true,
    live_sessions: registry::live_sessions,
    resume: Some("claude --resume {id}"),
    start: Some("claude {prompt}"),
    retention: Retention::Days(files::retention_days),
    notes: AgentNotes {
        versions: "1.0 – 2.1",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "client 2.1.325; real transcripts of 1.0.43 – 2.1.220",
    },
    ..AgentFormat::new(Agent::ClaudeCode, files::home, &[LAYOUT])
};

pub(super) const LAYOUT: Layout = Layout {
    is_transcript: files::is_transcript,
    recognizes: files::recognizes,
    copy_signs: &["\"forkedFrom\":{", "\"sessionKind\":\"bg\""],
    identify: files::identify,
    project_folders: Some(ProjectFolders { name: files::folder_name, parent: None, are_complete: true }),
    ..Layout::new("~/.claude/projects/*/*.jsonl", files::roots, lines::events)
};
