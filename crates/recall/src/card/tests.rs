//! Cards by rules, told in small sessions.

use proptest::prelude::*;
use rethread_model::{
    Agent, Counts, Entry, Outcome, Place, Session, SessionId, SessionKind, Speech, Status, Timestamp, Tokens, ToolKind,
    ToolUse,
};

use super::*;

pub(super) fn entry(seq: u64, speech: Speech, text: &str) -> Entry {
    Entry {
        seq,
        native_id: format!("e{seq}"),
        place: Place::default(),
        at: None,
        speech,
        text: text.to_owned(),
        tool: None,
        episode: None,
        abandoned: false,
    }
}

pub(super) fn call(seq: u64, command: &str, is_good: bool) -> Entry {
    let status = if is_good { Status::Ok } else { Status::Error };
    tool(seq, ToolKind::Command, command, Vec::new(), status)
}

fn edit(seq: u64, path: &str) -> Entry {
    tool(seq, ToolKind::Edit, path, vec![path.to_owned()], Status::Ok)
}

fn tool(seq: u64, kind: ToolKind, target: &str, paths: Vec<String>, status: Status) -> Entry {
    let outcome =
        Outcome { status, summary: String::new(), error: None, exit_code: None, lines: 0, bytes: 0, output: None };
    let used = ToolUse {
        name: "tool".to_owned(),
        kind: Some(kind),
        target: target.to_owned(),
        paths,
        outcome: Some(outcome),
        ..ToolUse::default()
    };
    Entry { tool: Some(used), ..entry(seq, Speech::Call, target) }
}

fn session() -> Session {
    let started = Timestamp::from_millis(0);
    Session {
        id: SessionId::derive(Agent::Pi, "s", started),
        agent: Agent::Pi,
        external_id: "s".to_owned(),
        kind: SessionKind::Main,
        parent: None,
        alias: None,
        name: None,
        cwd: None,
        project: Some("/home/dev/app".to_owned()),
        namespace: None,
        branch: None,
        model: None,
        started_at: Some(started),
        last_activity_at: None,
        transcript: None,
        counts: Counts { prompts: 2, tool_calls: 3, files_edited: 1, ..Counts::default() },
        tokens: Tokens::default(),
        cost_usd: None,
        raw_tokens: 0,
        kept_tokens: 0,
        empty: false,
    }
}

fn card(title: Option<&str>, entries: &[Entry]) -> CardFields {
    card_by_rules(&CardSource { session: &session(), title, entries })
}

#[test]
fn a_session_s_card_says_what_was_wanted_decided_done_and_left() {
    let entries = [
        entry(0, Speech::Prompt, "please fix the flaky parser test, see APP-12"),
        entry(1, Speech::Said, "We decided to split at newlines instead of reading whole files."),
        edit(2, "/home/dev/app/src/parser.rs"),
        call(3, "cd /home/dev/app && cargo test parser 2>&1 | tail -3", true),
        entry(4, Speech::Said, "The parser test is stable now.\n\nNext: remove the old reader."),
    ];
    let card = card(None, &entries);
    assert_eq!(card.name, "Fix the flaky parser test, see APP-12");
    assert_eq!(
        card.summary,
        "## Goal\nPlease fix the flaky parser test, see APP-12.\n\n\
         ## Key Decisions\nWe decided to split at newlines instead of reading whole files.\n\n\
         ## Outcome\n- The parser test is stable now.\n- Changed `parser.rs`.\n- Passed: `cargo test parser`.\n\n\
         ## Next Steps\nremove the old reader."
    );
    assert_eq!(
        card.description,
        "Please fix the flaky parser test, see APP-12. The parser test is stable now. 2 prompts, 3 tool calls and 1 file changed."
    );
    assert_eq!(card.tags, ["ticket:APP-12", "parser.rs", "rust", "cargo", "flaky", "parser", "app-12"]);
}

#[test]
fn the_agent_s_title_is_the_name() {
    assert_eq!(card(Some("Mend the parser"), &[entry(0, Speech::Prompt, "hello")]).name, "Mend the parser");
    assert_eq!(card(Some("<command-name>/init</command-name>"), &[]).name, "Unnamed pi session in app");
}

#[test]
fn a_session_without_words_has_a_card_too() {
    let card = card(None, &[entry(0, Speech::Prompt, "hi")]);
    assert_eq!(card.name, "Only a greeting");
    assert_eq!(card.tags, ["app", "pi", "session"]);
    assert!(!card.description.is_empty());
}

#[test]
fn a_compaction_summary_and_a_recap_are_the_better_start() {
    let entries = [
        entry(0, Speech::Prompt, "go on"),
        entry(1, Speech::Summary, "## Goal\nShare code between modes.\n\n## Key Decisions\n1. Keep the old files"),
        entry(2, Speech::Said, "Looking at it."),
        entry(3, Speech::Recap, "Moved the files. Next: run the tests. (disable recaps in /config)"),
    ];
    assert_eq!(
        card(None, &entries).summary,
        "## Goal\nShare code between modes.\n\n## Key Decisions\nKeep the old files\n\n\
         ## Outcome\nMoved the files.\n\n## Next Steps\nrun the tests."
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn e001_01_the_limits_hold_whatever_was_said(texts in prop::collection::vec("(?s).{0,300}", 0..8), title in "(?s).{0,200}") {
        let speech = [Speech::Prompt, Speech::Said, Speech::Summary, Speech::Recap];
        let entries: Vec<Entry> = texts.iter().enumerate().map(|(at, text)| entry(at as u64, speech[at % 4], text)).collect();
        let card = card(Some(&title), &entries);
        prop_assert!((1..=CARD_NAME_CHARS).contains(&card.name.chars().count()));
        prop_assert!((1..=CARD_DESCRIPTION_CHARS).contains(&card.description.chars().count()));
        prop_assert!((1..=CARD_SUMMARY_CHARS).contains(&card.summary.chars().count()));
        prop_assert!(CARD_TAGS.contains(&card.tags.len()));
        prop_assert!(card.tags.iter().all(|tag| (1..=CARD_TAG_CHARS).contains(&tag.chars().count())));
    }
}
