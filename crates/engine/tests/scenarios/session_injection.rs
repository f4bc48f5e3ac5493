//! How often and how detailed the session's own context is injected.

use rethread_model::estimate_text_tokens;
use rethread_testing::TestHome;
use serde_json::json;

use crate::session_helpers::{BEN, engine, hook, prompt};

/// A home with these settings in which Ben has edited and run something.
fn home_with(settings: &str) -> TestHome {
    let home = TestHome::new();
    home.write(".rethread/config.toml", format!("[inject]\n{settings}\n"));
    prompt(&home, 0, BEN, "fix parse_line in src/cart.rs");
    for number in 0..8 {
        let input =
            json!({"file_path": format!("/app/src/part_{number}.rs"), "old_string": "old words", "new_string": "new"});
        hook(&home, 1, BEN, "PostToolUse", &json!({"tool_name": "Edit", "tool_input": input}));
    }
    home
}

#[test]
fn the_session_context_is_injected_as_often_as_configured() {
    // D29, S002-27, E002-01
    let twice = |settings: &str| {
        let home = home_with(settings);
        [2, 3].map(|minutes| prompt(&home, minutes, BEN, "go on").unwrap_or_default())
    };
    let [first, second] = twice("session = \"always\"");
    for injected in [&first, &second] {
        assert!(injected.contains("[SESSION CONTEXT]") && injected.contains("Edited src/part_7.rs"), "{injected}");
    }
    assert_eq!(twice("session = \"changes\""), ["", ""], "the agent knows what it did");
    assert_eq!(twice("session = \"off\""), ["", ""]);
    let after_clear = |settings: &str| {
        let home = home_with(settings);
        hook(&home, 2, BEN, "SessionStart", &json!({"source": "compact"})).unwrap_or_default()
    };
    assert!(after_clear("session = \"changes\"").contains("[SESSION CONTEXT]"));
    assert_eq!(after_clear("session = \"off\""), "");
    let home = home_with("session = \"always\"");
    engine(&home, 1).lifecycle().set_task(BEN, "ship it").unwrap();
    let injected = prompt(&home, 2, BEN, "go on").unwrap();
    assert_eq!(injected.matches("Current task: ship it").count(), 1, "{injected}");
}

#[test]
fn the_level_of_detail_is_a_setting() {
    // D29, S002-36, E002-09
    let tokens = ["minimal", "normal", "verbose"].map(|detail| {
        let home = home_with(&format!("session = \"always\"\ndetail = \"{detail}\""));
        let injected = prompt(&home, 2, BEN, "go on").unwrap();
        let files = injected.matches("\n  - src/part_").count();
        (files, estimate_text_tokens(&injected))
    });
    let files = tokens.map(|(files, _)| files);
    assert_eq!(files, [3, 5, 8]);
    assert!(tokens.is_sorted_by_key(|(_, tokens)| *tokens) && tokens[2].1 <= 1_000, "{tokens:?}");
}
