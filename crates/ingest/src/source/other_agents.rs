//! Agents whose transcripts we do not read, so that users see why one is missing.

use std::path::PathBuf;

use super::SourceConfig;

const ENCRYPTED: &str = "its transcripts are encrypted";
const ON_ITS_SERVER: &str = "its threads are on its server";

const NOT_YET: &str = "it is not supported yet";

/// Names, folders in the home directory, and why they are not read.
const OTHER_AGENTS: [(&str, &str, &str); 11] = [
    ("Amazon Q Developer CLI", ".local/share/amazon-q", NOT_YET),
    ("Amp", ".local/share/amp", ON_ITS_SERVER),
    ("CodeBuddy", ".codebuddy", NOT_YET),
    ("Codebuff", ".config/manicode", NOT_YET),
    ("ForgeCode", ".forge", NOT_YET),
    ("iFlow", ".iflow", NOT_YET),
    ("Mux", ".mux", NOT_YET),
    ("Qoder", ".qoder", NOT_YET),
    ("Tabnine", ".tabnine/agent", NOT_YET),
    ("Trae", ".trae", NOT_YET),
    ("Windsurf", ".codeium/windsurf", ENCRYPTED),
];

/// An agent that was used on this machine and is not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnreadAgent {
    /// Its name.
    pub label: &'static str,
    /// The folder that shows that it was used.
    pub path: PathBuf,
    /// Why it is not read, as the end of a sentence.
    pub reason: &'static str,
}

/// The other agents that were used on this machine.
pub fn unread_agents(source_config: &SourceConfig) -> Vec<UnreadAgent> {
    let found = |(label, folder, reason): &(&'static str, &str, &'static str)| {
        let path = source_config.home.join(folder);
        path.is_dir().then_some(UnreadAgent { label, path, reason })
    };
    OTHER_AGENTS.iter().filter_map(found).collect()
}
