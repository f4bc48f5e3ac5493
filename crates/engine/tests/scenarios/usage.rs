//! Token cost from transcripts, from the price list or unknown; and how much of the transcripts is stored.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use jiff::tz::{TimeZone, offset};
use rethread_engine::{
    Engine, NanoUsd, SessionRank, SessionScope, SessionType, SessionUsage, TopSessions, UsageGrouping, UsageReport,
    UsageRequest,
};
use rethread_model::{Agent, Tokens};
use rethread_testing::{PiTranscriptBuilder, StubModel, StubReply, TestHome, text_block};
use serde_json::{Value, json};

use crate::turns;

const TOP: TopSessions = TopSessions { limit: 10, by: SessionRank::Cost };

/// Writes a Claude Code transcript of these lines.
fn claude(home: &TestHome, number: u8, project: &str, lines: &[Value]) {
    let session = format!("5e551011-0000-4000-8000-0000000000{number:02}");
    let mut text = String::new();
    for (at, line) in lines.iter().enumerate() {
        let mut line = line.clone();
        line["uuid"] = json!(format!("{session}-{at}"));
        line["sessionId"] = json!(session);
        line["cwd"] = json!(project);
        text.extend([line.to_string().as_str(), "\n"]);
    }
    home.write(&format!(".claude/projects/-app/{session}.jsonl"), text);
}

fn prompt(text: &str) -> Value {
    json!({"type": "user", "timestamp": "2026-03-01T09:00:00Z", "message": {"role": "user", "content": text}})
}

fn answer(id: &str, model: &str, at: Option<&str>, input: u64) -> Value {
    let usage = json!({"input_tokens": input, "output_tokens": 10, "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20});
    let message = json!({"id": id, "role": "assistant", "model": model, "usage": usage,
        "content": [{"type": "text", "text": "done"}]});
    json!({"type": "assistant", "timestamp": at, "message": message})
}

fn called(id: &str, tool: &str, input: &Value, error: bool) -> [Value; 2] {
    let call = json!({"type": "tool_use", "id": id, "name": tool, "input": input});
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": "Exit code 1\nno", "is_error": error});
    [
        json!({"type": "assistant", "message": {"id": format!("m-{id}"), "role": "assistant", "content": [call]}}),
        json!({"type": "user", "message": {"role": "user", "content": [result]}}),
    ]
}

fn pi(home: &TestHome) {
    let answer = json!({"role": "assistant", "content": [text_block("done")], "model": "deepseek-v9",
        "usage": {"input": 5, "output": 6, "cacheRead": 7, "cacheWrite": 0, "cost": {"total": 0.25}}});
    let lines =
        PiTranscriptBuilder::new("pi-1", "/home/dev/api", "2026-03-01T09:00:00Z").user("do it").message(&answer);
    home.write(".pi/agent/sessions/--api--/2026-03-01T09-00-00-000Z_pi-1.jsonl", lines.build());
}

/// Four messages of three models and a synthetic one, in two projects.
fn home_with_usage() -> TestHome {
    let home = TestHome::new();
    let lines = [
        prompt("begin"),
        answer("msg_1", "claude-opus-4-5-20251101", Some("2026-03-01T23:30:00Z"), 1_000_000),
        answer("msg_1", "claude-opus-4-5-20251101", Some("2026-03-01T23:30:00Z"), 1_000_000),
        answer("msg_2", "in-house-1", Some("2026-03-02T08:00:00Z"), 30),
        answer("msg_3", "in-house-1", None, 40),
        answer("msg_4", "<synthetic>", Some("2026-03-02T08:00:00Z"), 50),
    ];
    claude(&home, 1, "/home/dev/app", &lines);
    pi(&home);
    home.sync();
    home
}

fn usage(home: &TestHome, request: &UsageRequest) -> UsageReport {
    home.engine().reports().usage(request).unwrap()
}

fn keys(report: &UsageReport) -> Vec<&str> {
    report.groups.iter().map(|group| group.key.as_deref().unwrap_or("?")).collect()
}

fn usd(text: &str) -> NanoUsd {
    text.parse().unwrap()
}

#[test]
fn tokens_count_once_with_noted_listed_or_unknown_cost() {
    // E003-14
    let home = home_with_usage();
    let report = usage(&home, &UsageRequest { group_by: UsageGrouping::Model, ..UsageRequest::default() });
    assert_eq!(keys(&report), ["claude-opus-4-5-20251101", "deepseek-v9", "in-house-1"], "the most expensive first");
    let [opus, noted, unknown] = [0, 1, 2].map(|at| report.groups[at].totals.clone());
    assert_eq!(opus.tokens, Tokens { input: 1_000_000, output: 10, cache_read: 100, cache_write: 20 });
    assert_eq!((opus.stated_cost, opus.estimated_cost, opus.messages), (None, Some(usd("5.000425")), 1));
    assert_eq!((noted.stated_cost, noted.estimated_cost, noted.unpriced_tokens), (Some(usd("0.25")), None, 0));
    assert_eq!((unknown.cost(), unknown.messages, unknown.unpriced_tokens), (None, 2, 330));
    let total = &report.total;
    assert_eq!((total.cost(), total.messages), (Some(usd("5.250425")), 4));
    assert_eq!(total.unpriced_models.iter().collect::<Vec<_>>(), ["in-house-1"]);
}

#[test]
fn totals_are_equal_for_every_grouping() {
    let home = home_with_usage();
    let total = |by| usage(&home, &UsageRequest { group_by: by, ..UsageRequest::default() }).total;
    for by in [UsageGrouping::Agent, UsageGrouping::Model, UsageGrouping::Project] {
        assert_eq!(total(by), total(UsageGrouping::Day), "{by:?}");
    }
    let agents = usage(&home, &UsageRequest { group_by: UsageGrouping::Agent, ..UsageRequest::default() });
    assert_eq!(keys(&agents), ["claude-code", "pi"]);
    let projects = usage(&home, &UsageRequest { group_by: UsageGrouping::Project, ..UsageRequest::default() });
    assert_eq!(keys(&projects), ["/home/dev/app", "/home/dev/api"]);
}

#[test]
fn days_use_the_time_zone_of_the_user() {
    let home = home_with_usage();
    let days = usage(&home, &UsageRequest::default());
    assert_eq!(keys(&days), ["2026-03-01", "2026-03-02", "?"]);
    let mut environment = home.environment();
    environment.time_zone = TimeZone::fixed(offset(2));
    let east = Engine::open(environment).unwrap().reports().usage(&UsageRequest::default()).unwrap();
    assert_eq!(keys(&east), ["2026-03-01", "2026-03-02", "?"]);
    let messages = |report: &UsageReport| report.groups.iter().map(|group| group.totals.messages).collect::<Vec<_>>();
    assert_eq!((messages(&days), messages(&east)), (vec![2, 1, 1], vec![1, 2, 1]));
}

#[test]
fn usage_filters_by_project_agent_and_time() {
    let home = home_with_usage();
    let by_model = UsageRequest { group_by: UsageGrouping::Model, ..UsageRequest::default() };
    let api = UsageRequest { scope: SessionScope::Project("/home/dev/api".to_owned()), ..by_model.clone() };
    assert_eq!(keys(&usage(&home, &api)), ["deepseek-v9"]);
    let claude = UsageRequest { agent: Some(Agent::ClaudeCode), ..by_model.clone() };
    assert_eq!(keys(&usage(&home, &claude)), ["claude-opus-4-5-20251101", "in-house-1"]);
    let second = UsageRequest { since: Some("2026-03-02".into()), until: Some("2026-03-02".into()), ..by_model };
    assert_eq!(usage(&home, &second).total.messages, 1);
    let nowhere = UsageRequest { scope: SessionScope::Project("/nowhere".to_owned()), ..UsageRequest::default() };
    let nothing = usage(&home, &nowhere);
    assert!(nothing.groups.is_empty() && nothing.reductions.is_empty());
    assert_eq!(nothing.total.cost(), None);
}

#[test]
fn reduction_is_reported_by_session_type() {
    // L003-04
    let home = TestHome::new();
    let edit = json!({"file_path": "/home/dev/app/a.rs", "old_string": "a", "new_string": "b"});
    let run = json!({"command": "cargo test"});
    let read = json!({"file_path": "/home/dev/app/a.rs"});
    let repaired = |at: u8| {
        let failed = called(&format!("toolu_f{at}"), "Bash", &run, true);
        [failed, called(&format!("toolu_e{at}"), "Edit", &edit, false)].concat()
    };
    claude(&home, 1, "/home/dev/app", &[vec![prompt("fix it")], repaired(1), repaired(2)].concat());
    let built = called("toolu_b", "Edit", &edit, false);
    claude(&home, 2, "/home/dev/app", &[&[prompt("build it")][..], &built].concat());
    let looked = called("toolu_r", "Read", &read, false);
    claude(&home, 3, "/home/dev/app", &[&[prompt("look at it")][..], &looked].concat());
    claude(&home, 4, "/home/dev/app", &[prompt("why?"), answer("msg_1", "claude-opus-4-5", None, 1)]);
    home.sync();
    let kept = usage(&home, &UsageRequest::default()).reductions;
    assert_eq!(kept.iter().map(|kept| kept.session_type).collect::<Vec<_>>(), SessionType::ALL);
    assert!(kept.iter().all(|kept| kept.sessions == 1 && kept.kept_tokens < kept.raw_tokens), "{kept:?}");
    assert_eq!(home.engine().reports().status().unwrap().reductions, kept, "status reports the same");
}

#[test]
fn own_requests_are_reported_separately() {
    // S003-21
    let home = TestHome::new();
    let nothing = usage(&home, &UsageRequest::default()).own;
    assert!(nothing.requests.is_empty() && nothing.budget.daily_tokens.is_none());
    let server = StubModel::with_replies(vec![StubReply::text("yes")]);
    let engine = turns::engine(&home, &server, &[]);
    let thread = turns::thread(&engine);
    turns::send(&engine, &thread, "hello").unwrap();
    let own = engine.reports().usage(&UsageRequest::default()).unwrap().own;
    assert_eq!(own.requests.len(), 1);
    assert_eq!((own.requests[0].purpose.as_str(), own.requests[0].model.as_str()), ("turn", "small"));
    assert_eq!(own.requests[0].spending.requests, 1);
    assert_eq!((own.today == own.requests, own.budget.daily_tokens), (true, Some(1_000_000)));
    let before = UsageRequest { until: Some("2020-01-01".into()), ..UsageRequest::default() };
    assert!(engine.reports().usage(&before).unwrap().own.requests.is_empty());
}

#[test]
fn cache_writes_are_priced_by_how_long_they_are_stored() {
    // D9
    let cost = |hour: u64, minutes: u64| {
        let home = TestHome::new();
        let mut line = answer("msg_1", "claude-opus-4-5", Some("2026-03-01T09:00:10Z"), 0);
        line["message"]["usage"] = json!({"input_tokens": 0, "output_tokens": 0, "cache_read_input_tokens": 0,
            "cache_creation_input_tokens": 1_000_000,
            "cache_creation": {"ephemeral_1h_input_tokens": hour, "ephemeral_5m_input_tokens": minutes}});
        // The same message again, as one API message has several lines.
        claude(&home, 1, "/home/dev/app", &[prompt("begin"), line.clone(), line]);
        home.sync();
        home.engine().reports().usage(&UsageRequest::default()).unwrap().total.cost().unwrap().to_string()
    };
    assert_eq!(cost(0, 1_000_000), "$6.25");
    assert_eq!(cost(1_000_000, 0), "$10.00");
    assert_eq!(cost(400_000, 600_000), "$7.75");
}

#[test]
fn one_pass_gives_the_same_numbers_as_a_report_per_grouping() {
    // D7
    let home = home_with_usage();
    let requests = [
        UsageRequest::default(),
        UsageRequest { since: Some("2026-03-02".to_owned()), ..UsageRequest::default() },
        UsageRequest { agent: Some(Agent::Pi), ..UsageRequest::default() },
        UsageRequest { scope: SessionScope::Project("/home/dev/app".to_owned()), ..UsageRequest::default() },
    ];
    for request in requests {
        let details = home.engine().reports().usage_details(&request, TOP).unwrap();
        for (by, groups) in &details.groups {
            let report = usage(&home, &UsageRequest { group_by: *by, ..request.clone() });
            assert_eq!((&report.groups, &report.total), (groups, &details.report.total), "{by:?} of {request:?}");
        }
        let messages = details.report.total.messages;
        assert_eq!(details.days.iter().map(|day| day.totals.messages).sum::<u64>(), messages);
        assert_eq!(details.top_sessions.iter().map(|one| one.totals.messages).sum::<u64>(), messages);
    }
    let all = home.engine().reports().usage_details(&UsageRequest::default(), TOP).unwrap();
    assert_eq!((all.hours[6][23], all.hours[0][8]), (1, 1), "a Sunday evening and a Monday morning in UTC");
    let costs: Vec<_> = all.top_sessions.iter().map(|one| one.totals.cost()).collect();
    assert!(costs.is_sorted_by(|one, next| one >= next), "{costs:?}");
    let top = |limit, by| {
        let top = TopSessions { limit, by };
        home.engine().reports().usage_details(&UsageRequest::default(), top).unwrap().top_sessions
    };
    let messages: Vec<u64> = top(10, SessionRank::Messages).iter().map(|one| one.totals.messages).collect();
    assert!(messages.is_sorted_by(|one, next| one >= next), "{messages:?}");
    let durations: Vec<_> = top(10, SessionRank::Duration).iter().map(SessionUsage::duration).collect();
    assert!(durations.len() > 1 && durations.is_sorted_by(|one, next| one >= next), "{durations:?}");
    assert_eq!(top(1, SessionRank::Duration).iter().map(SessionUsage::duration).collect::<Vec<_>>(), durations[..1]);
    let none = TestHome::new().engine().reports().usage_details(&UsageRequest::default(), TOP).unwrap();
    assert!(none.days.is_empty() && none.top_sessions.is_empty());
}
