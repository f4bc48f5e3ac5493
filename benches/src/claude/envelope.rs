//! The fields around every entry of Claude Code, and the lines without them.

use super::{Era, Session};
use crate::ids;
use crate::json::{self, Object};
use crate::plan::Kind;
use crate::time;

impl Session<'_> {
    /// Appends an entry that hangs on the last one. Gives its uuid.
    ///
    /// `body` is written before uuid and timestamp, `tail` after them, as Claude Code does.
    pub(super) fn entry(
        &mut self,
        kind: &str,
        body: impl FnOnce(&mut Object),
        tail: impl FnOnce(&mut Object),
    ) -> String {
        self.clock += self.author.random.between(5, 9_000);
        let uuid = ids::uuid(&mut self.author.random);
        let mut out = std::mem::take(&mut self.out);
        json::line(&mut out, |line| {
            line.maybe("parentUuid", self.parent.as_deref());
            line.flag("isSidechain", self.is_agent());
            if self.era == Era::Progress {
                self.surroundings(line);
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
            if self.era == Era::Attachment {
                self.surroundings(line);
            }
        });
        self.out = out;
        self.parent = Some(uuid.clone());
        uuid
    }

    /// Appends a line that is not part of the conversation.
    pub(super) fn aside(&mut self, kind: &str, body: impl FnOnce(&mut Object)) {
        json::line(&mut self.out, |line| {
            line.text("type", kind);
            body(line);
        });
    }

    fn surroundings(&self, line: &mut Object) {
        line.text("userType", "external");
        if self.era == Era::Attachment {
            line.text("entrypoint", "cli");
        }
        line.text("cwd", &self.plan.cwd);
        line.text("sessionId", &self.plan.session);
        line.text("version", self.version);
        line.text("gitBranch", &self.branch);
        if let Kind::ClaudeAgent(agent) = &self.plan.kind {
            line.text("agentId", &agent.id);
        }
        line.text("slug", &self.slug);
    }
}
