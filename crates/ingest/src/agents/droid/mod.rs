//! Factory Droid: a `.jsonl` file per session, and a file with its settings and the sums of its tokens.

mod files;
mod lines;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, ProjectFolders, Reads};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: files::is_global_id,
    resume: Some("droid --resume {id}"),
    start: Some("droid {prompt}"),
    notes: AgentNotes {
        versions: "0.81 – 0.229",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "client 0.225.2; 2 real sessions",
    },
    ..AgentFormat::new(
        Agent::Droid,
        files::home,
        &[Layout {
            recognizes: files::recognizes,
            beside: |path| vec![files::settings(path)],
            header: |path| Some(files::header(path)),
            peek: files::peek,
            copy_signs: &["\"forkedAtMessageId\":\""],
            project_folders: Some(ProjectFolders { name: files::folder_name, parent: None, are_complete: false }),
            ..Layout::new("~/.factory/sessions/<project>/<id>.jsonl", files::roots, lines::events)
        }],
    )
};
