//! Times in queries: limits leave out what is outside, and events are looked up in the memory.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{Clock, Engine, Environment, SearchReport, SearchRequest, SessionScope};
use rethread_model::Timestamp;
use rethread_testing::{TestHome, TranscriptBuilder};

/// A Wednesday.
const NOW: &str = "2026-03-18T15:30:00Z";

fn builder(session: &str, start: &str) -> TranscriptBuilder {
    let start: Timestamp = start.parse().unwrap();
    TranscriptBuilder::new(session).cwd("/p").ids(session).times(start, 60)
}

fn write(home: &TestHome, session: &str, transcript: TranscriptBuilder) {
    home.write(&format!(".claude/projects/-p/{session}.jsonl"), transcript.build());
}

/// A session about the cache; the more often it is named, the better it matches.
fn cache_work(home: &TestHome, session: &str, start: &str, times: usize) {
    let talk = builder(session, start)
        .user(format!("look at the cache in {session} {}", "cache eviction ".repeat(times)))
        .command("grep -rn cache src", "src/cache.rs:3", false)
        .edit("src/cache.rs")
        .assistant(&format!("The cache is smaller now. {}", "Cache eviction works. ".repeat(times)));
    write(home, session, talk);
}

fn find(home: &TestHome, text: &str) -> SearchReport {
    find_at_most(home, text, 20)
}

fn find_at_most(home: &TestHome, text: &str, limit: usize) -> SearchReport {
    let request =
        SearchRequest { text: text.to_owned(), scope: SessionScope::AllProjects, limit, ..SearchRequest::default() };
    home.engine_at(NOW.parse().unwrap()).search().run(&request).unwrap()
}

/// The sessions that are found, in order, each once.
fn sessions(report: &SearchReport) -> Vec<&str> {
    let mut found: Vec<&str> = Vec::new();
    for one in &report.hits {
        let session = one.hit.session.external_id.as_str();
        if !found.contains(&session) {
            found.push(session);
        }
    }
    found
}

/// Work on the cache on five days, and a release in between.
fn with_cache_sessions() -> TestHome {
    let home = TestHome::new();
    cache_work(&home, "january", "2026-01-21T10:00:00Z", 1);
    cache_work(&home, "february", "2026-02-10T10:00:00Z", 8);
    cache_work(&home, "week-before", "2026-03-02T10:00:00Z", 1);
    cache_work(&home, "tuesday", "2026-03-17T10:00:00Z", 1);
    cache_work(&home, "future", "2026-05-01T10:00:00Z", 8);
    let release = builder("release", "2026-03-04T14:00:00Z")
        .user("publish the new version")
        .command("cargo publish --dry-run", "ok", false)
        .command("git tag v1.4.0 && git push --tags", "new tag", false)
        .assistant("Version 1.4.0 is out.");
    write(&home, "release", release);
    let later = builder("later", "2026-03-10T09:00:00Z")
        .user("write the release notes")
        .command("cat docs/release.md", "# Release", false)
        .command("cargo publish", "error: already uploaded", true)
        .assistant("The release notes list all changes.");
    write(&home, "later", later);
    home.sync();
    home
}

#[test]
fn since_a_day_leaves_out_what_is_older() {
    let home = with_cache_sessions();
    let found = find(&home, "cache eviction since Monday");
    assert_eq!((sessions(&found), &found.degraded), (vec!["tuesday"], &None));
    assert_eq!(sessions(&find(&home, "since Monday")), ["tuesday"], "without other words, everything since then");
    assert_eq!(sessions(&find(&home, "cache before February 2026")), ["january"]);
    assert_eq!(sessions(&find(&home, "cache between 1 March and 5 March")), ["week-before"]);
}

#[test]
fn weekday_of_another_month_is_a_day() {
    let home = with_cache_sessions();
    assert_eq!(sessions(&find(&home, "Wednesday two months ago")), ["january"]);
    assert_eq!(sessions(&find(&home, "what did we do on Wednesday two months ago?")), ["january"]);
}

#[test]
fn events_are_looked_up() {
    let home = with_cache_sessions();
    let found = find(&home, "cache eviction the week before the release");
    assert_eq!(sessions(&found), ["week-before"]);
    let notice = found.notice.unwrap();
    assert!(notice.starts_with("\"the release\" read as 2026-03-04 (session "), "{notice}");
    let week = find(&home, "what did we do the week before the release?");
    assert_eq!(sessions(&week), ["release", "week-before"], "newest first, up to the release");
    assert_eq!(sessions(&find(&home, "cache since the release")), ["tuesday"]);
    let unknown = find(&home, "cache since we switched to pnpm");
    assert_eq!((sessions(&unknown).len() > 2, unknown.notice), (true, None), "an unknown event is plain words");
}

#[test]
fn limits_without_a_match_are_dropped_and_reported() {
    let home = with_cache_sessions();
    let found = find(&home, "docs/release.md since Monday");
    assert_eq!(sessions(&found)[0], "later");
    assert_eq!(found.degraded.as_deref(), Some("nothing found since 2026-03-16; showing other times"));
}

#[test]
fn what_is_later_than_now_does_not_answer_about_a_time() {
    let home = with_cache_sessions();
    assert!(!sessions(&find(&home, "cache eviction this year")).contains(&"future"));
    assert!(sessions(&find(&home, "cache eviction")).contains(&"future"), "without a time, everything is searched");
}

#[test]
fn limits_do_not_depend_on_the_number_of_results() {
    let home = TestHome::new();
    // The best match is a conversation; the others are coding work.
    let talk = builder("talk", "2026-01-05T10:00:00Z")
        .user("what is quokka caching, quokka quokka")
        .assistant("Quokka caching is about quokka storage.");
    write(&home, "talk", talk);
    for day in 10..16 {
        cache_work_on_quokkas(&home, &format!("work-{day}"), &format!("2026-01-{day}T10:00:00Z"));
    }
    for day in 1..4 {
        let late = builder(&format!("late-{day}"), &format!("2026-03-0{day}T10:00:00Z"))
            .user("what is quokka caching, quokka caching, quokka quokka")
            .assistant("Quokka caching is quokka caching.")
            .command("echo quokka caching", "quokka caching", false);
        write(&home, &format!("late-{day}"), late);
    }
    home.sync();
    for limit in [1, 2, 3, 5, 10, 20] {
        let found = find_at_most(&home, "quokka caching before 1 February 2026", limit);
        assert!(!found.hits.is_empty());
        assert!(!sessions(&found).iter().any(|session| session.starts_with("late")), "limit {limit}");
    }
}

fn cache_work_on_quokkas(home: &TestHome, session: &str, start: &str) {
    let work = builder(session, start)
        .user(format!("improve the loader and mention quokka caching in {session}"))
        .command("grep -rn quokka src", "src/a.rs:3", false)
        .edit("src/quokka.rs")
        .assistant("Added the quokka comment.");
    write(home, session, work);
}

#[test]
fn commands_that_did_not_succeed_are_not_events() {
    let refused = "The user doesn't want to proceed with this tool use. The tool use was rejected.";
    for (name, output, is_error) in [
        ("npm publish", "Exit code 1\nnpm ERR! 403", true),
        ("npm publish", refused, true),
        ("npm publish; true", "npm ERR! code E403\nnpm ERR! 403 Forbidden", false),
    ] {
        let home = TestHome::new();
        cache_work(&home, "tuesday", "2026-03-17T10:00:00Z", 1);
        write(&home, "try", builder("try", "2026-03-04T14:00:00Z").user("go").command(name, output, is_error));
        home.sync();
        assert_eq!(find(&home, "cache since the release").notice, None, "{name}: {output}");
    }
    let home = TestHome::new();
    cache_work(&home, "tuesday", "2026-03-17T10:00:00Z", 1);
    let unfinished = builder("unfinished", "2026-03-04T14:00:00Z").user("go").tool_call(
        "toolu_1",
        "Bash",
        &serde_json::json!({"command": "npm publish"}),
    );
    write(&home, "unfinished", unfinished);
    home.sync();
    assert_eq!(find(&home, "cache since the release").notice, None, "no result was read");
}

#[test]
fn short_spans_without_a_match_are_shown_with_the_time() {
    let home = with_cache_sessions();
    let found = find(&home, "cache eviction the hour after the release");
    let degraded = found.degraded.unwrap();
    assert!(degraded.starts_with("nothing found from 2026-03-04 14:"), "{degraded}");
}

#[test]
fn event_with_a_time_is_the_one_of_that_time() {
    let home = with_cache_sessions();
    let older = builder("older", "2026-01-15T14:00:00Z").user("publish").command("git tag v1.3.0", "", false);
    write(&home, "older", older);
    home.sync();
    let notice = find(&home, "cache since the release in January").notice.unwrap();
    assert!(notice.contains("read as 2026-01-15"), "{notice}");
    assert_eq!(find(&home, "cache since the release in February").notice, None);
}

#[test]
fn report_of_the_own_project_comes_before_a_command_of_another() {
    let home = TestHome::new();
    let own = builder("own", "2026-03-02T10:00:00Z").cwd("/pa").user("ship it").command("./ship", "ok", false);
    home.write(".claude/projects/-pa/own.jsonl", own.assistant("Published v1.2.3 to npm.").build());
    let other = builder("other", "2026-03-10T10:00:00Z").cwd("/pb").user("go").command("git tag v7.0", "", false);
    home.write(".claude/projects/-pb/other.jsonl", other.build());
    cache_work(&home, "tuesday", "2026-03-17T10:00:00Z", 1);
    home.sync();
    for (folder, expect) in [("/pa", "2026-03-02"), ("/pb", "2026-03-10"), ("/", "2026-03-10")] {
        let clock = Clock::Frozen(NOW.parse().unwrap());
        let engine = Engine::open(Environment { clock, cwd: folder.into(), ..home.environment() }).unwrap();
        let request =
            SearchRequest { text: "cache since the release".to_owned(), limit: 20, ..SearchRequest::default() };
        let request = SearchRequest { scope: SessionScope::AllProjects, ..request };
        let notice = engine.search().run(&request).unwrap().notice.unwrap();
        assert!(notice.contains(expect), "{folder}: {notice}");
    }
}
