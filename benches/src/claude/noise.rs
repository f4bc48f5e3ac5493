//! The lines of Claude Code that no person and no model wrote: progress, hooks, titles, system.

use super::{Era, Session, tools};
use crate::ids;
use crate::json::{List, Object};
use crate::time;
use crate::work::Action;

impl Session<'_> {
    /// What stands before the first prompt.
    pub(super) fn head(&mut self) {
        if self.is_agent() {
            return;
        }
        let session = &self.plan.session;
        match self.era {
            Era::Progress => self.hook_progress("SessionStart", "session-start"),
            Era::Attachment => {
                self.aside("permission-mode", |line| {
                    line.text("permissionMode", "default");
                    line.text("sessionId", session);
                });
                let listing = self.author.prose(1_200.min(self.room() / 8));
                self.attachment("skill_listing", |a| a.text("content", &listing));
            }
        }
    }

    /// Compaction, snapshots, slash commands and queued prompts between two turns.
    pub(super) fn before_prompt(&mut self) {
        if self.len() > self.compaction_at {
            self.compaction_at = self.len() + self.author.random.size(1_500_000, 0.4);
            self.compaction();
        }
        if self.is_agent() {
            return;
        }
        if self.author.chance(60) {
            self.snapshot();
        }
        if self.author.chance(3) {
            let command = "<command-name>/clear</command-name>\n<command-args></command-args>";
            self.user_text(command, false);
        }
        if self.author.chance(5) {
            self.queued_prompt();
        }
    }

    /// What is written while a tool runs.
    pub(super) fn while_running(&mut self, action: &Action, call: &str, agent: &str) {
        match (self.era, action) {
            (Era::Attachment, _) => {
                if self.author.chance(6) {
                    self.reminder();
                }
            }
            (Era::Progress, Action::Delegate { prompt, .. }) => {
                for _ in 0..self.author.random.between(4, 40) {
                    if self.room() == 0 {
                        break;
                    }
                    self.agent_progress(prompt, call, agent);
                }
            }
            (Era::Progress, Action::Run(_)) => {
                self.hook_progress("PreToolUse", call);
                if self.author.chance(30) {
                    self.bash_progress(call);
                }
            }
            (Era::Progress, _) => self.hook_progress("PostToolUse", call),
        }
    }

    /// Durations, hook summaries and titles after a turn.
    pub(super) fn after_turn(&mut self) {
        let duration = self.author.random.between(2_000, 300_000);
        self.system("turn_duration", |line| line.number("durationMs", duration));
        if self.author.chance(30) {
            self.system("stop_hook_summary", |line| {
                line.number("hookCount", 1);
                line.list("hookInfos", |list| list.object(|o| o.text("command", "stop-hook")));
                line.raw("hookErrors", "[]");
                line.flag("preventedContinuation", false);
            });
        }
        if !self.is_agent() && self.author.chance(25) {
            let title = self.author.title();
            let session = &self.plan.session;
            self.aside("ai-title", |line| {
                line.text("aiTitle", &title);
                line.text("sessionId", session);
            });
        }
    }

    fn compaction(&mut self) {
        let last = self.parent.take();
        self.system("compact_boundary", |line| {
            line.maybe("logicalParentUuid", last.as_deref());
            line.text("content", "Conversation compacted");
            line.object("compactMetadata", |meta| {
                meta.text("trigger", "auto");
                meta.number("preTokens", 155_000);
            });
        });
        let summary =
            "This session is being continued from a previous conversation. ".to_string() + &self.author.prose(6_000);
        let body = |line: &mut Object| {
            line.object("message", |message| {
                message.text("role", "user");
                message.text("content", &summary);
            });
        };
        self.entry("user", body, |line| {
            line.flag("isVisibleInTranscriptOnly", true);
            line.flag("isCompactSummary", true);
        });
    }

    fn snapshot(&mut self) {
        let (message, at) = (ids::uuid(&mut self.author.random), time::iso(self.clock));
        let path = self.author.path();
        self.aside("file-history-snapshot", |line| {
            line.text("messageId", &message);
            line.object("snapshot", |snapshot| {
                snapshot.text("messageId", &message);
                snapshot.object("trackedFileBackups", |files| {
                    files.object(&path, |file| {
                        file.maybe("backupFileName", None);
                        file.number("version", 1);
                        file.text("backupTime", &at);
                    });
                });
                snapshot.text("timestamp", &at);
            });
            line.flag("isSnapshotUpdate", false);
        });
    }

    /// A prompt typed while the agent was busy: queued, taken, and shown as an attachment.
    fn queued_prompt(&mut self) {
        let text = self.author.prompt(self.room());
        let (session, at) = (&self.plan.session, time::iso(self.clock));
        for operation in ["enqueue", "dequeue"] {
            self.aside("queue-operation", |line| {
                line.text("operation", operation);
                line.text("timestamp", &at);
                line.text("sessionId", session);
                if operation == "enqueue" {
                    line.text("content", &text);
                }
            });
        }
        if self.era == Era::Attachment {
            self.attachment("queued_command", |attachment| {
                attachment.text("prompt", &text);
                attachment.text("commandMode", "prompt");
            });
        } else {
            self.user_text(&text, false);
        }
    }

    fn reminder(&mut self) {
        let file = self.workspace.path(&mut self.author);
        let snippet = self.author.code(400.min(self.room()));
        if self.author.chance(50) {
            self.attachment("edited_text_file", |attachment| {
                attachment.text("filename", &file);
                attachment.text("snippet", &snippet);
            });
        } else {
            self.attachment("hook_success", |attachment| {
                attachment.text("hookName", "PostToolUse:Edit");
                attachment.text("hookEvent", "PostToolUse");
                attachment.text("stdout", &snippet);
                attachment.text("stderr", "");
                attachment.number("exitCode", 0);
            });
        }
    }

    fn attachment(&mut self, kind: &str, fields: impl FnOnce(&mut Object)) {
        let body = |line: &mut Object| {
            line.object("attachment", |attachment| {
                attachment.text("type", kind);
                fields(attachment);
            });
        };
        self.entry("attachment", body, |_| ());
    }

    fn system(&mut self, subtype: &str, fields: impl FnOnce(&mut Object)) {
        let body = |line: &mut Object| {
            line.text("subtype", subtype);
            fields(line);
            line.text("level", "info");
            line.flag("isMeta", false);
        };
        self.entry("system", body, |_| ());
    }

    fn hook_progress(&mut self, event: &str, call: &str) {
        let command = self.author.path();
        self.progress(call, call, |data| {
            data.text("type", "hook_progress");
            data.text("hookEvent", event);
            data.text("hookName", event);
            data.text("command", &command);
        });
    }

    fn bash_progress(&mut self, call: &str) {
        let output = self.author.output(300.min(self.room()));
        self.progress("bash-progress-0", call, |data| {
            data.text("type", "bash_progress");
            data.text("output", &output);
            data.text("fullOutput", &output);
            data.number("elapsedTimeSeconds", 2);
        });
    }

    /// Whole messages of a sub-agent, which stand in its own transcript as well.
    fn agent_progress(&mut self, prompt: &str, call: &str, agent: &str) {
        let room = self.room() / 4;
        let action = Action::draw(&mut self.author, &mut self.workspace, room);
        let (uuid, at) = (ids::uuid(&mut self.author.random), time::iso(self.clock));
        let message = |object: &mut Object| {
            object.text("type", "user");
            object.object("message", |message| {
                message.text("role", "user");
                message.list("content", |list: &mut List| {
                    list.object(|block| {
                        block.text("type", "tool_result");
                        block.text("tool_use_id", call);
                        tools::content(&action, block);
                    });
                });
            });
            object.text("uuid", &uuid);
            object.text("timestamp", &at);
        };
        self.progress("agent_msg", call, |data| {
            data.object("message", message);
            data.list("normalizedMessages", |list| list.object(message));
            data.text("type", "agent_progress");
            data.text("prompt", prompt);
            data.text("agentId", agent);
        });
    }

    fn progress(&mut self, id: &str, parent: &str, fields: impl FnOnce(&mut Object)) {
        let body = |line: &mut Object| {
            line.object("data", fields);
            line.text("toolUseID", id);
            line.text("parentToolUseID", parent);
        };
        self.entry("progress", body, |_| ());
    }
}
