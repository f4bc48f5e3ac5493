//! Common fields of Claude Code entries, and lines without them.

use super::{ClaudeTranscriptWriter, ReleaseStyle};
use crate::ids;
use crate::json::{self, JsonObjectWriter};
use crate::plan::TranscriptKind;
use crate::time;

impl ClaudeTranscriptWriter<'_> {
    /// Appends an entry as a child of the last one. Returns its uuid.
    ///
    /// `body` is written before uuid and timestamp, `tail` after them, as Claude Code does.
    pub(super) fn entry(
        &mut self,
        kind: &str,
        body: impl FnOnce(&mut JsonObjectWriter),
        tail: impl FnOnce(&mut JsonObjectWriter),
    ) -> String {
        self.clock += self.text.random.between(5, 9_000);
        let uuid = ids::uuid(&mut self.text.random);
        let mut out = std::mem::take(&mut self.out);
        json::write_line(&mut out, |line| {
            line.optional_text("parentUuid", self.parent.as_deref());
            line.flag("isSidechain", self.is_subagent());
            if self.release_style == ReleaseStyle::Progress {
                self.context_fields(line);
            } else if kind == "user" {
                line.text("promptId", &self.prompt_id);
            }
            if kind != "assistant" {
                line.text("type", kind);
            }
            body(line);
            if kind == "assistant" {
                line.text("type", kind);
            }
            line.text("uuid", &uuid);
            line.text("timestamp", &time::iso(self.clock));
            tail(line);
            if self.release_style == ReleaseStyle::Attachment {
                self.context_fields(line);
            }
        });
        self.out = out;
        self.parent = Some(uuid.clone());
        uuid
    }

    /// Appends a line that is not part of the conversation.
    pub(super) fn plain_line(&mut self, kind: &str, body: impl FnOnce(&mut JsonObjectWriter)) {
        json::write_line(&mut self.out, |line| {
            line.text("type", kind);
            body(line);
        });
    }

    fn context_fields(&self, line: &mut JsonObjectWriter) {
        line.text("userType", "external");
        if self.release_style == ReleaseStyle::Attachment {
            line.text("entrypoint", "cli");
        }
        line.text("cwd", &self.plan.cwd);
        line.text("sessionId", &self.plan.session);
        line.text("version", self.version);
        line.text("gitBranch", &self.branch);
        if let TranscriptKind::ClaudeAgent(agent) = &self.plan.kind {
            line.text("agentId", &agent.id);
        }
        line.text("slug", &self.slug);
    }
}
