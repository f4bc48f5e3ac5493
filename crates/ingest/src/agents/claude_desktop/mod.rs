//! Claude Desktop in its agent mode, Cowork: transcripts of Claude Code in a folder per session.

mod files;

use rethread_model::Agent;

use super::{AgentFormat, AgentNotes, Layout, Reads, claude_code};
use crate::TranscriptEvent;
use crate::parse::derived_header::DerivedHeader;
use crate::parse::{ParseContext, is_globally_unique};

pub(crate) static FORMAT: AgentFormat = AgentFormat {
    is_global_id: is_globally_unique,
    call_ids_repeat: false,
    results_may_come_first: true,
    notes: AgentNotes {
        versions: "Cowork, 2026",
        reads: &[Reads::Tools, Reads::ExitCodes, Reads::Tokens, Reads::Subagents],
        verified: "the fixture, written from other readers; lines as Claude Code's",
    },
    ..AgentFormat::new(
        Agent::ClaudeDesktop,
        files::home,
        &[Layout {
            beside: files::beside,
            header: files::header,
            roots: files::roots,
            location: "<Claude's user data>/local-agent-mode-sessions/*/*/local_*/.claude/projects/*/*.jsonl",
            recognizes: |_| false,
            project_folders: None,
            parse: events,
            ..claude_code::LAYOUT
        }],
    )
};

fn events(text: &str, context: &mut ParseContext<'_>) -> Result<Vec<TranscriptEvent>, serde_json::Error> {
    if context.is_header() {
        return DerivedHeader::events(text, context);
    }
    (claude_code::LAYOUT.parse)(text, context)
}
