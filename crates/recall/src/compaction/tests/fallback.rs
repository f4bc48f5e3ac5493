//! Tests of the summary built without a model.

use proptest::prelude::*;
use rethread_model::estimate_text_tokens;
use serde_json::json;

use super::{LARGE_WINDOW, TestThreadRecords, long, summarize_with, valid_summary};
use crate::compaction::CompactionSettings;

fn check(thread: &TestThreadRecords, expect: &str) {
    let planned = thread.plan(50).unwrap();
    assert_eq!(planned.summary_without_model(None), expect);
}

fn thread_with_work() -> TestThreadRecords {
    TestThreadRecords::default()
        .user("Fix the parser in src/parse.rs. Never touch the fixtures.")
        .assistant_with_calls(
            "We decided on a table instead of a match.",
            &[("1", "edit", json!({"path": "src/parse.rs"}))],
        )
        .result("1", "ok")
        .assistant_with_calls(
            "",
            &[("2", "bash", json!({"command": "cargo  build"})), ("3", "bash", json!({"command": "cargo test"}))],
        )
        .result("2", "ok")
        .failed_result("3", "\nerror[E0308]: mismatched types\n --> src/parse.rs:3")
        .assistant("One test fails.\n1. Fix the type\n2. Run the tests")
        .user(&long(50))
}

#[test]
fn a_summary_without_a_model_has_every_section() {
    // E004-20
    check(
        &thread_with_work(),
        "## Goal\nFix the parser in src/parse.rs. Never touch the fixtures.\n\n\
         ## Constraints & Preferences\n- Never touch the fixtures.\n\n\
         ## Progress\n### Done\n- [x] Modified `src/parse.rs`\n- [x] Ran `cargo build`\n\n\
         ### In Progress\n- [ ] Last answer: One test fails. 1. Fix the type 2. Run the tests\n\n\
         ### Blocked\n- `cargo test` failed: error[E0308]: mismatched types\n\n\
         ## Key Decisions\n- We decided on a table instead of a match.\n\n\
         ## Next Steps\n1. Fix the type\n2. Run the tests\n\n\
         ## Critical Context\n\
         - The user asked: \"Fix the parser in src/parse.rs. Never touch the fixtures.\"\n\
         - Error: error[E0308]: mismatched types",
    );
}

#[test]
fn it_passes_the_checks_for_model_summaries() {
    // E004-20
    let planned = thread_with_work().plan(50).unwrap();
    let made = planned.summary_without_model(Some("types"));
    assert!(made.ends_with("- Additional focus: types"));
    assert_eq!(summarize_with(&planned, None, LARGE_WINDOW, &[&made]).0.unwrap(), made);
}

#[test]
fn an_earlier_summary_is_merged() {
    // E004-20
    let thread = thread_with_work();
    let planned = thread.plan(50).unwrap();
    let thread = thread
        .compacted(&planned, &valid_summary("Ship it"))
        .assistant_with_calls("", &[("9", "bash", json!({"command": "cargo test"}))])
        .result("9", "ok")
        .assistant("All is well.")
        .user(&long(50));
    let made = thread.plan(50).unwrap().summary_without_model(None);
    for kept in
        ["- Ship it\n", "- [x] Began\n- [x] Ran `cargo test`", "- **Rust**: it is fast", "1. Go on\n", "- Port 8080"]
    {
        assert!(made.contains(kept), "{kept} in {made}");
    }
    assert!(made.contains("- [x] All is well.") && !made.contains("- [ ] All is well."), "{made}");
}

#[test]
fn finished_work_does_not_stay_in_progress() {
    // D60
    let mut thread = TestThreadRecords::default().user("Fix the parser in src/parse.rs.").assistant("Looking at it.");
    for round in 1..=3 {
        thread = thread
            .user("ok")
            .assistant_with_calls("", &[("1", "bash", json!({"command": format!("cargo test round_{round}")}))])
            .result("1", "ok")
            .assistant(&format!("Round {round} is fixed, all tests pass."))
            .user(&long(50));
        let planned = thread.plan(50).unwrap();
        let made = planned.summary_without_model(None);
        let (_, open) = made.split_once("### In Progress").unwrap();
        let (open, _) = open.split_once("## Key Decisions").unwrap();
        assert_eq!(open, "\n- (none)\n\n### Blocked\n- (none)\n\n", "round {round}: {made}");
        assert!(made.contains(&format!("- [x] Round {round} is fixed")), "{made}");
        assert!(!made.contains("- ok\n") && !made.contains("\"ok\""), "no filler: {made}");
        assert!(made.starts_with("## Goal\n") && made.contains("Fix the parser in src/parse.rs."), "{made}");
        thread = thread.compacted(&planned, &made);
    }
    // An open item of a model's summary is done once an answer says so.
    let planned = thread_with_work().plan(50).unwrap();
    let open =
        valid_summary("Ship it").replace("### In Progress\n", "### In Progress\n- [ ] Write the release notes\n");
    let thread = thread_with_work()
        .compacted(&planned, &open)
        .assistant("The release notes: I did write them and they are published.")
        .user(&long(50));
    let made = thread.plan(50).unwrap().summary_without_model(None);
    assert!(made.contains("- [x] Write the release notes"), "{made}");
}

#[test]
fn a_resolved_error_blocks_nothing() {
    // L004-09
    let command = || json!({"command": "cargo test"});
    let thread = TestThreadRecords::default()
        .user("go")
        .assistant_with_calls("", &[("1", "bash", command())])
        .failed_result("1", "red")
        .assistant_with_calls("", &[("2", "bash", command())])
        .result("2", "green")
        .assistant("fine")
        .user(&long(50));
    let made = thread.plan(50).unwrap().summary_without_model(None);
    assert!(made.contains("### Blocked\n- (none)"), "{made}");
    let thread = thread_with_work();
    let planned = thread.plan(50).unwrap();
    let thread = thread
        .compacted(&planned, &planned.summary_without_model(None))
        .assistant_with_calls(&long(10), &[("4", "bash", command())])
        .result("4", "green")
        .user(&long(50));
    let made = thread.plan(50).unwrap().summary_without_model(None);
    assert!(made.contains("### Blocked\n- (none)"), "{made}");
}

#[test]
fn it_never_exceeds_its_limit() {
    // E004-20
    let settings = CompactionSettings { reserve_tokens: 2_000, keep_recent_tokens: 50, ..Default::default() };
    let mut thread = TestThreadRecords::default();
    for round in 0..12 {
        for number in 0..20 {
            let id = number.to_string();
            let command = format!("run --round {round} --number {number} {}", long(20));
            thread = thread
                .user(&format!("Always mind {round} {number}. {}", long(30)))
                .assistant_with_calls("I'll do it", &[(&id, "bash", json!({"command": command}))])
                .failed_result(&id, &format!("error {round} {number}"));
        }
        thread = thread.assistant("so").user(&long(50));
        let planned = crate::compaction::plan_compaction(&thread.0, &settings).unwrap();
        let made = planned.summary_without_model(None);
        assert!(estimate_text_tokens(&made) <= 1_600, "{made}");
        assert!(made.contains("Always mind 0 0."), "the first goal stays");
        thread = thread.compacted(&planned, &made);
    }
}

proptest! {
    #[test]
    fn any_text_gives_all_sections_within_the_limit(
        said in proptest::collection::vec(any::<String>(), 1..6),
        before in any::<String>(),
    ) {
        // E004-20
        let thread = said.iter().fold(TestThreadRecords::default().user("x"), |thread, text| thread.user(text).assistant(text));
        let planned = thread.user(&long(50)).plan(50).unwrap();
        let planned = crate::compaction::CompactionPlan { previous_summary: Some(before), ..planned };
        let made = planned.summary_without_model(Some("f"));
        let headings = ["## Goal", "## Constraints & Preferences", "## Progress\n### Done", "### In Progress",
            "### Blocked", "## Key Decisions", "## Next Steps", "## Critical Context"];
        let places: Vec<Option<usize>> = headings.iter().map(|heading| made.find(heading)).collect();
        prop_assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{made}");
        prop_assert!(estimate_text_tokens(&made) <= 13_000);
    }
}
