//! Tokens and what they cost through the real binary: tables, bars, a chart, and nothing at all.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::transcripts::{claude, home_with_agents, model, read_home, text, user};
use crate::world::World;

const HOUSE: &str = "44444444-0000-4000-8000-000000000004";

/// The usual home, and a session with a model that no list knows.
fn home_with_unknown_model() -> World {
    let world = home_with_agents();
    let mut said = model("10:30:00", "msg_h", &text("Yes."));
    said["message"]["model"] = json!("in-house\u{1b}[31m-1");
    let lines = claude(HOUSE, &[user("10:29:00", &json!("Is it done?")), said]);
    world.write(&format!(".claude/projects/-house/{HOUSE}.jsonl"), &lines);
    assert!(world.run(&["sync"]).status.success());
    world
}

#[test]
fn e003_14_usage_is_summed_up_by_day_agent_model_and_project() {
    let world = home_with_unknown_model();
    assert_snapshot!("by_day", world.tell(&["usage", "--all-projects"]));
    assert_snapshot!("by_agent", world.tell(&["usage", "--all-projects", "--by", "agent"]));
    assert_snapshot!("by_model", world.tell(&["usage", "--all-projects", "--by", "model"]));
    assert_snapshot!("by_project", world.tell(&["usage", "--all-projects", "--by", "project"]));
    assert_snapshot!("by_model_json", world.tell(&["usage", "--all-projects", "--by", "model", "--json"]));
}

#[test]
fn usage_can_be_narrowed() {
    let world = read_home();
    let api = ["usage", "--project", "/home/dev/api", "--by", "model"];
    assert_snapshot!("of_a_project", world.tell(&api));
    assert_snapshot!(
        "of_a_day",
        world.tell(&["usage", "--all-projects", "--since", "today", "--agent", "claude-code"])
    );
    assert_snapshot!("bad_time", world.tell(&["usage", "--since", "whenever"]));
}

#[test]
fn usage_says_where_it_could_be() {
    let world = read_home();
    assert_snapshot!("elsewhere", world.tell(&["usage"]));
    assert_snapshot!("elsewhere_json", world.tell(&["usage", "--json"]));
    let empty = World::new();
    assert_snapshot!("empty", empty.tell(&["usage"]));
    assert_snapshot!("empty_json", empty.tell(&["usage", "--all-projects", "--json"]));
    assert!(!empty.has_our_folder());
}

#[test]
fn bars_fit_the_terminal() {
    let world = home_with_unknown_model();
    for columns in ["40", "72", "200"] {
        let arguments = ["usage", "--all-projects", "--by", "project"];
        let out = world.command(&arguments).env("COLUMNS", columns).output().unwrap();
        assert_snapshot!(format!("columns_{columns}"), world.told(&out));
        let text = String::from_utf8(out.stdout).unwrap();
        let table = text.split("\n\n").next().unwrap();
        let widest = table.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= columns.parse().unwrap(), "{table}");
    }
}

#[test]
fn a_chart_is_a_file_that_stands_alone() {
    let world = home_with_unknown_model();
    assert_snapshot!("chart", world.tell(&["usage", "--all-projects", "--by", "model", "--svg", "-"]));
    let told = world.run(&["usage", "--all-projects", "--by", "model", "--svg", "cost.svg"]);
    assert!(told.status.success());
    let chart = std::fs::read_to_string(world.desk().join("cost.svg")).unwrap();
    assert!(chart.starts_with("<svg ") && chart.ends_with("</svg>\n"));
    for needed in ["<title id=", "<desc id=", "role=\"img\"", "prefers-color-scheme:dark"] {
        assert!(chart.contains(needed), "{needed}");
    }
    for harmful in ["<script", "\u{1b}", "href"] {
        assert!(!chart.contains(harmful), "{harmful:?}");
    }
    assert_snapshot!("chart_nowhere", world.tell(&["usage", "--all-projects", "--svg", "no/such/folder/cost.svg"]));
    assert_snapshot!("chart_of_nothing", world.tell(&["usage", "--svg", "-"]));
    assert_eq!(world.run(&["usage", "--svg", "-", "--json"]).status.code(), Some(2));
}

#[test]
fn s003_21_what_was_not_spent_is_said_too() {
    let world = read_home();
    let out = world.run(&["-c", "budget.daily_usd=0.5", "usage", "--all-projects", "--json"]);
    let told: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(told["own"]["budget"]["dailyUsd"], json!(0.5));
    assert_eq!((&told["own"]["requests"], &told["own"]["today"]), (&json!([]), &json!([])));
}
