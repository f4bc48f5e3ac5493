//! A session as people read it, redacted once more.

use rethread_ingest::RedactionFindings;
use rethread_model::ToolUse;

use super::redact_row::redact_text;
use crate::{EngineError, LogProfile, SessionLog, ShowRequest, TransferService};

/// A session to be rendered, and how many secrets were removed, by kind.
#[derive(Clone, Debug)]
pub struct ReadableSession {
    /// Messages and tool calls of its current branch.
    pub log: SessionLog,
    /// Texts were redacted before they were stored; this is what rules of today find in addition.
    pub redactions: Vec<(&'static str, u64)>,
}

impl TransferService<'_> {
    /// The session that `reference` resolves to.
    pub fn readable(self, reference: &str) -> Result<ReadableSession, EngineError> {
        let request = ShowRequest { profile: LogProfile::Structure, max_entries: None, max_bytes: None };
        let mut log = self.engine.sessions().show(reference, request)?;
        let mut findings = RedactionFindings::default();
        let session = &mut log.listed.session;
        let mut clean = |text: &mut String| *text = redact_text(text, &mut findings);
        [&mut session.name, &mut session.branch, &mut session.project].into_iter().flatten().for_each(&mut clean);
        for entry in &mut log.entries {
            clean(&mut entry.text);
            entry.tool.iter_mut().flat_map(texts_of).for_each(&mut clean);
        }
        Ok(ReadableSession { log, redactions: findings.iter().collect() })
    }
}

fn texts_of(tool: &mut ToolUse) -> impl Iterator<Item = &mut String> {
    let outcome = tool.outcome.iter_mut();
    let results = outcome.flat_map(|outcome| {
        let optional = outcome.error.iter_mut().chain(outcome.output.iter_mut());
        std::iter::once(&mut outcome.summary).chain(optional)
    });
    [&mut tool.target, &mut tool.arguments].into_iter().chain(tool.body.iter_mut()).chain(results)
}
