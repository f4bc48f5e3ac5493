//! Tests of rule-based cards on small sessions.

use proptest::prelude::*;
use rethread_model::{Entry, EntryKind, Session, SessionCounts, Timestamp, ToolKind, ToolStatus};

use super::*;
use crate::testing::{entry, pi_session, tool_entry};

pub(super) fn call(seq: u64, command: &str, is_good: bool) -> Entry {
    tool_entry(seq, ToolKind::Command, command, if is_good { ToolStatus::Ok } else { ToolStatus::Error })
}

fn edit(seq: u64, path: &str) -> Entry {
    tool_entry(seq, ToolKind::Edit, path, ToolStatus::Ok)
}

fn session() -> Session {
    Session {
        project: Some("/home/dev/app".to_owned()),
        started_at: Some(Timestamp::from_millis(0)),
        counts: SessionCounts { prompts: 2, tool_calls: 3, files_edited: 1, ..SessionCounts::default() },
        ..pi_session()
    }
}

fn card(name: &str, entries: &[Entry]) -> CardFields {
    card_by_rules(&CardSource {
        session: &Session { name: Some(name.to_owned()), ..session() },
        entries,
        decisions: &["We decided to split at newlines".to_owned()],
    })
}

#[test]
fn a_card_states_goal_decisions_outcome_and_next_steps() {
    let entries = [
        entry(0, EntryKind::Prompt, "please fix the flaky parser test, see APP-12"),
        entry(1, EntryKind::AssistantText, "We decided to split at newlines instead of reading whole files."),
        edit(2, "/home/dev/app/src/parser.rs"),
        call(3, "cd /home/dev/app && cargo test parser 2>&1 | tail -3", true),
        entry(4, EntryKind::AssistantText, "The parser test is stable now.\n\nNext: remove the old reader."),
    ];
    let card = card("Fix the flaky parser test, see APP-12", &entries);
    assert_eq!(card.name, "Fix the flaky parser test, see APP-12");
    assert_eq!(
        card.summary,
        "## Goal\nPlease fix the flaky parser test, see APP-12.\n\n\
         ## Key Decisions\nWe decided to split at newlines\n\n\
         ## Outcome\n- The parser test is stable now.\n- Changed `parser.rs`.\n- Passed: `cargo test parser`.\n\n\
         ## Next Steps\nremove the old reader."
    );
    assert_eq!(
        card.description,
        "Please fix the flaky parser test, see APP-12. The parser test is stable now. 2 prompts, 3 tool calls and 1 file changed."
    );
    assert_eq!(card.tags, ["ticket:APP-12", "parser.rs", "rust", "cargo", "parser"]);
}

#[test]
fn a_session_without_words_still_gets_a_card() {
    let card = card("pi session", &[entry(0, EntryKind::Prompt, "hi")]);
    assert_eq!(card.name, "pi session");
    assert!(card.tags.contains(&"app".to_owned()), "{:?}", card.tags);
    assert!(!card.description.is_empty());
}

#[test]
fn a_compaction_summary_and_a_recap_are_preferred() {
    let entries = [
        entry(0, EntryKind::Prompt, "go on"),
        entry(1, EntryKind::Summary, "## Goal\nShare code between modes.\n\n## Key Decisions\n1. Keep the old files"),
        entry(2, EntryKind::AssistantText, "Looking at it."),
        entry(3, EntryKind::Recap, "Moved the files. Next: run the tests. (disable recaps in /config)"),
    ];
    assert_eq!(
        card("Share code", &entries).summary,
        "## Goal\nShare code between modes.\n\n## Key Decisions\n- Keep the old files\n- We decided to split at newlines\n\n\
         ## Outcome\nMoved the files.\n\n## Next Steps\nrun the tests."
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_limits_hold_for_any_text(texts in prop::collection::vec("(?s).{0,300}", 0..8), title in "(?s).{0,200}") {
        // E001-01
        let kinds = [EntryKind::Prompt, EntryKind::AssistantText, EntryKind::Summary, EntryKind::Recap];
        let entries: Vec<Entry> = texts.iter().enumerate().map(|(at, text)| entry(at as u64, kinds[at % 4], text)).collect();
        let card = card(&title, &entries);
        prop_assert!((1..=CARD_NAME_CHARS).contains(&card.name.chars().count()));
        prop_assert!((1..=CARD_DESCRIPTION_CHARS).contains(&card.description.chars().count()));
        prop_assert!((1..=CARD_SUMMARY_CHARS).contains(&card.summary.chars().count()));
        prop_assert!(CARD_TAG_COUNT.contains(&card.tags.len()));
        prop_assert!(card.tags.iter().all(|tag| (1..=CARD_TAG_CHARS).contains(&tag.chars().count())));
    }
}
