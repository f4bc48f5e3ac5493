//! Tables of queries with their parsed form, and a property test that no word is lost.

use jiff::Zoned;
use proptest::prelude::*;
use rethread_model::Agent;

use super::{HitKind, SearchQuery};
use crate::TimePhrase;

fn now() -> Zoned {
    "2026-03-18T15:30:00[UTC]".parse().unwrap()
}

/// Shows only non-empty fields, to keep the tables short.
fn show(query: &SearchQuery) -> String {
    let mut shown = vec![query.words.clone()];
    let mut list = |name: &str, values: Vec<String>| {
        if !values.is_empty() {
            shown.push(format!("{name}={}", values.join("|")));
        }
    };
    list("must", query.phrases.clone());
    list("not", query.excluded.clone());
    list("file", query.files.clone());
    list("tool", query.tools.clone());
    list("agent", query.agents.iter().map(ToString::to_string).collect());
    list("kind", query.kinds.iter().map(ToString::to_string).collect());
    list("after", query.after.iter().map(ToString::to_string).collect());
    list("before", query.before.iter().map(ToString::to_string).collect());
    shown.join("; ").replace("T00:00:00.000Z", "")
}

fn check(table: &[(&str, &str)]) {
    for (text, expect) in table {
        assert_eq!(show(&SearchQuery::parse(text, &now())), *expect, "{text:?}");
    }
}

#[test]
fn words_phrases_and_exclusions() {
    check(&[
        ("", ""),
        ("  flaky   test ", "flaky test"),
        (r#"the "borrow checker" error"#, "the borrow checker error; must=borrow checker"),
        ("“a b” «c d» „e f“ »g h«", "a b c d e f g h; must=a b|c d|e f|g h"),
        ("don't rock 'n' roll", "don't rock 'n' roll"),
        ("login -oauth", "login; not=oauth"),
        (r#"login -"single sign" on"#, "login on; not=single sign"),
        ("login -oauth, please", "login please; not=oauth"),
        ("-oauth", "-oauth"),
        (r#"-oauth -"single sign""#, r#"-oauth -"single sign""#),
        ("- -oauth ->", "- -oauth ->"),
        ("-oauth kind:error", "; not=oauth; kind=error"),
        ("well-known semi -  dash", "well-known semi - dash"),
        (r#"an "unclosed kind:error -quote"#, "an unclosed kind:error -quote"),
        (r#"a -"unclosed quote"#, "a unclosed quote"),
        (r#"5" disk "a b""#, r#"5" disk a b; must=a b"#),
        (r#""a","b c"; x"#, "a b c x; must=a|b c"),
        (r#""" "  " "->""#, r#""->""#),
        (r#""a"b"#, "a b; must=a"),
    ]);
}

#[test]
fn uppercase_operators() {
    check(&[
        ("cats OR dogs AND birds", "cats dogs birds"),
        ("cats or dogs and birds", "cats or dogs and birds"),
        ("OR cats AND", "OR cats AND"),
        ("OR", "OR"),
        (r#""big cats" OR "small dogs" "x y""#, "big cats small dogs x y; must=x y"),
        (r#"("big cats" OR dogs)"#, "big cats dogs)"),
        ("cats NOT dogs", "cats; not=dogs"),
        ("cats AND NOT dogs.", "cats; not=dogs"),
        (r#"cats NOT "small dogs""#, "cats; not=small dogs"),
        ("NOT dogs", "NOT dogs"),
        ("cats NOT", "cats NOT"),
        ("it does NOT work", "it does NOT work"),
        ("NOT NULL constraint failed: users.email", "NOT NULL constraint failed: users.email"),
        ("cats NOT kind:error,tool", "cats; kind=prompt|answer|summary|reasoning|note"),
    ]);
}

#[test]
fn filters() {
    let others = Agent::ALL.map(Agent::as_str).join("|").replace("|pi|", "|");
    let others = format!("; agent={others}");
    check(&[
        ("file:src/a.rs lock", "lock; file=src/a.rs"),
        (r#"file:"with space.rs" file:b.rs"#, "; file=with space.rs|b.rs"),
        (r#"file:"a b.rs",c.rs,"d e""#, "; file=a b.rs|c.rs|d e"),
        ("FILE:A.rs Tool:Bash,Edit", "; file=A.rs; tool=Bash|Edit"),
        ("agent:pi agent:Claude", "; agent=pi|claude-code"),
        ("kind:prompt,error, kind:error", "; kind=prompt|error"),
        ("role:user role:Assistant", "; kind=prompt|answer"),
        ("-kind:reasoning -kind:note", "; kind=prompt|answer|tool|error|summary"),
        ("kind:error -kind:error", "-kind:error; kind=error"),
        ("-agent:pi", &others),
        ("lock -file:a.rs,b.rs -tool:Bash", "lock; not=a.rs|b.rs|Bash"),
        ("lock -since:today", "lock -since:today"),
        ("after:2026-03-14 x", "x; after=2026-03-14"),
        ("since:2026-03-14 until:2026-03-14", "; after=2026-03-14; before=2026-03-15"),
        ("before:2026-03-14", "; before=2026-03-14"),
        ("before:2026-03-14 before:2026-03-12", "; before=2026-03-12"),
        (r#"since:"last week""#, "; after=2026-03-09"),
        ("since:2d", "; after=2026-03-16T15:30:00.000Z"),
        ("since:2026-03-14T12:00:00Z", "; after=2026-03-14T12:00:00.000Z"),
    ]);
}

#[test]
fn invalid_filters_are_words() {
    check(&[
        ("file: x", "file: x"),
        ("file:", "file:"),
        (r#"file:"""#, r#"file:"""#),
        (r#"file:"a b"#, r#"file:"a b"#),
        ("file:,", "file:,"),
        ("agent:unknown", "agent:unknown"),
        ("kind:prompt,nothing", "kind:prompt,nothing"),
        ("before:someday", "before:someday"),
        ("since:today,yesterday", "since:today,yesterday"),
        ("project:x", "project:x"),
        ("profile:x", "profile:x"),
        ("File::open tool::run", "File::open tool::run"),
        ("file:///etc/hosts", "file:///etc/hosts"),
        ("kind: Deployment", "kind: Deployment"),
        ("error[E0502]: cannot borrow", "error[E0502]: cannot borrow"),
        ("TypeError: x is not a function", "TypeError: x is not a function"),
        ("http://host:80/x std::fs C:\\x 12:30", "http://host:80/x std::fs C:\\x 12:30"),
    ]);
}

#[test]
fn pasted_commands_are_words() {
    check(&[
        ("cargo test --no-run -p foo", "cargo test --no-run -p foo"),
        ("go test -run TestX -v", "go test -run TestX -v"),
        ("cc -std=c11 -lpthread", "cc -std=c11 -lpthread"),
        ("make -j8 -silent", "make -j8 -silent"),
        ("rm -rf target", "rm -rf target"),
        ("a -- b -1 -> c --", "a -- b -1 -> c --"),
        (r#"git commit -m "fix it" -"big one""#, "git commit -m fix it; must=fix it; not=big one"),
        (r#"lint -"js" NOT ts"#, "lint; not=js|ts"),
    ]);
}

#[test]
fn times_come_from_plain_words_only() {
    let yesterday = TimePhrase::find("yesterday", &now());
    let table = [
        ("the bug from yesterday", yesterday.clone()),
        ("kind:error yesterday", yesterday),
        (r#""yesterday" -today since:yesterday x"#, vec![]),
        ("x last file:a.rs week", vec![]),
        ("before last file:a.rs week", vec![]),
        ("in OR March", vec![TimePhrase::Months { first: 3, last: 3 }]),
    ];
    for (text, expect) in table {
        assert_eq!(SearchQuery::parse(text, &now()).times, expect, "{text:?}");
    }
}

#[test]
fn kinds_are_parsed_by_name() {
    for kind in HitKind::ALL {
        assert_eq!(kind.as_str().parse(), Ok(kind));
        assert_eq!(kind.to_string().to_uppercase().parse(), Ok(kind));
    }
    let error = "x".parse::<HitKind>().unwrap_err().to_string();
    assert_eq!(error, r#"unknown kind "x"; use one of: prompt, answer, tool, error, summary, reasoning, note"#);
}

fn query_texts() -> impl Strategy<Value = String> {
    const KNOWN: [&str; 40] = [
        "\"",
        "“",
        "”",
        "«",
        "»",
        "„",
        "-",
        "--",
        " ",
        "  ",
        "\n",
        ",",
        ":",
        "(",
        ")",
        "AND ",
        " OR ",
        " NOT ",
        "file:",
        "tool:",
        "agent:",
        "kind:",
        "role:",
        "since:",
        "before:",
        "until:",
        "pi",
        "claude",
        "error",
        "user",
        "yesterday",
        "2026-03-14",
        "3d",
        "last week",
        "-p",
        "word",
        "straße",
        "語",
        "does",
        "NULL",
    ];
    let piece = prop_oneof![
        6 => proptest::sample::select(&KNOWN[..]).prop_map(str::to_owned),
        1 => any::<String>(),
        2 => "[a-z]{1,4}",
    ];
    proptest::collection::vec(piece, 0..16).prop_map(|pieces| pieces.concat())
}

/// Words that a filter or operator may consume without keeping their text.
fn is_consumed(run: &str, query: &SearchQuery) -> bool {
    let run = run.to_lowercase();
    let is_key = ["file", "tool", "agent", "kind", "role", "after", "since", "before", "until"].contains(&run.as_str());
    let is_operator = ["and", "or", "not"].contains(&run.as_str());
    let is_agent = !query.agents.is_empty() && ["pi", "claude", "code"].contains(&run.as_str());
    let is_kind = !query.kinds.is_empty() && run.parse::<HitKind>().is_ok();
    let names_a_time = || SearchQuery::parse(&format!("since:{run}"), &now()).after.is_some();
    let is_time =
        (query.after.is_some() || query.before.is_some()) && (TIME_WORDS.contains(&run.as_str()) || names_a_time());
    is_key || is_operator || is_agent || is_kind || is_time
}

const TIME_WORDS: [&str; 8] = ["yesterday", "2026", "03", "14", "3d", "last", "week", "d"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn no_word_is_lost(text in query_texts()) {
        let query = SearchQuery::parse(&text, &now());
        let mut kept = vec![query.words.clone()];
        for list in [&query.phrases, &query.excluded, &query.files, &query.tools] {
            kept.extend(list.iter().cloned());
        }
        let kept = kept.join("\n");
        for run in text.split(|letter: char| !letter.is_alphanumeric()).filter(|run| !run.is_empty()) {
            prop_assert!(kept.contains(run) || is_consumed(run, &query), "{run:?} of {text:?} is not in {query:?}");
        }
    }

    #[test]
    fn any_text_can_be_parsed(text in any::<String>()) {
        let query = SearchQuery::parse(&text, &now());
        let letters = |text: &str| text.chars().filter(|letter| !letter.is_whitespace()).count();
        prop_assert!(letters(&query.words) <= letters(&text));
    }

    #[test]
    fn plain_words_are_unchanged(words in proptest::collection::vec("[a-z]{1,8}", 0..6)) {
        let text = words.join(" ");
        let query = SearchQuery::parse(&text, &now());
        let rendered = SearchQuery { words: text, topic: query.topic.clone(), is_question: query.is_question, times: query.times.clone(), ..SearchQuery::default() };
        prop_assert_eq!(&query, &rendered);
    }
}

#[test]
fn only_short_queries_set_limits() {
    let monday = "2026-03-16T00:00:00.000Z";
    let limits = |text: &str| {
        let query = SearchQuery::parse(text, &now());
        let bounds =
            query.bounds.map(|bounds| (bounds.from.map(|at| at.to_string()), bounds.to.map(|at| at.to_string())));
        (bounds, query.event.map(|event| event.text))
    };
    let from = Some((Some(monday.to_owned()), None));
    let to = Some((None, Some(monday.to_owned())));
    let long = |text: &str| format!("{text} {}", "and more words ".repeat(8));
    for (text, expect) in [
        ("parser bugs since Monday", (from.clone(), None)),
        ("since Monday, file:parser.rs", (from.clone(), None)),
        ("before Monday", (to, None)),
        ("after Monday before Monday", (None, None)),
        ("cache since the release", (None, Some("the release".to_owned()))),
        ("\"since Monday\" cache", (None, None)),
        (&long("since Monday"), (None, None)),
        (&long("cache since the release"), (None, None)),
    ] {
        assert_eq!(limits(text), expect, "{text:?}");
    }
    let prose = SearchQuery::from_prose("cache since Monday and since the release", &now());
    assert_eq!((prose.bounds, prose.event), (None, None), "a prompt is not a search");
}

#[test]
fn topic_has_no_words_of_limits() {
    for (text, topic) in [
        ("parser bugs since Monday", "parser bugs  "),
        ("what changed the week before 3 May 2025", "what changed  "),
        ("since Monday", ""),
        ("cache since the release", "cache since the release"),
    ] {
        assert_eq!(SearchQuery::parse(text, &now()).topic, topic, "{text:?}");
    }
    let query = SearchQuery::parse("cache the week before the release \"x y\"", &now());
    assert_eq!(query.eventless_topic, "cache   ; x y");
}
