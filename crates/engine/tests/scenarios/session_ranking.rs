//! Search in coding work: the session that did the task comes first, and an entry with the exact words before it.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{FixRequest, HitWithExchange, SearchRequest, SessionScope};
use rethread_model::Timestamp;
use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::json;

use crate::session_helpers::engine;

const FILLER: [&str; 4] = ["menu colors", "invoice totals", "login form", "release notes"];

fn builder(session: usize) -> TranscriptBuilder {
    let start: Timestamp = "2026-05-01T00:00:00.000Z".parse().unwrap();
    let time = Timestamp::from_millis(start.as_millis() + session as i64 * 3_600_000);
    TranscriptBuilder::new(&session_id(session)).cwd("/p").ids(&format!("{session:08x}")).times(time, 1)
}

fn session_id(session: usize) -> String {
    format!("{session:08x}-0000-4000-8000-0000000000bb")
}

fn write(home: &TestHome, session: usize, transcript: TranscriptBuilder) {
    home.write(&format!(".claude/projects/-p/{}.jsonl", session_id(session)), transcript.build());
}

/// Sessions of an agent that works on other things.
fn with_other_work(home: &TestHome, sessions: std::ops::Range<usize>) {
    for session in sessions {
        let topic = FILLER[session % FILLER.len()];
        let talk = builder(session)
            .user(format!("please look at the {topic} again, part {session}"))
            .command(&format!("grep -rn '{topic}' src/part{session}"), "src/main.rs:3", false)
            .edit(&format!("src/part{session}/view.rs"))
            .assistant(&format!("I changed the {topic} in part {session}; all tests pass."));
        write(home, session, talk);
    }
}

fn search(home: &TestHome, text: &str, limit: usize) -> Vec<HitWithExchange> {
    let request =
        SearchRequest { text: text.to_owned(), scope: SessionScope::AllProjects, limit, ..SearchRequest::default() };
    // The same time for all searches, because age affects the score.
    engine(home, 200 * 24 * 60).search().run(&request).unwrap().hits
}

fn sessions(hits: &[HitWithExchange]) -> Vec<&str> {
    hits.iter().map(|one| one.hit.session.external_id.as_str()).collect()
}

fn work(home: &TestHome) {
    let task = builder(1)
        .user("uploads give up after the first failure")
        .command("cargo test upload", "test result: FAILED", true)
        .edit("src/upload/retry.rs")
        .edit("src/upload/backoff.rs")
        .assistant("Failed parts are sent again, with a growing delay.")
        .command("cargo test upload_retry", "test result: ok", false)
        .assistant("The limit is five attempts.");
    write(home, 1, task);
    let mention = builder(2)
        .user("write the release plan")
        .edit("docs/plan.md")
        .assistant("The plan lists upload retry with backoff and a limit, dark mode, exports, and other items.");
    write(home, 2, mention);
    with_other_work(home, 3..9);
}

#[test]
fn session_that_did_the_task_leads_one_that_mentions_it() {
    let home = TestHome::new();
    work(&home);
    home.sync();
    let hits = search(&home, "upload retry backoff limit after failure", 10);
    assert_eq!(sessions(&hits)[..2], [session_id(1), session_id(2)]);
    let why: Vec<&str> = hits[0].hit.why.iter().map(|part| part.feature).collect();
    assert!(why.contains(&"work"), "{why:?}");
}

#[test]
fn entry_with_the_exact_words_leads() {
    let home = TestHome::new();
    work(&home);
    let error = builder(20).user("why does the export stop").command(
        "make export",
        "error: upload limit after retry is zero",
        true,
    );
    write(&home, 20, error);
    home.sync();
    assert_eq!(sessions(&search(&home, "upload limit after retry is zero", 10))[0], session_id(20));
}

#[test]
fn sessions_are_scored_the_same_before_and_after_indexing() {
    let home = TestHome::new();
    work(&home);
    home.sync();
    let found = || -> Vec<(String, String)> {
        let hits = search(&home, "upload retry backoff limit", 20).into_iter();
        hits.map(|one| (one.hit.session.external_id.clone(), format!("{:.3}", one.hit.score))).collect()
    };
    let unindexed = found();
    home.engine().maintenance().rebuild_index().unwrap();
    assert_eq!(unindexed, found());
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!(unindexed, found());
}

#[test]
fn conversations_are_ranked_by_entries() {
    let home = TestHome::new();
    for session in 0..6 {
        let talk = builder(session)
            .user(format!("tell me about herons and pond {session}"))
            .assistant("A heron stands in the pond and waits.");
        write(&home, session, talk);
    }
    home.sync();
    let hits = search(&home, "heron in the pond", 10);
    assert!(!hits.is_empty());
    let parts = hits.iter().flat_map(|one| &one.hit.why);
    assert!(parts.into_iter().all(|part| part.feature != "work"));
}

#[test]
fn order_does_not_depend_on_the_limit() {
    let coding = TestHome::new();
    work(&coding);
    with_other_work(&coding, 30..120);
    let talking = TestHome::new();
    for session in 0..120 {
        let mut talk = builder(session);
        for at in 0..6 {
            talk = talk
                .user(format!("question {at} about birds in garden {}", session % 7))
                .assistant(&format!("Birds of garden {} like seeds, answer {at}.", session % 11));
        }
        write(&talking, session, talk);
    }
    for (home, query) in [(&coding, "look at the login form in part 40"), (&talking, "birds in garden 3")] {
        home.sync();
        let key = |one: &HitWithExchange| (one.hit.session.external_id.clone(), one.hit.entry.seq);
        let all: Vec<_> = search(home, query, 2_000).iter().map(key).collect();
        assert!(all.len() > 300, "{}", all.len());
        for limit in [1, 5, 10, 11, 37, 150, 301] {
            let some: Vec<_> = search(home, query, limit).iter().map(key).collect();
            assert_eq!(some, all[..limit], "{query:?} with limit {limit}");
        }
    }
}

/// A session long enough to be recognized as a copy of another one with the same beginning.
fn import_task(session: usize, end: &str) -> TranscriptBuilder {
    builder(session)
        .user("the import of large spreadsheets runs out of memory; find out why and read them row by row instead")
        .command("cargo test spreadsheet_import", "test result: FAILED", true)
        .edit("src/import/rows.rs")
        .assistant(end)
}

#[test]
fn copies_are_shown_once() {
    let home = TestHome::new();
    write(&home, 1, import_task(1, "Rows of spreadsheets are read one by one."));
    write(&home, 2, import_task(2, "Rows of spreadsheets are read one by one."));
    with_other_work(&home, 3..9);
    home.sync();
    let hits = search(&home, "import of large spreadsheets row by row", 10);
    let of_task = |one: &&HitWithExchange| !one.hit.also_in.is_empty();
    assert_eq!(hits.iter().filter(of_task).count(), 1);
    let (shown, copy) = (&hits[0].hit.session.external_id, &hits[0].hit.also_in[0].external_id);
    assert!(*shown != *copy && [session_id(1), session_id(2)].contains(copy), "{shown} {copy}");
    assert!(sessions(&hits).iter().all(|session| session != copy), "nothing of it is new");
}

/// An edit that adds a line to the file of the import.
fn with_added_line(talk: TranscriptBuilder, line: &str) -> TranscriptBuilder {
    let input = json!({"file_path": "src/import/rows.rs", "old_string": "", "new_string": line});
    let id = format!("toolu_{line}");
    talk.tool_call(&id, "Edit", &input).tool_result(&id, "ok", false)
}

#[test]
fn what_a_copy_did_afterwards_is_still_found() {
    let home = TestHome::new();
    let long = "Rows of spreadsheets are read one by one. ".repeat(3);
    for (session, line) in [(1, "zebra_counter"), (2, "zebra_mutex")] {
        let mut talk = import_task(session, &long);
        for part in 0..6 {
            talk = talk.assistant(&format!("The same answer, part {part}."));
        }
        write(&home, session, with_added_line(talk, line));
    }
    with_other_work(&home, 3..9);
    home.sync();
    for limit in [2, 20] {
        let hits = search(&home, "zebra", limit);
        let texts: Vec<&str> = hits.iter().map(|one| one.hit.snippet.text.as_str()).collect();
        assert!(texts.iter().any(|text| text.contains("zebra_counter")), "{texts:?}");
        assert!(texts.iter().any(|text| text.contains("zebra_mutex")), "{texts:?}");
        assert!(hits.iter().all(|one| one.hit.also_in.is_empty()), "both are listed");
    }
    let only = search(&home, "import of large spreadsheets row by row", 1);
    assert_eq!(only[0].hit.also_in.len(), 1, "the copy is behind the last hit");
}

#[test]
fn sessions_with_the_same_task_and_other_work_are_both_shown() {
    let home = TestHome::new();
    write(&home, 1, import_task(1, "Rows of spreadsheets are read one by one."));
    write(&home, 2, import_task(2, "The spreadsheets are too large; I split the import into parts."));
    with_other_work(&home, 3..9);
    home.sync();
    let hits = search(&home, "import of large spreadsheets row by row", 10);
    let mut first = sessions(&hits)[..2].to_vec();
    first.sort_unstable();
    assert_eq!(first, [session_id(1), session_id(2)]);
    assert!(hits[0].hit.also_in.is_empty());
}

#[test]
fn changed_code_and_its_symbols_are_found() {
    let home = TestHome::new();
    let input = json!({"file_path": "src/import/rows.rs", "old_string": "fn read_all() {\n    limit = 5;\n}",
        "new_string": "fn read_spreadsheet_rows() {\n    limit = 2048;\n}"});
    let task =
        builder(1).user("fix the import").tool_call("toolu_1", "Edit", &input).tool_result("toolu_1", "ok", false);
    write(&home, 1, task);
    with_other_work(&home, 3..9);
    home.sync();
    for query in ["read_spreadsheet_rows", "read_all", "limit 2048"] {
        assert_eq!(sessions(&search(&home, query, 5)).first(), Some(&session_id(1).as_str()), "{query}");
    }
}

#[test]
fn similar_work_has_the_same_files_and_words() {
    let home = TestHome::new();
    write(&home, 1, import_task(1, "Rows of spreadsheets are read one by one."));
    let later = builder(2)
        .user("spreadsheets with empty rows break the import: find out which rows, skip them and print a warning")
        .edit("src/import/rows.rs")
        .assistant("Empty rows are skipped now.");
    write(&home, 2, later);
    write(&home, 20, builder(20).user("fix the parser").assistant("It parses rows of spreadsheets again."));
    with_other_work(&home, 3..9);
    home.sync();
    let engine = engine(&home, 200 * 24 * 60);
    let hits = search(&home, "empty rows break", 1);
    let similar = engine.search().similar(hits[0].hit.session.id, 5).unwrap();
    let found: Vec<&str> = similar.iter().map(|one| one.session.external_id.as_str()).collect();
    assert_eq!(found, [session_id(1)]);
    let little = search(&home, "parser", 1)[0].hit.session.id;
    assert!(engine.search().similar(little, 5).unwrap().is_empty(), "its few words fit any session");
    assert_eq!(similar[0].shared_files, ["src/import/rows.rs"]);
    assert!(similar[0].share > 0.3 && similar[0].share < 1.0, "{}", similar[0].share);
}

#[test]
fn a_time_counts_in_coding_work() {
    let home = TestHome::new();
    for session in [24, 2_400] {
        let task = builder(session)
            .user(format!("change the import of spreadsheets, part {session}"))
            .edit("src/import/rows.rs")
            .assistant("The import of spreadsheets is changed.");
        write(&home, session, task);
    }
    let best = builder(1_200)
        .user("the import of spreadsheets: import, spreadsheets, import of spreadsheets")
        .edit("src/import/spreadsheets.rs")
        .assistant("Import of spreadsheets, spreadsheets and import.");
    write(&home, 1_200, best);
    with_other_work(&home, 3..9);
    home.sync();
    assert_eq!(sessions(&search(&home, "import of spreadsheets", 5))[0], session_id(1_200));
    assert_eq!(sessions(&search(&home, "import of spreadsheets on 2 May 2026", 5))[0], session_id(24));
}

#[test]
fn an_error_without_a_fix_leads_to_sessions_with_its_words() {
    let home = TestHome::new();
    let talk = builder(1)
        .user("what does `error: quota exceeded for bucket alpha-seven` mean?")
        .assistant("The bucket is full. Ask the storage team for a larger quota.");
    write(&home, 1, talk);
    with_other_work(&home, 3..9);
    home.sync();
    let engine = engine(&home, 200 * 24 * 60);
    let related = |text: &str| -> Vec<String> {
        let request = FixRequest { text: text.to_owned(), scope: SessionScope::AllProjects };
        assert!(engine.facts().fix(&request).unwrap().is_empty());
        let hits = engine.facts().sessions_with_error(&request).unwrap();
        hits.into_iter().map(|hit| hit.session.external_id).collect()
    };
    assert_eq!(related("running upload\nerror: quota exceeded for bucket alpha-seven"), [session_id(1)]);
    assert!(related("error: quota of another kind was not found").is_empty(), "half of the words fit many errors");
}
