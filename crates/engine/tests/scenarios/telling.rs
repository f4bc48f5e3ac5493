//! What is told, to whom, and how often: neighbours that wait their turn, collisions, memories, greetings.

use std::collections::BTreeSet;

use rethread_engine::{Scope, SearchRequest};
use serde_json::json;

use crate::sessions::{ANNA, BEN, engine, hook, prompt, transcript, work};
use crate::world::World;

const CARA: &str = "cccc1011-0000-4000-8000-00000000000c";
const DORA: &str = "dddd1011-0000-4000-8000-00000000000d";
const DAY: i64 = 24 * 60;

fn edit(world: &World, minutes: i64, session: &str, file: &str) -> Option<String> {
    let said = json!({"tool_name": "Edit", "tool_input": {"file_path": format!("/app/src/{file}")}});
    hook(world, minutes, session, "PreToolUse", &said)
}

fn stop(world: &World, minutes: i64, session: &str) {
    hook(world, minutes, session, "Stop", &json!({}));
}

#[test]
fn s000_15_who_had_no_room_is_told_of_with_the_next_prompt() {
    // Also S000-09: how far one session has seen another is kept for each pair.
    let world = World::new();
    work(&world, BEN, 0, "write the docs", false);
    prompt(&world, 0, BEN, "go on");
    let others: Vec<String> = (1..=9).map(|number| format!("dddd{number}011-0000-4000-8000-00000000000d")).collect();
    for (number, other) in others.iter().enumerate() {
        work(&world, other, 1, &format!("job number {number} of many, each with a long prompt about it"), true);
        stop(&world, 1, other);
    }
    let mut told = BTreeSet::new();
    for minutes in 2..9 {
        let Some(text) = prompt(&world, minutes, BEN, "and now?") else { break };
        let jobs = (0..9).filter(|number| text.contains(&format!("job number {number} ")));
        for number in jobs {
            assert!(told.insert(number), "{number} was told twice");
        }
    }
    assert_eq!(told.len(), 9);
    assert_eq!(prompt(&world, 9, BEN, "and now?"), None);
}

#[test]
fn what_has_no_room_in_the_budget_waits_too() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs", false);
    work(&world, ANNA, 1, "mend the rounding", false);
    stop(&world, 1, ANNA);
    world.write(".rethread/config.toml", "[inject]\nbudget_tokens = 15\n");
    assert_eq!(prompt(&world, 2, BEN, "go on"), None);
    world.write(".rethread/config.toml", "");
    assert!(prompt(&world, 3, BEN, "go on").unwrap().contains("mend the rounding"));
}

#[test]
fn a_change_by_another_session_is_told_once_before_the_next_one() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs", false);
    work(&world, ANNA, 1, "mend the rounding", false);
    for session in [BEN, ANNA] {
        stop(&world, 1, session);
    }
    let expected = "<rethread-context>\nSession \"mend the rounding\" changed cart.rs 2m ago; look at the file again \
                    before you change it.\n</rethread-context>";
    assert_eq!(edit(&world, 3, BEN, "cart.rs").unwrap(), expected);
    assert_eq!(edit(&world, 4, BEN, "cart.rs"), None, "once");
    assert_eq!(edit(&world, 4, BEN, "other.rs"), None, "nobody changed that");
    assert_eq!(edit(&world, 4, ANNA, "cart.rs"), None, "it was the last one to change it");
    work(&world, CARA, 5, "a third hand", false);
    stop(&world, 5, CARA);
    assert!(edit(&world, 6, BEN, "cart.rs").unwrap().contains("a third hand"), "that is another collision");
    assert_eq!(edit(&world, 50, ANNA, "cart.rs"), None, "half an hour is long ago");
    let told = engine(&world, 7).told_to(BEN, 9).unwrap();
    assert_eq!(told.iter().filter(|told| told.event == "PreToolUse").count(), 2, "each has a record");
}

#[test]
fn who_has_changed_the_file_since_is_not_told() {
    let world = World::new();
    work(&world, ANNA, 0, "mend the rounding", false);
    work(&world, BEN, 1, "round it up", false);
    for session in [ANNA, BEN] {
        stop(&world, 1, session);
    }
    assert_eq!(edit(&world, 2, BEN, "cart.rs"), None);
}

#[test]
fn s002_34_lines_written_for_the_prompt_itself_do_not_end_the_break() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs", false);
    stop(&world, 1, BEN);
    let line = json!({"type": "queue-operation", "operation": "enqueue", "sessionId": BEN,
        "timestamp": "2026-03-02T10:59:59.500Z", "content": "go on"});
    world.append(&transcript(BEN), format!("{line}\n"));
    let told = prompt(&world, 120, BEN, "go on").unwrap();
    assert!(told.contains("Welcome back. Session bbbb1011 was idle for 1h 59m."), "{told}");
    assert_eq!(prompt(&world, 121, BEN, "go on"), None, "a break is greeted once");
}

#[test]
fn l000_10_e002_19_a_session_stays_in_its_project_wherever_it_works() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs", false);
    stop(&world, 0, BEN);
    work(&world, ANNA, 1, "mend the rounding", false);
    stop(&world, 1, ANNA);
    let told = hook(&world, 2, BEN, "UserPromptSubmit", &json!({"prompt": "go on", "cwd": "/elsewhere/deep"}));
    assert!(told.unwrap().contains("mend the rounding"));
}

#[test]
fn a_session_that_is_opened_again_at_once_is_told_nothing_it_knows() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs", false);
    stop(&world, 1, BEN);
    assert_eq!(hook(&world, 2, BEN, "SessionStart", &json!({"source": "resume"})), None);
    let told = hook(&world, 3, BEN, "SessionStart", &json!({"source": "compact"})).unwrap();
    assert!(told.contains("[SESSION CONTEXT]") && told.contains("src/cart.rs"), "{told}");
}

#[test]
fn who_clears_a_session_is_not_told_what_was_in_it() {
    let world = World::new();
    work(&world, ANNA, 0, "mend the rounding", false);
    hook(&world, 1, ANNA, "SessionEnd", &json!({"reason": "clear"}));
    assert_eq!(hook(&world, 1, BEN, "SessionStart", &json!({"source": "clear"})), None);
    assert_eq!(prompt(&world, 2, BEN, "something else"), None);
    assert!(prompt(&world, 2, CARA, "hello").is_some(), "others are told");
}

#[test]
fn e002_02_e002_03_l002_20_memories_of_the_last_week_come_with_a_prompt_that_fits() {
    let world = World::new();
    work(&world, CARA, -8 * DAY, "why does the invoice checkout total lose a cent?", false);
    work(&world, ANNA, -2 * DAY, "the invoice checkout total is off by a cent, why?", false);
    for session in [CARA, ANNA] {
        stop(&world, -2 * DAY, session);
    }
    work(&world, BEN, 0, "write the docs", false);
    assert_eq!(prompt(&world, 1, BEN, "fix the changelog"), None, "nothing is close to that");
    let asked = "do you know why the invoice checkout total is off by a cent?";
    let told = prompt(&world, 2, BEN, asked).unwrap();
    let line = "[MEMORY CONTEXT]\n- [2d ago] \
                \"the invoice checkout total is off by a cent, why?\" -> \"I look into it.\" (rethread show ";
    assert!(told.contains(line), "{told}");
    assert!(!told.contains("lose a cent"), "cold memory is for those who ask: {told}");
    let asked_for = SearchRequest { text: "lose a cent".to_owned(), limit: 5, ..SearchRequest::default() };
    let found = engine(&world, 2).search(&SearchRequest { scope: Scope::AllProjects, ..asked_for }).unwrap();
    assert!(found.hits.iter().any(|found| found.hit.entry.text.contains("lose a cent")), "and is not lost");
    assert!(told.contains("memory (1 warm, 1.00 of the prompt's words)"), "{told}");
    assert_eq!(prompt(&world, 3, BEN, asked), None, "nothing is said twice");
    assert_eq!(hook(&world, 4, BEN, "SessionStart", &json!({"source": "resume"})), None);
    world.write(".rethread/config.toml", "[inject]\nmemory = false\n");
    assert_eq!(prompt(&world, 5, CARA, asked).filter(|told| told.contains("MEMORY")), None);
}

#[test]
fn e002_11_what_could_not_be_looked_into_is_said_beside_what_else_there_is() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs", false);
    work(&world, CARA, 1, "look at the orders", false);
    stop(&world, 1, CARA);
    // More than is read without an index while a prompt waits.
    for minutes in 0..150 {
        work(&world, ANNA, minutes, "mend the rounding", false);
    }
    stop(&world, 150, ANNA);
    let told = prompt(&world, 151, BEN, "what about the rounding of discounts in orders?").unwrap();
    assert!(told.contains("mend the rounding (2m ago"), "{told}");
    assert!(told.contains("[MEMORY CONTEXT]\nwarm unavailable: much is not indexed yet\n[END MEMORY]"), "{told}");
    engine(&world, 151).rebuild_index().unwrap();
    work(&world, ANNA, 152, "now the tests", false);
    assert!(!prompt(&world, 153, BEN, "and?").unwrap().contains("unavailable"));
    // What was said since then is found too: it is not worth a commit of the index, perhaps for days.
    work(&world, DORA, 200, "does the zeppelin carry mail over the harbour?", false);
    stop(&world, 200, DORA);
    let told = prompt(&world, 200 + DAY, BEN, "which zeppelin carries mail over the harbour?").unwrap();
    assert!(told.contains("- [1d ago] \"does the zeppelin carry mail"), "{told}");
}

#[test]
fn l002_08_l002_19_one_odd_field_does_not_make_the_others_unheard() {
    let world = World::new();
    work(&world, ANNA, 0, "mend the rounding", false);
    stop(&world, 0, ANNA);
    let odd = json!({"prompt": "hello", "tool_name": null, "tool_input": 7, "agent_id": null, "permission_mode": []});
    assert!(hook(&world, 1, BEN, "UserPromptSubmit", &odd).is_some());
}

#[test]
fn e000_08_s000_28_what_is_not_understood_leaves_a_line_in_the_log() {
    let world = World::new();
    assert_eq!(engine(&world, 0).hook_claude_code(b"{\"session_id\":").unwrap(), None);
    let logs = std::fs::read_dir(world.at(".rethread/logs")).unwrap();
    let lines: Vec<String> = logs.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
    assert!(lines.concat().contains("\"event\":\"hook_not_understood\""), "{lines:?}");
}

#[test]
fn l000_11_e002_20_two_hooks_of_one_session_at_once_tell_it_once() {
    let world = World::new();
    work(&world, BEN, 0, "write the docs", false);
    work(&world, ANNA, 1, "mend the rounding", false);
    stop(&world, 1, ANNA);
    stop(&world, 1, BEN);
    let told: Vec<Option<String>> = std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..8).map(|_| scope.spawn(|| prompt(&world, 2, BEN, "go on"))).collect();
        hooks.into_iter().map(|hook| hook.join().unwrap()).collect()
    });
    assert_eq!(told.iter().flatten().count(), 1, "{told:?}");
}
