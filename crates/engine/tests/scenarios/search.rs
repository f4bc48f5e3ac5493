//! Search: every synced entry is found, whether it is indexed or not, for any query.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::io::Write as _;

use proptest::prelude::*;
use rethread_engine::{
    HitKind, IndexOutcome, IndexProblem, SearchReport, SearchRequest, SessionScope, TimelineRequest,
};

use crate::session_helpers::engine;
use rethread_model::Timestamp;
use rethread_testing::{
    BRANCHES, CLAUDE_FILE, CONVERSATION, PI_FILE, TestHome, TranscriptBuilder, files_below, skips_server_store,
};

/// One line; the id also sets its time.
fn line(id: usize, kind: &str, text: &str) -> String {
    let start: Timestamp = "2026-05-01T00:00:00.000Z".parse().unwrap();
    let time = Timestamp::from_millis(start.as_millis() + id as i64 * 1000);
    let session = format!("{:08x}-0000-4000-8000-0000000000aa", id / 1000);
    let builder = TranscriptBuilder::new(&session).cwd("/p").ids(&format!("{id:08x}")).times(time, 0);
    if kind == "user" { builder.user(text).build() } else { builder.assistant(text).build() }
}

fn file(session: usize) -> String {
    format!(".claude/projects/-p/{session:08x}-0000-4000-8000-0000000000aa.jsonl")
}

fn find(home: &TestHome, text: &str) -> SearchReport {
    let request = SearchRequest {
        text: text.to_owned(),
        scope: SessionScope::AllProjects,
        limit: 20,
        ..SearchRequest::default()
    };
    // The same time for all searches, because age affects the score.
    engine(home, 200 * 24 * 60).search().run(&request).unwrap()
}

fn snippets(home: &TestHome, text: &str) -> Vec<String> {
    find(home, text).hits.into_iter().map(|one| one.hit.snippet.text).collect()
}

/// Enough entries that a sync commits the index.
fn with_many_entries(home: &TestHome) {
    for session in 0..8 {
        let lines: String = (0..50)
            .map(|at| {
                let id = session * 1000 + at;
                let kind = if at % 2 == 0 { "user" } else { "assistant" };
                line(id, kind, &format!("entry {at} of session {session} about topic{}", (at / 2) % 7))
            })
            .collect();
        home.write(&file(session), lines);
    }
}

#[test]
fn fresh_entries_are_found_without_an_index_commit() {
    let home = TestHome::new();
    with_many_entries(&home);
    assert!(matches!(
        home.sync().index.outcome,
        IndexOutcome::Updated { count: 200, rebuild_reason: Some(IndexProblem::Missing) }
    ));
    home.append(&file(3), line(99_001, "user", "the zebrafish deadlock"));
    assert_eq!(home.sync().index.outcome, IndexOutcome::UpToDate, "too little for a commit");
    assert_eq!(snippets(&home, "zebrafish"), ["the zebrafish deadlock"]);
    home.append(&file(3), line(99_002, "assistant", "it was the lock order of zebrafish"));
    home.sync();
    assert_eq!(snippets(&home, "zebrafish").len(), 2, "the open exchange is found as it grows, and only once");
    assert_eq!(find(&home, "topic3").index, IndexOutcome::UpToDate);
}

#[test]
fn results_are_equal_before_indexing_after_indexing_and_after_rebuild() {
    let home = TestHome::new();
    with_many_entries(&home);
    home.write(CLAUDE_FILE, CONVERSATION);
    home.write(PI_FILE, BRANCHES);
    let hits = |text: &str| -> Vec<(String, String)> {
        let line_of = |one: rethread_engine::HitWithExchange| {
            let citation = format!("{}:{}", one.hit.session.id, one.hit.entry.location.line);
            (citation, format!("{:.3} {}", one.hit.score, one.hit.snippet.text))
        };
        find(&home, text).hits.into_iter().map(line_of).collect()
    };
    let queries = ["topic3 of session 5", "entry 7", "parser", "fix the test", "file:src", "kind:error"];
    home.sync();
    let indexed: Vec<_> = queries.iter().map(|query| hits(query)).collect();
    assert!(indexed[0].len() >= 10 && !indexed[2].is_empty());
    home.engine().maintenance().rebuild_index().unwrap();
    let rebuilt_index: Vec<_> = queries.iter().map(|query| hits(query)).collect();
    home.engine().maintenance().rebuild(&mut |_| {}).unwrap();
    let rebuilt: Vec<_> = queries.iter().map(|query| hits(query)).collect();
    for ((first, second), third) in indexed.iter().zip(&rebuilt_index).zip(&rebuilt) {
        assert_eq!(first, second);
        assert_eq!(first, third);
    }
    assert_eq!(home.engine().maintenance().verify().unwrap().damage, vec![]);
}

#[test]
fn long_sync_is_indexed_while_it_runs() {
    let home = TestHome::new();
    let body = "word ".repeat(20_000);
    for session in 0..3 {
        let mut lines = String::new();
        for at in 0..200 {
            let id = session * 1000 + at * 2;
            lines.push_str(&line(id, "user", &format!("prompt {at} of session {session} about heron{at}")));
            // Tool output is measured but not stored, so that this takes long to read and little to index.
            let result = format!(
                "{{\"type\":\"user\",\"uuid\":\"{:08x}-0000-4000-8000-000000000000\",\"message\":{{\"role\":\"user\",\
                 \"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{id}\",\"content\":\"{body}\"}}]}}}}\n",
                id + 1
            );
            lines.push_str(&result);
        }
        home.write(&file(session), lines);
    }
    let report = home.sync();
    assert!(
        matches!(
            report.index.outcome,
            IndexOutcome::Updated { count: 600, rebuild_reason: Some(IndexProblem::Missing) }
        ),
        "{report:?}"
    );
    assert_eq!(snippets(&home, "heron123").len(), 3);
    assert_eq!(find(&home, "heron123").index, IndexOutcome::UpToDate);
    assert_eq!(home.engine().maintenance().verify().unwrap().damage, vec![]);
}

#[test]
fn replaced_entries_are_still_found() {
    // D61: an agent that rewrites a transcript takes nothing away from what was read before.
    let home = TestHome::new();
    with_many_entries(&home);
    home.write(&file(50), line(50_000, "user", "the old walrus plan"));
    home.sync();
    assert_eq!(snippets(&home, "walrus").len(), 1);
    home.write(&file(50), line(50_001, "user", "the new pelican plan and more of it"));
    home.sync();
    assert_eq!(snippets(&home, "walrus").len(), 1);
    assert_eq!(snippets(&home, "pelican").len(), 1);
    home.engine().maintenance().rebuild_index().unwrap();
    assert_eq!(snippets(&home, "walrus").len(), 1);
}

#[test]
fn unusable_index_is_rebuilt_and_reported() {
    let home = TestHome::new();
    with_many_entries(&home);
    home.sync();
    let expected = snippets(&home, "topic3 of session 5");
    let index = home.path(".rethread/index");
    let rebuilt_index = |report: &SearchReport| match report.index {
        IndexOutcome::Updated { rebuild_reason, .. } => rebuild_reason,
        _ => None,
    };
    let check = |why: IndexProblem| {
        let report = find(&home, "topic3 of session 5");
        assert_eq!(rebuilt_index(&report), Some(why));
        let found: Vec<_> = report.hits.iter().map(|one| one.hit.snippet.text.clone()).collect();
        assert_eq!(found, expected);
        assert_eq!(find(&home, "topic3").index, IndexOutcome::UpToDate, "the next search uses the rebuilt index");
    };
    fs::remove_dir_all(&index).unwrap();
    check(IndexProblem::Missing);
    for path in files_below(&index) {
        fs::write(path, b"junk").unwrap();
    }
    check(IndexProblem::Damaged);
    // Each file alone: whatever is damaged, the results are correct.
    for path in files_below(&index) {
        if !path.exists() {
            continue;
        }
        fs::write(&path, b"").unwrap();
        let found: Vec<_> = find(&home, "topic3 of session 5").hits;
        let found: Vec<_> = found.into_iter().map(|one| one.hit.snippet.text).collect();
        assert_eq!(found, expected, "without {}", path.display());
    }
    let meta = index.join("meta.json");
    let text = fs::read_to_string(&meta).unwrap();
    fs::write(&meta, text.replace(r#"{\"version\":"#, r#"{\"version\":999"#)).unwrap();
    check(IndexProblem::OtherVersion);
    if skips_server_store("deletes the file of the store") {
        return;
    }
    fs::remove_file(home.path(".rethread/memory.db")).unwrap();
    for side in ["-wal", "-shm"] {
        let _ = fs::remove_file(home.path(&format!(".rethread/memory.db{side}")));
    }
    home.sync();
    assert_eq!(find(&home, "topic3 of session 5").hits.len(), expected.len());
}

#[test]
fn an_open_index_that_gets_damaged_is_opened_again() {
    let home = TestHome::new();
    with_many_entries(&home);
    home.sync();
    let (text, scope) = ("topic3 of session 5".to_owned(), SessionScope::AllProjects);
    let (engine, request) = (home.engine(), SearchRequest { text, scope, limit: 20, ..SearchRequest::default() });
    let first = || engine.search().run(&request).unwrap().hits.swap_remove(0).hit.snippet.text;
    let expected = first();
    for path in files_below(&home.path(".rethread/index")) {
        // As long as before: a process that has mapped a file must not find it shorter.
        let junk = vec![0xa5; fs::read(&path).unwrap().len()];
        fs::OpenOptions::new().write(true).open(&path).unwrap().write_all(&junk).unwrap();
    }
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    assert_eq!([first(), first()], [expected.clone(), expected]);
}

#[test]
fn search_works_without_a_writable_index() {
    let home = TestHome::new();
    with_many_entries(&home);
    home.sync();
    fs::remove_dir_all(home.path(".rethread/index")).unwrap();
    // A directory in place of the lock file: not even root can open it for writing.
    fs::remove_file(home.path(".rethread/index.lock")).unwrap();
    fs::create_dir(home.path(".rethread/index.lock")).unwrap();
    let report = find(&home, "topic3 of session 5");
    assert!(report.degraded.is_some_and(|text| text.contains("read from the store")));
    assert!(!report.hits.is_empty());
}

#[test]
fn filters_narrow_by_kind_session_time_file_and_tool() {
    // E002-21
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    with_many_entries(&home);
    home.sync();
    let count = |request: &SearchRequest| home.engine().search().run(request).unwrap().hits.len();
    let all = SearchRequest { text: "entry".into(), limit: 1000, ..SearchRequest::default() };
    assert_eq!(count(&all), 400);
    assert_eq!(count(&SearchRequest { kinds: vec![HitKind::Prompt], ..all.clone() }), 200);
    assert_eq!(count(&SearchRequest { text: "entry kind:answer".into(), ..all.clone() }), 200);
    let session = "00000003-0000-4000-8000-0000000000aa".to_owned();
    assert_eq!(count(&SearchRequest { session: Some(session), ..all.clone() }), 50);
    assert_eq!(count(&SearchRequest { since: Some("2026-05-02".into()), ..all.clone() }), 0);
    assert_eq!(count(&SearchRequest { until: Some("2026-05-01".into()), ..all.clone() }), 400);
    assert_eq!(count(&SearchRequest { text: "entry before:2026-05-01T00:00:50".into(), ..all.clone() }), 50);
    assert_eq!(count(&SearchRequest { text: "entry -topic3".into(), ..all.clone() }), 400 - 8 * 8);
    assert_eq!(count(&SearchRequest { text: "\"entry 7 of session 2\"".into(), ..all.clone() }), 1);
    assert_eq!(count(&SearchRequest { text: "agent:pi entry".into(), ..all.clone() }), 0);
    assert!(count(&SearchRequest { text: "kind:tool".into(), ..all.clone() }) > 0);
    assert!(home.engine().search().run(&SearchRequest { since: Some("someday".into()), ..all.clone() }).is_err());
    let timeline =
        home.engine().sessions().timeline(&TimelineRequest { limit: 5, ..TimelineRequest::default() }).unwrap();
    assert_eq!(timeline.episodes.len(), 5);
    assert!(timeline.episodes.windows(2).all(|pair| pair[0].episode.started_at <= pair[1].episode.started_at));
}

#[test]
fn short_common_and_missing_words_still_find_something() {
    // L002-16
    let home = TestHome::new();
    with_many_entries(&home);
    home.write(&file(60), line(60_000, "user", "go CI is of no use => 数据库 死锁"));
    home.sync();
    for query in ["go", "CI", "no such words but CI", "is of no", "=>", "死锁", "库", "ci -windows"] {
        assert!(!snippets(&home, query).is_empty(), "{query:?}");
    }
    assert!(find(&home, "is of no").degraded.is_some(), "ignored words are reported");
    let report = find(&home, "\"use of CI\"");
    assert!(!report.hits.is_empty() && report.degraded.is_some(), "a phrase without a match falls back to its words");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_query_is_an_error_and_every_hit_is_cited_and_explained(
        queries in proptest::collection::vec("[ -~]{0,60}|\\PC{0,30}|[a-z:\"' -]{0,80}", 8)
    ) {
        let home = TestHome::new();
        with_many_entries(&home);
        home.write(CLAUDE_FILE, CONVERSATION);
        home.sync();
        let engine = home.engine();
        for text in queries.iter().map(String::as_str).chain(["entry parser", "what about topic3 yesterday?"]) {
            let request = SearchRequest { text: text.to_owned(), limit: 20, ..SearchRequest::default() };
            for one in engine.search().run(&request).unwrap().hits {
                let citation = format!("{}:{}", one.hit.session.id, one.hit.entry.location.line);
                let shown = engine.sessions().show(&citation, rethread_engine::ShowRequest::default()).unwrap();
                let cited = one.hit.entry.location.line;
                prop_assert!(shown.entries.iter().any(|entry| entry.location.line == cited), "{citation} of {text:?}");
                prop_assert!(!one.hit.why.is_empty(), "{citation} of {text:?} is not explained");
            }
        }
    }
}

#[test]
fn the_first_results_do_not_depend_on_the_limit() {
    // D42
    let home = TestHome::new();
    for session in 0..100 {
        let lines: String = (0..6)
            .map(|at| {
                line(session * 1000 + at, "user", &format!("parser {} {session} {at}", "pad ".repeat(session % 9)))
            })
            .collect();
        home.write(&file(session), lines);
    }
    home.sync();
    let ids = |limit: usize| -> Vec<String> {
        let request = SearchRequest {
            text: "parser".to_owned(),
            scope: SessionScope::AllProjects,
            limit,
            ..SearchRequest::default()
        };
        let report = engine(&home, 200 * 24 * 60).search().run(&request).unwrap();
        report.hits.iter().map(|one| one.hit.session.citation(one.hit.entry.location.line)).collect()
    };
    let all = ids(600);
    assert_eq!(all.len(), 600, "every match can be listed");
    assert_eq!(all.iter().collect::<std::collections::HashSet<_>>().len(), 600, "none is listed twice");
    for limit in [1, 10, 50, 300, 450] {
        assert_eq!(ids(limit)[..limit.min(300)], all[..limit.min(300)], "limit {limit}");
    }
}

#[test]
fn common_words_match_in_any_order() {
    // D42
    let home = TestHome::new();
    home.write(&file(0), line(1, "user", "what is it that this does") + &line(2, "user", "nothing, isotope"));
    home.sync();
    assert_eq!(snippets(&home, "this is what").len(), 1);
    assert_eq!(snippets(&home, "is it").len(), 1);
    assert_eq!(snippets(&home, "is is not").len(), 0, "a word that is missing is not ignored");
}

#[test]
fn what_grew_since_the_last_sync_is_read_before_a_search() {
    // D43, E003-19
    let home = TestHome::new();
    home.write(&file(0), line(1, "user", "the first words"));
    let sync_if_small = || {
        let engine = engine(&home, 0);
        let unsynced = engine.sync().unsynced().unwrap();
        (unsynced.transcripts, engine.sync().run_if_small(unsynced).unwrap())
    };
    if !skips_server_store("there always is a store on a server") {
        assert_eq!(sync_if_small(), (0, false));
        assert!(!engine(&home, 0).has_store(), "before the first sync the user decides");
    }
    home.sync();
    home.write(&file(1), line(1001, "user", "a zeppelin appears"));
    assert_eq!(find(&home, "zeppelin").hits.len(), 0);
    assert_eq!(sync_if_small(), (1, true));
    assert_eq!(find(&home, "zeppelin").hits.len(), 1);
    home.write(&file(2), line(2001, "user", &"a large transcript ".repeat(300_000)));
    assert_eq!(sync_if_small(), (1, false), "too much to read at once");
}

#[test]
fn related_words_count_in_questions_about_conversations() {
    let home = TestHome::new();
    let talk = |at: usize, hobby: &str, reply: &str| {
        line(at, "user", &format!("Anna told me about her {hobby}")) + &line(at + 1, "assistant", reply)
    };
    home.write(&file(0), talk(1, "evenings", "She practices the violin for an hour, then she sleeps"));
    home.write(&file(1), talk(1_001, "mornings", "She repairs the tractor in the barn, then she eats"));
    home.sync();
    let report = find(&home, "Which musical instrument did Anna tell me about?");
    let place = |word: &str| report.hits.iter().position(|one| one.hit.snippet.text.contains(word));
    assert!(place("violin").is_some() && place("violin") < place("tractor"), "{:?}", snippets(&home, "Anna"));
    let uses_vectors =
        |report: &SearchReport| report.hits.iter().any(|one| one.hit.why.iter().any(|part| part.feature == "related"));
    assert!(uses_vectors(&report));
    assert!(!uses_vectors(&find(&home, "violin hour")), "a word or two is searched literally");
}
