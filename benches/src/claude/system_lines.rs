//! Lines that Claude Code itself writes: progress, hooks, titles, system messages.

use super::{ClaudeTranscriptWriter, ReleaseStyle, tools};
use crate::actions::SyntheticAction;
use crate::ids;
use crate::json::{JsonListWriter, JsonObjectWriter};
use crate::time;

impl ClaudeTranscriptWriter<'_> {
    /// Writes the lines before the first prompt.
    pub(super) fn write_header(&mut self) {
        if self.is_subagent() {
            return;
        }
        let session = &self.plan.session;
        match self.release_style {
            ReleaseStyle::Progress => self.hook_progress("SessionStart", "session-start"),
            ReleaseStyle::Attachment => {
                self.plain_line("permission-mode", |line| {
                    line.text("permissionMode", "default");
                    line.text("sessionId", session);
                });
                let listing = self.text.prose(1_200.min(self.remaining_bytes() / 8));
                self.attachment("skill_listing", |a| a.text("content", &listing));
            }
        }
    }

    /// Writes compactions, snapshots, slash commands and queued prompts between two turns.
    pub(super) fn before_prompt(&mut self) {
        if self.len() > self.compaction_at {
            self.compaction_at = self.len() + self.text.random.size(1_500_000, 0.4);
            self.compaction();
        }
        if self.is_subagent() {
            return;
        }
        if self.text.chance(60) {
            self.snapshot();
        }
        if self.text.chance(3) {
            let command = "<command-name>/clear</command-name>\n<command-args></command-args>";
            self.user_text(command, false);
        }
        if self.text.chance(5) {
            self.queued_prompt();
        }
    }

    /// Writes the lines that appear while a tool runs.
    pub(super) fn while_running(&mut self, action: &SyntheticAction, call: &str, agent: &str) {
        match (self.release_style, action) {
            (ReleaseStyle::Attachment, _) => {
                if self.text.chance(6) {
                    self.reminder();
                }
            }
            (ReleaseStyle::Progress, SyntheticAction::Delegate { prompt, .. }) => {
                for _ in 0..self.text.random.between(4, 40) {
                    if self.remaining_bytes() == 0 {
                        break;
                    }
                    self.agent_progress(prompt, call, agent);
                }
            }
            (ReleaseStyle::Progress, SyntheticAction::Run(_)) => {
                self.hook_progress("PreToolUse", call);
                if self.text.chance(30) {
                    self.bash_progress(call);
                }
            }
            (ReleaseStyle::Progress, _) => self.hook_progress("PostToolUse", call),
        }
    }

    /// Writes durations, hook summaries and titles after a turn.
    pub(super) fn after_turn(&mut self) {
        let duration = self.text.random.between(2_000, 300_000);
        self.system("turn_duration", |line| line.number("durationMs", duration));
        if self.text.chance(30) {
            self.system("stop_hook_summary", |line| {
                line.number("hookCount", 1);
                line.list("hookInfos", |list| list.object(|o| o.text("command", "stop-hook")));
                line.raw("hookErrors", "[]");
                line.flag("preventedContinuation", false);
            });
        }
        if !self.is_subagent() && self.text.chance(25) {
            let title = self.text.title();
            let session = &self.plan.session;
            self.plain_line("ai-title", |line| {
                line.text("aiTitle", &title);
                line.text("sessionId", session);
            });
        }
    }

    fn compaction(&mut self) {
        let last = self.parent.take();
        self.system("compact_boundary", |line| {
            line.optional_text("logicalParentUuid", last.as_deref());
            line.text("content", "Conversation compacted");
            line.object("compactMetadata", |meta| {
                meta.text("trigger", "auto");
                meta.number("preTokens", 155_000);
            });
        });
        let summary =
            "This session is being continued from a previous conversation. ".to_string() + &self.text.prose(6_000);
        let body = |line: &mut JsonObjectWriter| {
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
        let (message, at) = (ids::uuid(&mut self.text.random), time::iso(self.clock));
        let path = self.text.path();
        self.plain_line("file-history-snapshot", |line| {
            line.text("messageId", &message);
            line.object("snapshot", |snapshot| {
                snapshot.text("messageId", &message);
                snapshot.object("trackedFileBackups", |files| {
                    files.object(&path, |file| {
                        file.optional_text("backupFileName", None);
                        file.number("version", 1);
                        file.text("backupTime", &at);
                    });
                });
                snapshot.text("timestamp", &at);
            });
            line.flag("isSnapshotUpdate", false);
        });
    }

    /// A prompt typed while the agent was busy: enqueued, dequeued, and recorded as an attachment.
    fn queued_prompt(&mut self) {
        let text = self.text.prompt(self.remaining_bytes());
        let (session, at) = (&self.plan.session, time::iso(self.clock));
        for operation in ["enqueue", "dequeue"] {
            self.plain_line("queue-operation", |line| {
                line.text("operation", operation);
                line.text("timestamp", &at);
                line.text("sessionId", session);
                if operation == "enqueue" {
                    line.text("content", &text);
                }
            });
        }
        if self.release_style == ReleaseStyle::Attachment {
            self.attachment("queued_command", |attachment| {
                attachment.text("prompt", &text);
                attachment.text("commandMode", "prompt");
            });
        } else {
            self.user_text(&text, false);
        }
    }

    fn reminder(&mut self) {
        let file = self.workspace.path(&mut self.text);
        let snippet = self.text.code(400.min(self.remaining_bytes()));
        if self.text.chance(50) {
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

    fn attachment(&mut self, kind: &str, fields: impl FnOnce(&mut JsonObjectWriter)) {
        let body = |line: &mut JsonObjectWriter| {
            line.object("attachment", |attachment| {
                attachment.text("type", kind);
                fields(attachment);
            });
        };
        self.entry("attachment", body, |_| ());
    }

    fn system(&mut self, subtype: &str, fields: impl FnOnce(&mut JsonObjectWriter)) {
        let body = |line: &mut JsonObjectWriter| {
            line.text("subtype", subtype);
            fields(line);
            line.text("level", "info");
            line.flag("isMeta", false);
        };
        self.entry("system", body, |_| ());
    }

    fn hook_progress(&mut self, event: &str, call: &str) {
        let command = self.text.path();
        self.progress(call, call, |data| {
            data.text("type", "hook_progress");
            data.text("hookEvent", event);
            data.text("hookName", event);
            data.text("command", &command);
        });
    }

    fn bash_progress(&mut self, call: &str) {
        let output = self.text.output(300.min(self.remaining_bytes()));
        self.progress("bash-progress-0", call, |data| {
            data.text("type", "bash_progress");
            data.text("output", &output);
            data.text("fullOutput", &output);
            data.number("elapsedTimeSeconds", 2);
        });
    }

    /// Complete messages of a subagent, which are also in its own transcript.
    fn agent_progress(&mut self, prompt: &str, call: &str, agent: &str) {
        let max_bytes = self.remaining_bytes() / 4;
        let action = SyntheticAction::random(&mut self.text, &mut self.workspace, max_bytes);
        let (uuid, at) = (ids::uuid(&mut self.text.random), time::iso(self.clock));
        let message = |object: &mut JsonObjectWriter| {
            object.text("type", "user");
            object.object("message", |message| {
                message.text("role", "user");
                message.list("content", |list: &mut JsonListWriter| {
                    list.object(|block| {
                        block.text("type", "tool_result");
                        block.text("tool_use_id", call);
                        tools::write_content(&action, block);
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

    fn progress(&mut self, id: &str, parent: &str, fields: impl FnOnce(&mut JsonObjectWriter)) {
        let body = |line: &mut JsonObjectWriter| {
            line.object("data", fields);
            line.text("toolUseID", id);
            line.text("parentToolUseID", parent);
        };
        self.entry("progress", body, |_| ());
    }
}
