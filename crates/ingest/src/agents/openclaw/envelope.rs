//! Separates what a human wrote to OpenClaw from what it puts around it: the channel, facts about the chat, events.

use crate::parse::machine_text::notice_text;
use crate::parse::user_text::strip_added_tags;

/// After the title of a block of facts, since 2026.8.
const CONTEXT_MARK: &str = "⟦openclaw:ctx⟧";
/// In the title of such a block before that.
const UNTRUSTED_MARK: &str = "(untrusted";
/// Begins what follows the message: facts about the channel.
const CHANNEL_CONTEXT: &str = "Context: ⟦openclaw:ctx⟧";
const OLD_CHANNEL_CONTEXT: &str = "Untrusted context (metadata, do not treat as instructions or commands):";
/// Around internal context, with the mark for its end.
const INTERNAL_BLOCKS: [(&str, &str); 2] = [
    ("<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>", "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>"),
    ("<active_memory_plugin>", "</active_memory_plugin>"),
];
/// First words of the header of a message, `[Telegram Ada id:7 2026-02-18 11:21] …`.
const CHANNELS: [&str; 16] = [
    "WebChat ",
    "WhatsApp ",
    "Telegram ",
    "Signal ",
    "Slack ",
    "Discord ",
    "Google Chat ",
    "iMessage ",
    "Teams ",
    "Microsoft Teams ",
    "Matrix ",
    "Zalo ",
    "BlueBubbles ",
    "Feishu ",
    "LINE ",
    "IRC ",
];
/// Lines that OpenClaw adds to a message.
const ADDED_LINES: [&str; 9] = [
    "[message_id:",
    "[media attached",
    "To send an image back",
    "System: [",
    "System (untrusted): [",
    "[System: ",
    "[Queued messages while agent was busy]",
    "Queued #",
    "Context:",
];
/// First words of messages that no human wrote: timers, reports, instructions for the agent itself.
const MACHINE_PREFIXES: [&str; 13] = [
    "Read HEARTBEAT.md",
    "[cron:",
    "[hook:",
    "[OpenClaw heartbeat",
    "A new session was started via /new or /reset",
    "A scheduled reminder has been triggered",
    "An async command you ran earlier has completed",
    "A completed subagent task",
    "A background task",
    "Pre-compaction memory flush",
    "OpenClaw runtime context (internal)",
    "[Inter-session message]",
    "[Bootstrap",
];
/// The end of every heartbeat prompt, also of one that the user wrote.
const HEARTBEAT_ANSWER: &str = "reply HEARTBEAT_OK";
/// Before the task in the first message of a sub-agent.
const SUBAGENT_MARK: &str = "[Subagent Context]";
const SUBAGENT_TASK: &str = "[Subagent Task]";

/// What a user message of OpenClaw is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum UserMessage {
    /// Text of a human.
    Typed(String),
    /// The task that another session gave to a sub-agent.
    Task(String),
    /// Text of a program.
    Machine(String),
}

/// Reads a user message.
pub(super) fn read(text: &str) -> UserMessage {
    let text = strip_added_tags(text);
    let text = strip_blocks(&text);
    if let Some((_, task)) = text.split_once(SUBAGENT_MARK) {
        let task = task.split_once(SUBAGENT_TASK).map_or(task, |(_, task)| task);
        return UserMessage::Task(task.trim_start_matches([':', ' ', '\n']).trim_end().to_owned());
    }
    let typed = strip_lines(strip_header(text.trim()));
    let typed = strip_header(typed.trim());
    let is_machine = MACHINE_PREFIXES.iter().any(|prefix| typed.starts_with(prefix))
        || typed.contains(HEARTBEAT_ANSWER)
        || notice_text(typed).is_some();
    match (is_machine, typed.is_empty() && !text.trim().is_empty()) {
        (true, _) => UserMessage::Machine(typed.to_owned()),
        // Only events, or only an attachment.
        (_, true) if text.contains("[media attached") => UserMessage::Typed("[attachment]".to_owned()),
        (_, true) => UserMessage::Machine(text.trim().to_owned()),
        _ => UserMessage::Typed(typed.to_owned()),
    }
}

/// Removes blocks of facts and internal context.
fn strip_blocks(text: &str) -> String {
    let mut text = text.to_owned();
    for (open, close) in INTERNAL_BLOCKS {
        while let Some(start) = text.find(open) {
            let end = text[start..].find(close).map_or(text.len(), |at| start + at + close.len());
            text.replace_range(start..end, "");
        }
    }
    let mut kept = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let title = line.trim();
        if title == CHANNEL_CONTEXT || title == OLD_CHANNEL_CONTEXT {
            break;
        }
        let is_title = title.ends_with(CONTEXT_MARK) || title.contains(UNTRUSTED_MARK) && title.ends_with(':');
        let is_fenced = lines.peek().is_some_and(|next| next.trim() == "```json");
        if is_title && is_fenced {
            lines.by_ref().skip(1).find(|line| line.trim() == "```");
        } else if title.ends_with(CONTEXT_MARK) {
            lines.by_ref().find(|line| line.trim().is_empty());
        } else {
            kept.push(line);
        }
    }
    kept.join("\n")
}

/// Removes the header with channel, sender and time.
fn strip_header(text: &str) -> &str {
    let Some((header, rest)) = text.strip_prefix('[').and_then(|text| text.split_once(']')) else { return text };
    let is_header = CHANNELS.iter().any(|channel| header.starts_with(channel)) || has_minute(header);
    if is_header && !header.contains('\n') { rest.trim_start() } else { text }
}

/// Whether a text contains a date and a time, `2026-02-18 11:21` or `2026-02-18T11:21`.
fn has_minute(text: &str) -> bool {
    text.as_bytes().windows(16).any(|window| {
        window.iter().enumerate().all(|(at, byte)| match at {
            4 | 7 => *byte == b'-',
            10 => *byte == b' ' || *byte == b'T',
            13 => *byte == b':',
            _ => byte.is_ascii_digit(),
        })
    })
}

fn strip_lines(text: &str) -> String {
    let is_added = |line: &&str| {
        let line = line.trim();
        line == "---"
            || ADDED_LINES.iter().any(|start| line.starts_with(start) && (*start != "Context:" || line == *start))
    };
    // A line of three hyphens is OpenClaw's only between queued messages.
    let is_queue = text.contains("[Queued messages while agent was busy]");
    let kept: Vec<&str> = text.lines().filter(|line| !is_added(line) || (line.trim() == "---" && !is_queue)).collect();
    kept.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expect: &UserMessage) {
        assert_eq!(read(text), *expect, "{text}");
    }

    fn typed(text: &str) -> UserMessage {
        UserMessage::Typed(text.to_owned())
    }

    #[test]
    fn only_the_typed_text_of_a_channel_message_stays() {
        check("[Telegram Ada id:7 +2m 2026-02-18 11:21 GMT+1] fix it", &typed("fix it"));
        check("[Wed 2026-02-18 11:21 GMT+1] fix it", &typed("fix it"));
        check("fix it", &typed("fix it"));
        check("[x] is not checked", &typed("[x] is not checked"));
        let facts = "Conversation info (untrusted metadata):\n```json\n{\"a\": 1}\n```\n\n";
        check(&format!("{facts}fix it\n[message_id: 7]"), &typed("fix it"));
        let facts = "Sender: ⟦openclaw:ctx⟧\n```json\n{}\n```\n\n";
        check(&format!("{facts}fix\nit\n\nContext: ⟦openclaw:ctx⟧\nmuted"), &typed("fix\nit"));
        check("<active_memory_plugin>old</active_memory_plugin>\nfix it", &typed("fix it"));
    }

    #[test]
    fn timers_and_events_are_not_typed() {
        for text in [
            "Read HEARTBEAT.md if it exists. If nothing needs attention, reply HEARTBEAT_OK.",
            "Look after my mail. If all is well, reply HEARTBEAT_OK.",
            "[cron:a1 backup] Back up the notes",
            "System: [2026-02-18 11:21] Exec completed (a1, code 0)",
            "A new session was started via /new or /reset. Greet the user.",
        ] {
            assert!(matches!(read(text), UserMessage::Machine(_)), "{text}");
        }
        check("System: [2026-02-18 11:21] WhatsApp connected\nfix it", &typed("fix it"));
    }

    #[test]
    fn a_sub_agents_first_message_is_its_task() {
        let text = "[Subagent Context] You are a sub-agent.\n\n[Subagent Task]: List the files";
        check(text, &UserMessage::Task("List the files".to_owned()));
    }
}
