//! Where a thread is cut.

use proptest::prelude::*;
use rethread_model::thread::{ChatMessage, ChatRole};
use serde_json::json;

use super::{Thread, long, structured};
use crate::compaction::cut::first_kept;
use crate::context::build_context;
use crate::pairs::{answers, pair_up};

/// `u` the user, `a` an answer, `a:1,2` one with calls, `r:1` a result; ten tokens each, `U` a hundred.
fn thread(told: &str) -> Thread {
    let text = long(10);
    told.split_whitespace().fold(Thread::default(), |thread, told| {
        let (kind, ids) = told.split_once(':').unwrap_or((told, ""));
        let ids: Vec<_> = ids.split(',').filter(|id| !id.is_empty()).map(|id| (id, "", json!({}))).collect();
        match kind {
            "u" => thread.user(&text),
            "U" => thread.user(&long(100)),
            "r" => thread.result(ids.first().map_or("", |(id, ..)| id), &text),
            _ => thread.calls(&text, &ids),
        }
    })
}

/// The number of the first message kept; zero if nothing is to be done.
fn check(told: &str, keep_recent: u64, expect: u64) {
    let planned = thread(told).plan(keep_recent);
    assert_eq!(planned.map_or(0, |plan| plan.first_kept_seq), expect, "{told}");
}

#[test]
fn s004_18_the_cut_is_the_nearest_border_at_or_after() {
    check("u a u a u a", 20, 5);
    check("u a u a u a", 10, 6);
    check("u a u a u a", 25, 4);
    check("u a u a u a", 0, 6);
    check("u a:1 r:1 a u a", 35, 4);
}

#[test]
fn s7_13_a_call_and_its_result_are_never_separated() {
    check("u a a:1 r:1", 10, 3);
    check("u a a:1 r:1 a u", 30, 5);
    check("u a a:1,2 r:1 r:2", 10, 3);
    check("u a a:1,2 r:1 r:2", 20, 3);
}

#[test]
fn l004_07_parallel_calls_and_late_results_stay_together() {
    check("u a a:1,2 r:2 u r:1 a u a", 50, 7);
    check("u a a:1,2 r:2 u r:1", 15, 3);
    check("u a a:1 a:2 r:1 r:2 u", 35, 7);
    // An id that is used again does not bind the messages between.
    check("u a:0 r:0 u a:0 r:0", 25, 4);
}

#[test]
fn s004_19_a_call_that_still_waits_stays_with_what_follows() {
    check("u a a:1 u", 10, 3);
    check("u a a:1,2 r:1", 10, 3);
    check("u a:1", 10, 2);
    // The model went on without this result.
    check("u a:1 u a u a", 20, 5);
}

#[test]
fn l004_08_below_what_is_kept_there_is_nothing_to_do() {
    check("u a u a", 41, 0);
    check("u a u a", 40, 0);
    check("", 0, 0);
    check("u", 0, 0);
    check("a:1 r:1", 10, 0);
}

#[test]
fn l004_05_arguments_count_when_the_cut_is_looked_for() {
    let thread = Thread::default()
        .user("hi")
        .calls("", &[("1", "write", json!({"path": "a", "content": long(500)}))])
        .result("1", "done")
        .user("go on");
    let planned = thread.plan(400).unwrap();
    assert_eq!(planned.first_kept_seq, 2, "the texts alone are less than what is kept");
}

#[test]
fn e004_26_one_huge_turn_is_cut_at_an_answer() {
    check("u a:1 r:1 a:2 r:2 a:3 r:3", 20, 6);
    let planned = thread("u a u a:1 r:1 a:2 r:2 a:3 r:3").plan(20).unwrap();
    assert_eq!((planned.history.len(), planned.prefix.len()), (2, 5));
    let planned = thread("u a u u a:1 r:1 a:2 r:2").plan(20).unwrap();
    assert_eq!((planned.history.len(), planned.prefix.len()), (2, 4), "one request in two messages");
    let planned = thread("u a u a").plan(20).unwrap();
    assert_eq!((planned.history.len(), planned.prefix.len()), (2, 0));
}

#[test]
fn e004_27_right_after_a_compaction_there_is_nothing_to_do() {
    let thread = thread("u a u a u a u a");
    let planned = thread.plan(40).unwrap();
    assert_eq!((planned.first_kept_seq, planned.tokens_before), (5, 40));
    let compacted = thread.compacted(&planned, &structured("x"));
    assert_eq!(compacted.plan(40), None);
    let with_little = compacted.user("ok");
    assert_eq!(with_little.plan(40), None);
    let with_more = with_little.says(&long(10)).user(&long(10)).says(&long(10));
    assert_eq!(with_more.plan(40).map(|plan| plan.first_kept_seq), Some(8));
}

#[test]
fn e004_27_a_huge_message_that_could_not_be_cut_goes_next_time() {
    let thread = thread("u a a:1").result("1", &long(1000));
    let planned = thread.plan(100).unwrap();
    assert_eq!(planned.first_kept_seq, 3);
    let later = thread.compacted(&planned, &structured("x")).says("ok").user("go on");
    assert_eq!(later.plan(100).map(|plan| plan.first_kept_seq), Some(6), "the answer behind the result is a border");
}

#[test]
fn l004_06_only_what_the_context_still_has_is_considered() {
    let thread = thread("u a u a u a");
    let planned = thread.plan(20).unwrap();
    let later = thread.compacted(&planned, &structured("x")).user(&long(10)).says(&long(10)).user(&long(10));
    let planned = later.plan(20).unwrap();
    assert_eq!(planned.tokens_before, 30, "messages 5, 6 and 8");
    assert_eq!((planned.history.len(), planned.prefix.len(), planned.first_kept_seq), (2, 1, 9));
    assert!(planned.is_update());
}

#[test]
fn s7_11_what_is_planned_is_what_the_context_shows() {
    let thread = thread("u a u a:1 r:1 a u");
    let planned = thread.plan(35).unwrap();
    assert_eq!(planned.first_kept_seq, 4);
    let context = build_context(&thread.compacted(&planned, "S").0);
    assert_eq!(context.messages.len(), 1 + 4);
    assert!(context.messages[0].text().contains("<summary>\nS\n</summary>"));
}

/// Whether a result in the second part belongs to a call of the first.
fn separates(messages: &[ChatMessage], cut: usize) -> bool {
    let answers = answers(messages);
    answers[..cut].iter().flatten().any(|result| result.is_some_and(|result| result >= cut))
}

proptest! {
    #[test]
    fn s7_13_no_plan_separates_a_pair(
        told in proptest::collection::vec("u|U|a|a:[0-4]|a:[0-4],[5-7]|a:8,9|r:[0-9]|r:[0-4]", 0..40),
        keep_recent in 0_u64..300,
        more in proptest::collection::vec("u|a|a:[0-4]|a:8,9|r:[0-9]", 0..30),
    ) {
        let mut talked = thread(&told.join(" "));
        for round in 0..2 {
            let context = build_context(&talked.0);
            let messages = &context.messages[usize::from(context.compaction.is_some())..];
            let Some(planned) = talked.plan(keep_recent) else { break };
            let cut = first_kept(messages, keep_recent).unwrap_or_default();
            prop_assert!(cut > 0);
            prop_assert!(messages[cut].role != ChatRole::ToolResult);
            prop_assert!(!separates(messages, cut));
            prop_assert_eq!(planned.history.len() + planned.prefix.len(), cut);
            let (before, kept) = messages.split_at(cut);
            // Paired up apart they are as paired up together: nothing was filled in or left out because of the cut.
            let apart = [pair_up(before.to_vec()), pair_up(kept.to_vec())].concat();
            prop_assert_eq!(apart, pair_up(messages.to_vec()));
            talked = talked.compacted(&planned, &structured("x"));
            let shown = build_context(&talked.0).messages;
            prop_assert_eq!(&shown[1..], kept);
            if round == 0 {
                for record in thread(&more.join(" ")).0 {
                    talked = talked.and(record);
                }
            }
        }
    }
}
