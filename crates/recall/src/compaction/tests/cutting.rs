//! Tests of where a thread is cut.

use proptest::prelude::*;
use rethread_model::thread::{ChatMessage, ChatRole};
use serde_json::json;

use super::{TestThreadRecords, long, valid_summary};
use crate::compaction::cut::first_kept_index;
use crate::context::build_context;
use crate::pairs::{pair_tool_results, result_indexes};

/// Builds a thread from a sketch: `u` user, `a` answer, `a:1,2` answer with calls, `r:1` result; ten tokens each, `U` a
/// user message of a hundred.
fn thread(script: &str) -> TestThreadRecords {
    let text = long(10);
    script.split_whitespace().fold(TestThreadRecords::default(), |thread, script| {
        let (kind, ids) = script.split_once(':').unwrap_or((script, ""));
        let ids: Vec<_> = ids.split(',').filter(|id| !id.is_empty()).map(|id| (id, "", json!({}))).collect();
        match kind {
            "u" => thread.user(&text),
            "U" => thread.user(&long(100)),
            "r" => thread.result(ids.first().map_or("", |(id, ..)| id), &text),
            _ => thread.assistant_with_calls(&text, &ids),
        }
    })
}

/// `expect` is the number of the first kept message; zero if there is nothing to do.
fn check(script: &str, keep_recent: u64, expect: u64) {
    let planned = thread(script).plan(keep_recent);
    assert_eq!(planned.map_or(0, |plan| plan.first_kept_seq), expect, "{script}");
}

#[test]
fn the_cut_is_the_nearest_cut_point_at_or_after() {
    // S004-18
    check("u a u a u a", 20, 5);
    check("u a u a u a", 10, 6);
    check("u a u a u a", 25, 4);
    check("u a u a u a", 0, 6);
    check("u a:1 r:1 a u a", 35, 4);
}

#[test]
fn a_call_and_its_result_are_never_separated() {
    // S7.13
    check("u a a:1 r:1", 10, 3);
    check("u a a:1 r:1 a u", 30, 5);
    check("u a a:1,2 r:1 r:2", 10, 3);
    check("u a a:1,2 r:1 r:2", 20, 3);
}

#[test]
fn parallel_calls_and_late_results_stay_together() {
    // L004-07
    check("u a a:1,2 r:2 u r:1 a u a", 50, 7);
    check("u a a:1,2 r:2 u r:1", 15, 3);
    check("u a a:1 a:2 r:1 r:2 u", 35, 7);
    // A reused id does not bind the messages in between.
    check("u a:0 r:0 u a:0 r:0", 25, 4);
}

#[test]
fn a_pending_call_stays_with_what_follows() {
    // S004-19
    check("u a a:1 u", 10, 3);
    check("u a a:1,2 r:1", 10, 3);
    check("u a:1", 10, 2);
    // The model continued without this result.
    check("u a:1 u a u a", 20, 5);
}

#[test]
fn below_keep_recent_there_is_nothing_to_do() {
    // L004-08
    check("u a u a", 41, 0);
    check("u a u a", 40, 0);
    check("", 0, 0);
    check("u", 0, 0);
    check("a:1 r:1", 10, 0);
}

#[test]
fn arguments_count_toward_the_kept_tokens() {
    // L004-05
    let thread = TestThreadRecords::default()
        .user("hi")
        .assistant_with_calls("", &[("1", "write", json!({"path": "a", "content": long(500)}))])
        .result("1", "done")
        .user("go on");
    let planned = thread.plan(400).unwrap();
    assert_eq!(planned.first_kept_seq, 2, "the texts alone are below keep_recent");
}

#[test]
fn one_huge_turn_is_cut_at_an_answer() {
    // E004-26
    check("u a:1 r:1 a:2 r:2 a:3 r:3", 20, 6);
    let planned = thread("u a u a:1 r:1 a:2 r:2 a:3 r:3").plan(20).unwrap();
    assert_eq!((planned.history.len(), planned.turn_prefix.len()), (2, 5));
    let planned = thread("u a u u a:1 r:1 a:2 r:2").plan(20).unwrap();
    assert_eq!((planned.history.len(), planned.turn_prefix.len()), (2, 4), "one request in two messages");
    let planned = thread("u a u a").plan(20).unwrap();
    assert_eq!((planned.history.len(), planned.turn_prefix.len()), (2, 0));
}

#[test]
fn right_after_a_compaction_there_is_nothing_to_do() {
    // E004-27
    let thread = thread("u a u a u a u a");
    let planned = thread.plan(40).unwrap();
    assert_eq!((planned.first_kept_seq, planned.tokens_before), (5, 40));
    let compacted = thread.compacted(&planned, &valid_summary("x"));
    assert_eq!(compacted.plan(40), None);
    let with_little = compacted.user("ok");
    assert_eq!(with_little.plan(40), None);
    let with_more = with_little.assistant(&long(10)).user(&long(10)).assistant(&long(10));
    assert_eq!(with_more.plan(40).map(|plan| plan.first_kept_seq), Some(8));
}

#[test]
fn a_huge_message_that_could_not_be_cut_is_cut_next_time() {
    // E004-27
    let thread = thread("u a a:1").result("1", &long(1000));
    let planned = thread.plan(100).unwrap();
    assert_eq!(planned.first_kept_seq, 3);
    let later = thread.compacted(&planned, &valid_summary("x")).assistant("ok").user("go on");
    assert_eq!(later.plan(100).map(|plan| plan.first_kept_seq), Some(6), "the answer after the result is a cut point");
}

#[test]
fn only_messages_still_in_the_context_are_considered() {
    // L004-06
    let thread = thread("u a u a u a");
    let planned = thread.plan(20).unwrap();
    let later = thread.compacted(&planned, &valid_summary("x")).user(&long(10)).assistant(&long(10)).user(&long(10));
    let planned = later.plan(20).unwrap();
    assert_eq!(planned.tokens_before, 30, "messages 5, 6 and 8");
    assert_eq!((planned.history.len(), planned.turn_prefix.len(), planned.first_kept_seq), (2, 1, 9));
    assert!(planned.is_update());
}

#[test]
fn the_context_matches_the_plan() {
    // S7.11
    let thread = thread("u a u a:1 r:1 a u");
    let planned = thread.plan(35).unwrap();
    assert_eq!(planned.first_kept_seq, 4);
    let context = build_context(&thread.compacted(&planned, "S").0);
    assert_eq!(context.messages.len(), 1 + 4);
    assert!(context.messages[0].text().contains("<summary>\nS\n</summary>"));
}

/// Whether the cut separates a result from its call.
fn separates(messages: &[ChatMessage], cut: usize) -> bool {
    let answers = result_indexes(messages);
    answers[..cut].iter().flatten().any(|result| result.is_some_and(|result| result >= cut))
}

proptest! {
    #[test]
    fn no_plan_separates_a_pair(
        script in proptest::collection::vec("u|U|a|a:[0-4]|a:[0-4],[5-7]|a:8,9|r:[0-9]|r:[0-4]", 0..40),
        keep_recent in 0_u64..300,
        more in proptest::collection::vec("u|a|a:[0-4]|a:8,9|r:[0-9]", 0..30),
    ) {
        // S7.13
        let mut talked = thread(&script.join(" "));
        for round in 0..2 {
            let context = build_context(&talked.0);
            let messages = &context.messages[usize::from(context.compaction_seq.is_some())..];
            let Some(planned) = talked.plan(keep_recent) else { break };
            let cut = first_kept_index(messages, keep_recent).unwrap_or_default();
            prop_assert!(cut > 0);
            prop_assert!(messages[cut].role != ChatRole::ToolResult);
            prop_assert!(!separates(messages, cut));
            prop_assert_eq!(planned.history.len() + planned.turn_prefix.len(), cut);
            let (before, kept) = messages.split_at(cut);
            // Pairing the halves separately equals pairing the whole: the cut added and dropped nothing.
            let apart = [pair_tool_results(before.to_vec()), pair_tool_results(kept.to_vec())].concat();
            prop_assert_eq!(apart, pair_tool_results(messages.to_vec()));
            talked = talked.compacted(&planned, &valid_summary("x"));
            let shown = build_context(&talked.0).messages;
            prop_assert_eq!(&shown[1..], kept);
            if round == 0 {
                for record in thread(&more.join(" ")).0 {
                    talked = talked.with_record(record);
                }
            }
        }
    }
}
