//! The terminal UI without a terminal. `scripts/e2e-tui` tests it in one.

use insta::assert_snapshot;

use crate::transcripts::{new_home, read_home};

#[test]
fn without_a_terminal_it_says_what_to_use_instead() {
    let home = read_home();
    assert_snapshot!("tui_no_terminal", home.snapshot(&["tui"]));
}

#[test]
fn before_the_first_sync_it_says_so() {
    let home = new_home();
    assert_snapshot!("tui_unsynced", home.snapshot(&["tui"]));
    assert!(!home.has_rethread_dir());
}

#[test]
fn a_terminal_that_cannot_place_text_gets_the_overview() {
    let home = read_home();
    let (code, screen) = home.run_in_terminal(&[], "");
    assert!(code == Some(0) && screen.contains("session memory for AI coding agents"), "{screen}");
    let (code, screen) = home.run_in_terminal(&["tui"], "");
    assert!(code == Some(2) && screen.contains("this terminal cannot show `rethread tui`"), "{screen}");
}
