//! Builders for sessions and entries in unit tests.

use rethread_model::{
    Agent, Entry, EntryKind, EntryLocation, Session, SessionCounts, SessionId, SessionKind, Timestamp, Tokens,
    ToolKind, ToolOutcome, ToolStatus, ToolUse,
};

/// A main session of pi about which nothing else is known.
pub(crate) fn pi_session() -> Session {
    Session {
        id: SessionId::derive(Agent::Pi, "s", Timestamp::from_millis(0)),
        agent: Agent::Pi,
        external_id: "s".to_owned(),
        kind: SessionKind::Main,
        parent: None,
        alias: None,
        name: None,
        cwd: None,
        project: None,
        namespace: None,
        branch: None,
        model: None,
        started_at: None,
        last_activity_at: None,
        transcript: None,
        counts: SessionCounts::default(),
        tokens: Tokens::default(),
        cost_usd: None,
        raw_tokens: 0,
        kept_tokens: 0,
        is_empty: false,
    }
}

/// An entry of a transcript in which each line is one entry.
pub(crate) fn entry(seq: u64, kind: EntryKind, text: &str) -> Entry {
    entry_at_line(seq + 1, seq, kind, text)
}

pub(crate) fn entry_at_line(line: u64, seq: u64, kind: EntryKind, text: &str) -> Entry {
    Entry {
        seq,
        native_id: format!("u{seq}"),
        location: EntryLocation { line, ..EntryLocation::default() },
        at: None,
        kind,
        text: text.to_owned(),
        tool: None,
        episode: None,
        is_abandoned: false,
    }
}

/// A finished tool call. The target is a command line, or the path of a file.
pub(crate) fn tool_entry(seq: u64, kind: ToolKind, target: &str, status: ToolStatus) -> Entry {
    let outcome =
        ToolOutcome { status, summary: String::new(), error: None, exit_code: None, lines: 0, bytes: 0, output: None };
    let tool = ToolUse {
        name: "tool".to_owned(),
        kind: Some(kind),
        target: target.to_owned(),
        paths: if kind == ToolKind::Command { Vec::new() } else { vec![target.to_owned()] },
        outcome: Some(outcome),
        ..ToolUse::default()
    };
    Entry { tool: Some(tool), ..entry(seq, EntryKind::Call, target) }
}
