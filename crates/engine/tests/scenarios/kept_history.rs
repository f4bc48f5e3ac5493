//! Only `forget` removes an entry: whatever agents, settings and file systems do to transcripts, nothing stored is lost.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::os::unix::fs::PermissionsExt;

use rethread_engine::{LogProfile, SearchRequest, SessionScope, ShowRequest, SyncRequest};
use rethread_store::{RereadKind, SessionNumber};
use rethread_testing::{TestHome, TranscriptBuilder, assert_same_dump};

const SESSION: &str = "0f1e2d3c-0000-4000-8000-000000000001";
const FIRST: &str = ".claude/projects/-app/0f1e2d3c-0000-4000-8000-000000000001.jsonl";
const SECOND: &str = ".claude/projects/-app-moved/0f1e2d3c-0000-4000-8000-000000000001.jsonl";

/// The first file of a session: a prompt, a call with its result, an answer.
fn first_part() -> String {
    TranscriptBuilder::new(SESSION)
        .ids("a")
        .user("why does the heron parser fail")
        .tool_call("toolu_01AAAAAAAAAAAAAAAAAAAAAA", "Bash", &serde_json::json!({"command": "cargo test heron"}))
        .tool_result("toolu_01AAAAAAAAAAAAAAAAAAAAAA", "one test failed", true)
        .assistant("The heron parser reads past the end.")
        .build()
}

/// The second file of the same session, written later.
fn second_part() -> String {
    TranscriptBuilder::new(SESSION)
        .ids("b")
        .times("2026-03-03T09:00:00Z".parse().unwrap(), 60)
        .user("now fix the walrus lexer")
        .assistant("The walrus lexer is fixed.")
        .user("and the pelican")
        .assistant("The pelican is fine.")
        .build()
}

fn both(home: &TestHome) -> String {
    home.write(FIRST, first_part());
    home.write(SECOND, second_part());
    home.sync();
    home.dump()
}

fn rebuild(home: &TestHome) {
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
}

fn texts(home: &TestHome) -> Vec<String> {
    let show = ShowRequest { profile: LogProfile::Full, ..ShowRequest::default() };
    home.engine().sessions().show(SESSION, show).unwrap().entries.into_iter().map(|entry| entry.text).collect()
}

fn finds(home: &TestHome, word: &str) -> bool {
    let request =
        SearchRequest { text: word.to_owned(), scope: SessionScope::AllProjects, limit: 9, ..SearchRequest::default() };
    !home.engine().search().run(&request).unwrap().hits.is_empty()
}

/// The entries of a dump.
fn entry_lines(dump: &str) -> Vec<&str> {
    dump.lines().filter(|line| line.starts_with("Entry")).collect()
}

/// Leaves an assembler state that cannot be read, as another version might have.
fn break_state(home: &TestHome) {
    let mut store = home.store();
    let mut batch = store.begin().unwrap();
    batch.rename_session(SessionNumber::new(1), "Why does the heron parser fail", Some("[]")).unwrap();
    batch.commit().unwrap();
}

#[test]
fn rebuild_keeps_entries_of_a_deleted_file_of_a_session_with_two() {
    // D61
    for gone in [FIRST, SECOND] {
        let home = TestHome::new();
        let before = both(&home);
        fs::remove_file(home.path(gone)).unwrap();
        // A session is shown with the path of a file that is still there.
        let same_path = |dump: &str| dump.replace("-app-moved/", "-app/");
        for _ in 0..2 {
            rebuild(&home);
            assert_same_dump(&same_path(&home.dump()), &same_path(&before));
        }
        assert!(finds(&home, "heron") && finds(&home, "walrus"));
    }
}

#[test]
fn rewritten_file_leaves_entries_of_a_deleted_one_alone() {
    // D61
    let home = TestHome::new();
    both(&home);
    fs::remove_file(home.path(FIRST)).unwrap();
    let rewritten = second_part().replace("walrus", "walruses");
    home.write(SECOND, &rewritten);
    home.sync();
    let expected = {
        let other = TestHome::new();
        other.write(FIRST, first_part());
        other.sync();
        other.write(SECOND, &rewritten);
        other.sync();
        other.dump()
    };
    assert_same_dump(&home.dump(), &expected);
}

#[test]
fn session_goes_on_after_entries_of_a_deleted_file_were_kept() {
    // D61: the rebuilt state continues as if nothing had been deleted.
    let more = TranscriptBuilder::new(SESSION)
        .ids("c")
        .times("2026-03-04T09:00:00Z".parse().unwrap(), 60)
        .user("what about the egret")
        .assistant("It sleeps.")
        .build();
    let expected = TestHome::new();
    both(&expected);
    expected.append(SECOND, &more);
    expected.sync();
    let home = TestHome::new();
    both(&home);
    fs::remove_file(home.path(FIRST)).unwrap();
    rebuild(&home);
    home.append(SECOND, &more);
    home.sync();
    assert_same_dump(&home.dump(), &expected.dump());
}

#[test]
fn entries_dropped_by_a_rewrite_stay_and_are_named() {
    // D61: a truncated file. The counts follow the file; the entries stay readable and are found.
    let home = TestHome::new();
    home.write(FIRST, second_part());
    home.sync();
    let shorter: String = second_part().split_inclusive('\n').take(1).collect();
    home.write(FIRST, &shorter);
    let report = home.sync();
    assert_eq!(report.kept_entries, 3);
    let warnings: Vec<String> =
        report.agents.iter().flat_map(|agent| &agent.warnings).map(|warning| warning.message.clone()).collect();
    assert_eq!(warnings, ["was rewritten: 3 entries are no longer in it; kept as an abandoned branch"]);
    assert_eq!(home.engine().sessions().resolve(SESSION).unwrap().session.counts.prompts, 1);
    for _ in 0..2 {
        assert_eq!(texts(&home).len(), 4);
        assert!(finds(&home, "pelican"), "kept entries are searched");
        assert_eq!(home.engine().maintenance().verify().unwrap().damage, vec![]);
        rebuild(&home);
    }
    home.write(FIRST, second_part());
    home.sync();
    assert_eq!(texts(&home).len(), 4, "entries that come back are not stored twice");
}

#[test]
fn result_from_a_deleted_file_stays_with_its_call() {
    // D61: the call is in the file that stays, its result was in the other one.
    let home = TestHome::new();
    let lines: Vec<String> = first_part().split_inclusive('\n').map(str::to_owned).collect();
    home.write(FIRST, lines[..2].concat());
    home.sync();
    home.write(SECOND, lines[2..].concat());
    home.sync();
    let before = home.dump();
    assert!(before.contains("one test failed"), "{before}");
    fs::remove_file(home.path(SECOND)).unwrap();
    rebuild(&home);
    assert_eq!(entry_lines(&home.dump()), entry_lines(&before));
}

#[test]
fn unreadable_files_and_directories_lose_nothing() {
    // D61
    let home = TestHome::new();
    let before = both(&home);
    let forbid = |path: &str, mode| fs::set_permissions(home.path(path), fs::Permissions::from_mode(mode)).unwrap();
    for (path, mode) in [(FIRST, 0o644), (".claude/projects/-app", 0o755), (".claude", 0o755)] {
        forbid(path, 0o000);
        // Root may read everything.
        home.sync();
        rebuild(&home);
        forbid(path, mode);
        home.sync();
        assert_same_dump(&home.dump(), &before);
    }
}

#[test]
fn missing_home_of_the_agent_loses_nothing() {
    // D61: an unmounted or moved home, and later the same files at another place.
    let home = TestHome::new();
    let before = both(&home);
    fs::rename(home.path(".claude"), home.path("elsewhere")).unwrap();
    home.sync();
    rebuild(&home);
    assert_same_dump(&home.dump(), &before);
    let moved = home.path("elsewhere/projects");
    let engine = home.engine_with(&[("sources.claude-code", moved.to_str().unwrap())]);
    engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    engine.maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(entry_lines(&home.dump()).len(), entry_lines(&before).len(), "nothing lost, nothing twice");
}

#[test]
fn settings_that_stop_reading_lose_nothing() {
    // D61
    let home = TestHome::new();
    let before = both(&home);
    for setting in [("intake.exclude", "/app"), ("intake.enabled", "false"), ("intake.agents", "pi")] {
        let engine = home.engine_with(&[setting]);
        engine.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
        engine.maintenance().rebuild(&mut |_| {}).unwrap();
        assert_same_dump(&home.dump(), &before);
    }
}

#[test]
fn unreadable_assembler_state_loses_nothing() {
    // D61: the state of another version; one file of the session is gone.
    let home = TestHome::new();
    let before = both(&home);
    fs::remove_file(home.path(FIRST)).unwrap();
    break_state(&home);
    rebuild(&home);
    assert_same_dump(&home.dump(), &before);
    fs::remove_file(home.path(SECOND)).unwrap();
    break_state(&home);
    rebuild(&home);
    assert_same_dump(&home.dump(), &before);
}

#[test]
fn interrupted_rebuild_loses_nothing() {
    // D61: killed after the entries were set aside; then the file is deleted, too.
    let home = TestHome::new();
    let before = both(&home);
    let mut store = home.store();
    let transcripts: Vec<_> =
        store.transcripts().unwrap().iter().map(|row| (row.number, RereadKind::Unchanged)).collect();
    let mut batch = store.begin().unwrap();
    batch.set_session_aside(SessionNumber::new(1), &transcripts).unwrap();
    batch.commit().unwrap();
    fs::remove_file(home.path(FIRST)).unwrap();
    fs::remove_file(home.path(SECOND)).unwrap();
    home.sync();
    rebuild(&home);
    assert_eq!(entry_lines(&home.dump()), entry_lines(&before));
}

#[test]
fn entries_that_return_to_a_file_count_again() {
    // D61: a sync may read a file while it is being rewritten.
    let home = TestHome::new();
    home.write(FIRST, second_part());
    home.sync();
    let before = home.dump();
    let shorter: String = second_part().split_inclusive('\n').take(1).collect();
    home.write(FIRST, &shorter);
    home.sync();
    home.write(FIRST, second_part());
    home.sync();
    assert_eq!(home.engine().sessions().resolve(SESSION).unwrap().session.counts.prompts, 2);
    assert_eq!(entry_lines(&home.dump()), entry_lines(&before));
}
