//! Session counts over hand-written transcripts with every edge case of the formats.

use rethread_engine::{ListedSession, LogProfile, ShowRequest};
use rethread_model::{EntryKind, EntryRole, SessionKind, ToolStatus};
use rethread_testing::{
    BRANCHES, CLAUDE_FILE, CLAUDE_SESSION, CONVERSATION, PI_FILE, PI_VERSION_1, SUB_AGENT, TestHome,
};

#[expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]
fn only(home: &TestHome, reference: &str) -> ListedSession {
    home.engine().sessions().resolve(reference).unwrap()
}

#[test]
fn claude_code_session_has_name_place_and_model() {
    // S000-06, S003-11, L000-06: both kinds of blocks, full text, distinct paths instead of edit calls.
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let session = only(&home, CLAUDE_SESSION).session;
    assert_eq!(session.name.as_deref(), Some("Fix the lost last token"));
    assert_eq!(session.cwd.as_deref(), Some("/home/dev/parser"));
    assert_eq!(session.branch.as_deref(), Some("main"));
    assert_eq!(session.model.as_deref(), Some("claude-test-1"));
    assert!(session.kept_tokens < session.raw_tokens);
}

#[test]
fn pi_counts_the_active_branch_and_tokens_of_all_branches() {
    // S001-05
    // S000-07: roles inside `message`, blocks text and toolCall.
    let home = TestHome::new();
    home.write(PI_FILE, BRANCHES);
    home.sync();
    let session = only(&home, "0198a000-0000-7000-8000-000000000001").session;
    assert!((session.cost_usd.unwrap() - 0.08).abs() < 1e-9);
    let show = |profile| {
        home.engine()
            .sessions()
            .show("Sticky header", ShowRequest { profile, ..ShowRequest::default() })
            .unwrap()
            .entries
    };
    assert!(show(LogProfile::Structure).iter().all(|entry| !entry.text.contains("fixed one")));
    let left: Vec<String> =
        show(LogProfile::Full).into_iter().filter(|entry| entry.is_abandoned).map(|entry| entry.text).collect();
    assert_eq!(left, ["No, use a fixed one", "Executed npm test", "That failed."], "kept and marked");
}

#[test]
fn pi_version_1_without_ids_is_synced() {
    let home = TestHome::new();
    home.write(".pi/agent/old.jsonl", PI_VERSION_1);
    home.sync();
    let session = only(&home, "old pi").session;
    assert_eq!((session.counts.prompts, session.counts.messages, session.counts.tool_calls), (1, 2, 1));
}

#[test]
fn results_are_joined_to_their_calls_across_lines() {
    // L003-08
    // S003-12, S003-16: structure and outcome of every call.
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let shown = home.engine().sessions().show(CLAUDE_SESSION, ShowRequest::default()).unwrap();
    let outcome = |target: &str| {
        let entry = shown.entries.iter().find(|entry| entry.text.contains(target)).unwrap();
        entry.tool.as_ref().unwrap().outcome.clone().unwrap()
    };
    let failed = outcome("cargo test lexer");
    assert_eq!((failed.status, failed.exit_code), (ToolStatus::Error, Some(101)));
    assert_eq!(failed.error.as_deref(), Some("error[E0308]: mismatched types"), "no stack trace");
    assert_eq!(failed.lines, 5);
    assert_eq!(outcome("scanner.rs").status, ToolStatus::Rejected);
    assert_eq!(outcome("git commit").status, ToolStatus::Ok);
}

#[test]
fn thinking_results_and_machine_texts_are_not_entries() {
    // S000-08
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let dump = home.dump();
    for hidden in ["Perhaps the loop ends early", "fn next() {", "be careful", "core::panicking", "pub struct Scanner"]
    {
        assert!(!dump.contains(hidden), "{hidden}");
    }
    let shown = home.engine().sessions().show(CLAUDE_SESSION, ShowRequest::default()).unwrap();
    let answers: Vec<&str> =
        shown.entries.iter().filter(|entry| entry.kind == EntryKind::Answer).map(|entry| entry.text.as_str()).collect();
    assert_eq!(answers, ["Which name? → Scanner", "rename the file in place"]);
    let summaries = shown.entries.iter().filter(|entry| entry.kind.role() == EntryRole::Summary).count();
    assert_eq!(summaries, 1, "a compaction summary stays a summary");
}

#[test]
fn text_profile_contains_only_prompts_and_answers() {
    // S001-06, S001-07
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let request = ShowRequest { profile: LogProfile::Text, ..ShowRequest::default() };
    let entries = home.engine().sessions().show(CLAUDE_SESSION, request).unwrap().entries;
    assert!(entries.iter().all(|entry| matches!(entry.kind.role(), EntryRole::User | EntryRole::Assistant)));
    assert_eq!(entries.len(), 12, "5 prompts, 2 answers, 5 texts of the model");
}

#[test]
fn episode_has_a_name_and_four_kinds_of_lines() {
    // S003-19
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let (_, episodes) = home.engine().sessions().episodes(CLAUDE_SESSION).unwrap();
    assert_eq!(episodes[0].name, format!("session-{CLAUDE_SESSION}-1"));
    assert_eq!(
        episodes[0].text,
        "User: The lexer loses the last token of a file. Please find out why.\n\
         Agent: I'll look at the lexer.\n\
         Action: Read(/home/dev/parser/src/lexer.rs) → ok (4 lines, 71 B)\n\
         Agent: The loop stops before the end of input.\n\
         Action: Bash(cargo test lexer, description=Run the tests) → error (5 lines, 107 B)\n\
         Error: error[E0308]: mismatched types\n\
         Action: Grep(fn next, path=src) → ok (1 line, 25 B)\n\
         Action: Edit(/home/dev/parser/src/lexer.rs, old_string=<7 bytes>, new_string=<14 bytes>) → ok (1 line, 26 B)"
    );
    let names: Vec<&str> = episodes.iter().map(|one| one.name.rsplit('-').next().unwrap()).collect();
    assert_eq!(names, ["1", "2", "3", "4", "6"], "numbers do not change when an exchange is withdrawn");
}

#[test]
fn sub_agents_are_children_in_every_layout() {
    for file in [
        ".claude/projects/-home-dev-parser/agent-a1b2c3d4.jsonl".to_owned(),
        format!(".claude/projects/-home-dev-parser/{CLAUDE_SESSION}/subagents/agent-a1b2c3d4.jsonl"),
    ] {
        let home = TestHome::new();
        home.write(CLAUDE_FILE, CONVERSATION);
        home.write(&file, SUB_AGENT);
        home.sync();
        let (parent, child) = (only(&home, CLAUDE_SESSION).session, only(&home, "agent-a1b2c3d4").session);
        assert_eq!((child.kind, child.parent), (SessionKind::Child, Some(parent.id)));
        assert_eq!((child.counts.prompts, child.counts.messages, child.counts.tool_calls), (0, 2, 1));
        assert_eq!(parent.counts.tool_calls, 7, "a child's calls are not its parent's");
    }
    let home = TestHome::new();
    let inline = SUB_AGENT.replace("\"agentId\":\"a1b2c3d4\",", "").replace(",\"agentId\":\"a1b2c3d4\"", "");
    home.write(CLAUDE_FILE, format!("{CONVERSATION}{inline}"));
    home.sync();
    assert_eq!(only(&home, CLAUDE_SESSION).session.counts.prompts, 5);
    let listed = home.dump();
    assert_eq!(listed.matches("kind: Child").count(), 1);
}

#[test]
fn copied_entries_count_only_in_their_original_session() {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    let copy = "5e551011-0000-4000-8000-0000000000ff";
    let own = r#"{"type":"user","uuid":"ffffffff-1111-4222-8333-000000000001","sessionId":"5e551011-0000-4000-8000-0000000000ff","cwd":"/home/dev/parser","timestamp":"2026-03-03T00:00:00.000Z","message":{"role":"user","content":"go on here"}}"#;
    let path = format!(".claude/projects/-home-dev-parser/{copy}.jsonl");
    // A copy contains the chain of messages but not the lines without a uuid.
    let chain: String = CONVERSATION.split_inclusive('\n').filter(|line| line.contains("\"uuid\"")).collect();
    home.write(&path, format!("{}{own}\n", chain.replace(CLAUDE_SESSION, copy)));
    home.sync();
    let (first, second) = (only(&home, CLAUDE_SESSION).session, only(&home, copy).session);
    assert_eq!((first.counts.prompts, first.tokens.output), (5, 173));
    assert_eq!((second.counts.prompts, second.counts.messages, second.tokens.output), (1, 1, 0));
}

#[test]
fn pi_fork_counts_only_its_new_entries() {
    let home = TestHome::new();
    home.write(PI_FILE, BRANCHES);
    let header = r#"{"type":"session","version":3,"id":"0198a000-0000-7000-8000-0000000000f0","timestamp":"2026-04-02T10:00:00.000Z","cwd":"/home/dev/site","parentSession":"/x/2026-04-01T10-00-00-000Z_0198a000.jsonl"}"#;
    let copied: Vec<&str> = BRANCHES.lines().skip(1).take(5).collect();
    let own = r#"{"type":"message","id":"0000f001","parentId":"00000005","timestamp":"2026-04-02T10:00:01.000Z","message":{"role":"user","content":"and a footer"}}"#;
    home.write(".pi/agent/sessions/--home-dev-site--/fork.jsonl", format!("{header}\n{}\n{own}\n", copied.join("\n")));
    home.sync();
    let fork = only(&home, "0198a000-0000-7000-8000-0000000000f0").session;
    assert_eq!((fork.counts.prompts, fork.counts.messages, fork.tokens.output), (1, 1, 0));
}

#[test]
fn warm_ups_and_lone_exits_are_empty_sessions() {
    let line = |text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{text:.8}\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    for (text, empty) in [("Warmup", true), ("<command-name>/exit</command-name>", true), ("hello", false)] {
        let home = TestHome::new();
        home.write(CLAUDE_FILE, line(text));
        home.sync();
        assert_eq!(only(&home, CLAUDE_SESSION).session.is_empty, empty, "{text}");
    }
}
