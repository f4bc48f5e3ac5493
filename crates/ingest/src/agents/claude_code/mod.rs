//! Claude Code: a `.jsonl` file per session and per sub-agent, in one folder per project.

mod files;
mod lines;
mod registry;

use rethread_model::Agent;

use super::{AgentFormat, ProjectFolders};
use crate::parse::is_globally_unique;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_transcript: files::is_transcript,
    recognizes: files::recognizes,
    copy_signs: &["\"forkedFrom\":{", "\"sessionKind\":\"bg\""],
    identify: files::identify,
    is_global_id: is_globally_unique,
    call_ids_repeat: false,
    // Parallel calls are flushed in any order.
    results_may_come_first: true,
    project_folders: Some(ProjectFolders { name: files::folder_name, parent: None, are_complete: true }),
    shown_names: registry::shown_names,
    resume: Some("claude --resume"),
    ..AgentFormat::new(Agent::ClaudeCode, files::home, files::roots, lines::events)
};
