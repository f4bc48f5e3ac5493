//! pi: a `.jsonl` file per session, whose lines are the nodes of a tree.

mod files;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, ProjectFolders};

pub(super) use lines::add_message;

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    recognizes: |head| files::header_id(head).is_some(),
    peek: files::peek,
    copy_signs: &["\"parentSession\":\"", "\"branchedFrom\":\""],
    identify: files::identify,
    // Eight hex digits repeat across sessions; copies are detected by lineage instead. Version 1 has no ids; a line with
    // the same time and content in two files is a copy.
    is_global_id: |id| id.starts_with("line-"),
    is_subagent_id: |id| id.starts_with("subagent-"),
    names_subagents: true,
    session_id_in_path: files::session_id_in_path,
    project_folders: Some(ProjectFolders { name: files::folder_name, parent: Some("sessions"), are_complete: false }),
    ..AgentFormat::new(Agent::Pi, files::home, files::roots, lines::events)
};
