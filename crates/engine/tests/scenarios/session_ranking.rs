//! Search in coding work: the session that did the task comes first, and an entry with the exact words before it.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{HitWithExchange, SearchRequest, SessionScope};
use rethread_model::Timestamp;
use rethread_testing::{TestHome, TranscriptBuilder};

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
