//! `usage`: tables, bars, the chart, and an empty home.

use insta::assert_snapshot;
use rethread_testing::TestHome;
use serde_json::{Value, json};

use crate::transcripts::{claude, home_with_agents, model, new_home, read_home, text, user};

const IN_HOUSE: &str = "44444444-0000-4000-8000-000000000004";

/// A home with a session whose model has no known price.
fn home_with_unknown_model() -> TestHome {
    let home = home_with_agents();
    let mut answer = model("10:30:00", "msg_h", &text("Yes."));
    answer["message"]["model"] = json!("in-house\u{1b}[31m-1");
    let lines = claude(IN_HOUSE, &[user("10:29:00", &json!("Is it done?")), answer]);
    home.write(&format!(".claude/projects/-house/{IN_HOUSE}.jsonl"), &lines);
    assert!(home.run(&["sync"]).status.success());
    home
}

#[test]
fn usage_groups_by_day_agent_model_and_project() {
    // E003-14
    let home = home_with_unknown_model();
    assert_snapshot!("by_day", home.snapshot(&["usage", "--all-projects"]));
    assert_snapshot!("by_agent", home.snapshot(&["usage", "--all-projects", "--by", "agent"]));
    assert_snapshot!("by_model", home.snapshot(&["usage", "--all-projects", "--by", "model"]));
    assert_snapshot!("by_project", home.snapshot(&["usage", "--all-projects", "--by", "project"]));
    assert_snapshot!("by_model_json", home.snapshot(&["usage", "--all-projects", "--by", "model", "--json"]));
}

#[test]
fn usage_can_be_narrowed() {
    let home = read_home();
    let api = ["usage", "--project", "/home/dev/api", "--by", "model"];
    assert_snapshot!("of_a_project", home.snapshot(&api));
    assert_snapshot!(
        "of_a_day",
        home.snapshot(&["usage", "--all-projects", "--since", "today", "--agent", "claude-code"])
    );
    assert_snapshot!("bad_time", home.snapshot(&["usage", "--since", "whenever"]));
}

#[test]
fn empty_usage_suggests_where_to_look() {
    let home = read_home();
    assert_snapshot!("elsewhere", home.snapshot(&["usage", "--project", "."]));
    assert_snapshot!("elsewhere_json", home.snapshot(&["usage", "--project", ".", "--json"]));
    let empty = new_home();
    assert_snapshot!("empty", empty.snapshot(&["usage"]));
    assert_snapshot!("empty_json", empty.snapshot(&["usage", "--all-projects", "--json"]));
    assert!(!empty.has_rethread_dir());
}

#[test]
fn bars_fit_the_terminal() {
    let home = home_with_unknown_model();
    for columns in ["40", "72", "200"] {
        let arguments = ["usage", "--all-projects", "--by", "project"];
        let out = home.command(&arguments).env("COLUMNS", columns).output().unwrap();
        assert_snapshot!(format!("columns_{columns}"), home.snapshot_of(&out));
        let text = String::from_utf8(out.stdout).unwrap();
        let table = text.split("\n\n").next().unwrap();
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{table}");
    }
}

#[test]
fn chart_is_a_self_contained_file() {
    let home = home_with_unknown_model();
    assert_snapshot!("chart", home.snapshot(&["usage", "--all-projects", "--by", "model", "--svg", "-"]));
    let output = home.run(&["usage", "--all-projects", "--by", "model", "--svg", "cost.svg"]);
    assert!(output.status.success());
    let chart = std::fs::read_to_string(home.work_dir().join("cost.svg")).unwrap();
    assert!(chart.starts_with("<svg ") && chart.ends_with("</svg>\n"));
    for needed in ["<title id=", "<desc id=", "role=\"img\"", "prefers-color-scheme:dark"] {
        assert!(chart.contains(needed), "{needed}");
    }
    for harmful in ["<script", "\u{1b}", "href"] {
        assert!(!chart.contains(harmful), "{harmful:?}");
    }
    assert_snapshot!("chart_nowhere", home.snapshot(&["usage", "--all-projects", "--svg", "no/such/folder/cost.svg"]));
    assert_snapshot!("chart_of_nothing", home.snapshot(&["usage", "--project", ".", "--svg", "-"]));
    assert_eq!(home.run(&["usage", "--svg", "-", "--json"]).status.code(), Some(2));
}

#[test]
fn unused_budget_is_reported() {
    // S003-21
    let home = read_home();
    let out = home.run(&["-c", "budget.daily_usd=0.5", "usage", "--all-projects", "--json"]);
    let output: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(output["own"]["budget"]["dailyUsd"], json!(0.5));
    assert_eq!((&output["own"]["requests"], &output["own"]["today"]), (&json!([]), &json!([])));
}
