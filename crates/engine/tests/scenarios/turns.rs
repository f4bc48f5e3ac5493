//! Turns in threads: what is sent to the model, what is logged, what is spent.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rethread_engine::{
    BudgetRefusal, ChatError, Engine, EngineError, Environment, NewMessage, NewThread, SendRequest, ToolDefinition,
    TurnEvent, TurnReport,
};
use rethread_model::Tokens;
use rethread_model::thread::{ChatRole, ContentBlock, StopReason, ThreadMessage, ThreadRecord};
use rethread_testing::{StubModel, StubReply, TestHome, skips_server_store};
use serde_json::{Value, json};

/// An engine with this model, a budget, and more settings.
pub(crate) fn engine(home: &TestHome, server: &StubModel, more: &[(&str, &str)]) -> Engine {
    Engine::open(environment(home, server, more)).unwrap()
}

pub(crate) fn environment(home: &TestHome, server: &StubModel, more: &[(&str, &str)]) -> Environment {
    let mut environment = home.environment();
    environment.config_overrides.extend(server.settings());
    let settings = [("threads.titles", "false")].into_iter().chain(more.iter().copied());
    environment.config_overrides.extend(settings.map(|(key, value)| (key.to_owned(), value.to_owned())));
    environment
}

pub(crate) fn thread(engine: &Engine) -> String {
    engine.threads().create(&NewThread::default()).unwrap().id.to_string()
}

pub(crate) fn send(engine: &Engine, thread: &str, text: &str) -> Result<TurnReport, EngineError> {
    let request = SendRequest { text: Some(text.to_owned()), ..SendRequest::default() };
    engine.turns().send(thread, &request, &|| false, &mut |_| {})
}

pub(crate) fn log(home: &TestHome, thread: &str) -> Vec<ThreadRecord> {
    let bytes = home.engine().threads().export(thread).unwrap();
    let records = bytes.split(|byte| *byte == b'\n').filter_map(|line| ThreadRecord::parse(line).ok());
    records.filter(|record| !matches!(record, ThreadRecord::Settings(_))).collect()
}

fn messages(home: &TestHome, thread: &str) -> Vec<(ChatRole, String)> {
    log(home, thread).iter().filter_map(ThreadRecord::message).map(|message| (message.role, message.text())).collect()
}

fn append(engine: &Engine, thread: &str, role: ChatRole, text: &str) -> ThreadMessage {
    let content = vec![ContentBlock::text(text)];
    let message = NewMessage { role, content, tool_call_id: None, is_error: false, client_id: None };
    engine.threads().open(thread).unwrap().append(message).unwrap()
}

#[test]
fn turn_is_logged_with_its_usage() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("It is the weekday table.")]);
    let engine = engine(&home, &server, &[]);
    let id = engine
        .threads()
        .create(&NewThread { system_prompt: Some("Be brief.".into()), ..NewThread::default() })
        .unwrap()
        .id;
    let partial = Mutex::new(String::new());
    let request = SendRequest { text: Some("why Tuesdays?".into()), ..SendRequest::default() };
    let report = engine.turns().send(&id.to_string(), &request, &|| false, &mut |event| {
        if let TurnEvent::Delta(text) = event {
            partial.lock().unwrap().push_str(text);
        }
    });
    let report = report.unwrap();
    assert_eq!(partial.into_inner().unwrap(), "It is the weekday table.");
    assert_eq!((report.stop, report.messages.len()), (StopReason::End, 2));
    let records = log(&home, &id.to_string());
    let answer = records[1].message().unwrap();
    assert_eq!(answer.usage, Some(Tokens { input: 30, output: 7, ..Tokens::default() }));
    assert_eq!((answer.model.as_deref(), answer.stop_reason), (Some("small"), Some(StopReason::End)));
    assert_eq!(records[0].message().unwrap().run_id, answer.run_id);
    let sent = &server.bodies()[0];
    assert_eq!(sent["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(sent["messages"][1]["content"], "why Tuesdays?");
    // E004-14, S7.4: the metadata of the thread.
    let metadata = &engine.threads().list().unwrap().threads[0];
    assert_eq!((metadata.message_count, metadata.metrics.turns, metadata.metrics.tokens.total()), (2, 1, 37));
    let budget = engine.reports().status().unwrap().budget;
    assert_eq!((budget.requests, budget.tokens), (1, 37));
}

#[test]
fn no_budget_sends_and_writes_nothing() {
    let home = TestHome::new();
    let server = StubModel::with_replies(Vec::new());
    for (settings, named) in [
        (vec![("budget.daily_tokens", "0")], "budget.daily_tokens"),
        (vec![("budget.daily_tokens", "100")], "budget.daily_tokens"),
        (vec![("budget.call_tokens", "100")], "budget.call_tokens"),
    ] {
        let engine = engine(&home, &server, &settings);
        let thread = thread(&engine);
        let refused = send(&engine, &thread, "hello").unwrap_err();
        assert!(matches!(refused, EngineError::Chat(ChatError::Budget(_))), "{refused}");
        assert!(refused.to_string().contains(named), "{refused}");
        assert!(log(&home, &thread).is_empty());
        let plan = engine.turns().plan(&thread, &SendRequest::default()).unwrap();
        assert!(plan.refusal_reason.is_some_and(|why| why.contains(named)));
    }
    assert!(server.bodies().is_empty());
}

#[test]
fn daily_budget_counts_actual_usage() {
    let home = TestHome::new();
    let server = StubModel::with_replies(Vec::new());
    // Enough for one worst case and for a few actual turns.
    let more = [("budget.daily_tokens", "1300"), ("model.max_output_tokens", "900")];
    let engine = engine(&home, &server, &more);
    let thread = thread(&engine);
    let refused = (0..100).find_map(|_| send(&engine, &thread, "on and on").err()).unwrap();
    let turns = server.bodies().len() as u64;
    assert!((1..20).contains(&turns), "{turns}");
    let expected = 37 * turns;
    assert!(
        matches!(refused, EngineError::Chat(ChatError::Budget(BudgetRefusal::DailyTokens { spent, .. })) if spent == expected),
        "{refused:?}"
    );
}

#[test]
fn unknown_price_refuses_a_dollar_budget() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("cheap")]);
    let far = [("model.endpoint", "https://model.example.com/v1"), ("budget.daily_usd", "5")];
    let engine = engine(&home, &server, &far);
    let thread = thread(&engine);
    let refused = send(&engine, &thread, "hello").unwrap_err();
    assert!(matches!(refused, EngineError::Chat(ChatError::Budget(BudgetRefusal::UnknownPrice { .. }))), "{refused:?}");
    // Input and output price are both needed, and for this very model.
    let half = self::engine(&home, &server, &[far[0], far[1], ("model.price_output", "10")]);
    assert!(half.turns().plan(&thread, &SendRequest::default()).unwrap().refusal_reason.is_some());
    let whole = [far[0], far[1], ("model.price_output", "10"), ("model.price_input", "1")];
    let whole = self::engine(&home, &server, &whole);
    assert!(whole.turns().plan(&thread, &SendRequest::default()).unwrap().refusal_reason.is_none());
    let other = whole.threads().create(&NewThread { model: Some("large".into()), ..NewThread::default() }).unwrap().id;
    assert!(whole.turns().plan(&other.to_string(), &SendRequest::default()).unwrap().refusal_reason.is_some());
    // A model on this machine is free.
    let near = self::engine(&home, &server, &[("budget.daily_usd", "5")]);
    assert_eq!(send(&near, &thread, "hello").unwrap().cost.map(rethread_engine::NanoUsd::get), Some(0));
}

#[test]
fn concurrent_turns_are_queued_and_never_interleaved() {
    // S7.10
    let home = TestHome::new();
    let server = StubModel::with_replies(Vec::new());
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (engine, thread) = (self::engine(&home, &server, &[]), thread.clone());
            scope.spawn(move || send(&engine, &thread, &format!("text {number}")).unwrap());
        }
    });
    let records = log(&home, &thread);
    assert_eq!(records.len(), 8);
    for turn in records.chunks(2) {
        let (prompt, answered) = (turn[0].message().unwrap(), turn[1].message().unwrap());
        assert_eq!((prompt.role, answered.role), (ChatRole::User, ChatRole::Assistant));
        assert_eq!(prompt.run_id, answered.run_id);
    }
    drop(engine);
}

#[test]
fn partial_answer_is_stored_after_a_stop() {
    // L004-10
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::Stall("half an ans")]);
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    let stop = AtomicBool::new(false);
    let request = SendRequest { text: Some("tell me".into()), ..SendRequest::default() };
    let report = engine.turns().send(&thread, &request, &|| stop.load(Ordering::Relaxed), &mut |event| {
        if matches!(event, TurnEvent::Delta(_)) {
            stop.store(true, Ordering::Relaxed);
        }
    });
    assert_eq!(report.unwrap().stop, StopReason::Aborted);
    assert_eq!(messages(&home, &thread)[1], (ChatRole::Assistant, "half an ans".to_owned()));
    // The next turn continues from there.
    server.push(StubReply::text("the other half"));
    send(&engine, &thread, "go on").unwrap();
    assert_eq!(server.bodies()[1]["messages"][2]["content"], "half an ans");
}

#[test]
fn partial_answer_is_stored_after_a_broken_connection() {
    // L004-10
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::CutOff("almost the"), StubReply::Status(400)]);
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    let report = send(&engine, &thread, "tell me").unwrap();
    assert!(report.interruption.is_some() && report.stop == StopReason::Error);
    assert_eq!(messages(&home, &thread)[1].1, "almost the");
    // A refusal leaves only the question in the log.
    assert!(matches!(
        send(&engine, &thread, "again"),
        Err(EngineError::Chat(ChatError::HttpStatus { status: 400, .. }))
    ));
    assert_eq!(messages(&home, &thread).len(), 3);
}

#[test]
fn partial_answer_of_a_killed_process_is_stored_by_the_next() {
    // L004-10
    if skips_server_store("writes the file of a partial answer; the suite of threads tests the rows") {
        return;
    }
    let home = TestHome::new();
    let server = StubModel::with_replies(Vec::new());
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    append(&engine, &thread, ChatRole::User, "tell me");
    let heading = json!({"runId": "RUN", "model": "small", "afterSeq": 1});
    home.write(&format!(".rethread/threads/{thread}/turns/7"), format!("{heading}\nas far as I"));
    append(&engine, &thread, ChatRole::User, "are you there?");
    let records = log(&home, &thread);
    let partial = records[1].message().unwrap();
    assert_eq!((partial.text().as_str(), partial.stop_reason), ("as far as I", Some(StopReason::Aborted)));
    assert_eq!((partial.run_id.as_deref(), records.len()), (Some("RUN"), 3));
    // It is stored once, even if the process that stored it was killed before it removed the file.
    home.write(&format!(".rethread/threads/{thread}/turns/8"), format!("{heading}\nas far as I"));
    append(&engine, &thread, ChatRole::User, "hello?");
    assert_eq!(log(&home, &thread).len(), 4);
}

fn tool(name: &str) -> ToolDefinition {
    ToolDefinition { name: name.to_owned(), description: "looks up".to_owned(), parameters: json!({"type": "object"}) }
}

#[test]
fn caller_tools_wait_for_their_results() {
    let home = TestHome::new();
    let calls = vec![("c1", "weather", json!({"city": "Ulm"})), ("c2", "weather", json!({"city": "Bonn"}))];
    let server = StubModel::with_replies(vec![StubReply::ToolCalls(calls), StubReply::text("Rain.")]);
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    let tools = vec![tool("weather")];
    let request = SendRequest { text: Some("umbrella?".into()), tools: tools.clone(), ..SendRequest::default() };
    let report = engine.turns().send(&thread, &request, &|| false, &mut |_| {}).unwrap();
    assert_eq!(report.stop, StopReason::ToolCalls);
    let waiting: Vec<&str> = report.pending_calls.iter().map(|call| call.id.as_str()).collect();
    assert_eq!(waiting, ["c1", "c2"]);
    let open = engine.threads().open(&thread).unwrap();
    for (call, text, is_error) in [("c2", "no such city", true), ("c1", "rain", false)] {
        let (role, tool_call_id) = (ChatRole::ToolResult, Some(call.to_owned()));
        let message =
            NewMessage { role, content: vec![ContentBlock::text(text)], tool_call_id, is_error, client_id: None };
        assert_eq!(open.append(message).unwrap().tool_name.as_deref(), Some("weather"));
    }
    drop(open);
    let report = engine.turns().send(
        &thread,
        &SendRequest { text: None, tools, ..SendRequest::default() },
        &|| false,
        &mut |_| {},
    );
    assert_eq!(report.unwrap().stop, StopReason::End);
    let sent = server.bodies()[1]["messages"].clone();
    let roles: Vec<&str> = sent.as_array().unwrap().iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "tool"]);
    assert_eq!((&sent[3]["tool_call_id"], &sent[3]["content"]), (&json!("c1"), &json!("rain")));
    let nothing = engine.turns().send(&thread, &SendRequest::default(), &|| false, &mut |_| {});
    assert!(matches!(nothing, Err(EngineError::NothingToAnswer)));
}

#[test]
fn model_can_search_memory() {
    let home = TestHome::new();
    let calls = vec![("m1", "search_memory", json!({"query": "zebra crossing"}))];
    let server = StubModel::with_replies(vec![StubReply::ToolCalls(calls), StubReply::text("We painted it.")]);
    let engine = engine(&home, &server, &[]);
    let past = thread(&engine);
    append(&engine, &past, ChatRole::User, "we painted the zebra crossing yellow");
    engine.threads().sync(past.parse().unwrap()).unwrap();
    let thread = thread(&engine);
    let request = SendRequest { text: Some("the crossing?".into()), can_search_memory: true, ..SendRequest::default() };
    let report = engine.turns().send(&thread, &request, &|| false, &mut |_| {}).unwrap();
    assert_eq!((report.stop, report.messages.len(), report.pending_calls.len()), (StopReason::End, 4, 0));
    let result = report.messages[2].text();
    assert!(result.contains("painted the zebra crossing") && result.contains(&past), "{result}");
    assert_eq!(server.bodies()[0]["tools"][0]["function"]["name"], "search_memory");
}

#[test]
fn memory_search_stays_in_the_project() {
    let home = TestHome::new();
    let server = StubModel::with_replies(Vec::new());
    let engine_in = |folder: &str| {
        fs::create_dir_all(home.path(folder).join(".git")).unwrap();
        let mut environment = environment(&home, &server, &[]);
        environment.cwd = home.path(folder);
        Engine::open(environment).unwrap()
    };
    let elsewhere = engine_in("elsewhere");
    let past = thread(&elsewhere);
    append(&elsewhere, &past, ChatRole::User, "the frobnicator plan is purple");
    elsewhere.threads().sync(past.parse().unwrap()).unwrap();
    server.push(StubReply::ToolCalls(vec![("m1", "search_memory", json!({"query": "frobnicator"}))]));
    let engine = engine_in("here");
    let request =
        SendRequest { text: Some("the frobnicator?".into()), can_search_memory: true, ..SendRequest::default() };
    let report = engine.turns().send(&thread(&engine), &request, &|| false, &mut |_| {}).unwrap();
    assert_eq!(report.messages[2].text(), "no results");
}

#[test]
fn abandoned_calls_no_longer_wait() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![
        StubReply::ToolCalls(vec![("c1", "weather", json!({}))]),
        StubReply::text("never mind"),
    ]);
    let engine = engine(&home, &server, &[]);
    let thread = thread(&engine);
    let request =
        SendRequest { text: Some("umbrella?".into()), tools: vec![tool("weather")], ..SendRequest::default() };
    let report = engine.turns().send(&thread, &request, &|| false, &mut |_| {}).unwrap();
    assert_eq!(report.pending_calls.len(), 1);
    assert_eq!(send(&engine, &thread, "forget it").unwrap().pending_calls, []);
    let sent = server.bodies()[1]["messages"].clone();
    assert_eq!(sent[3]["content"], "No result was recorded for this call.");
}

#[test]
fn empty_answer_is_reported_as_empty() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::Text(Vec::new())]);
    let engine = engine(&home, &server, &[]);
    let report = send(&engine, &thread(&engine), "hello?").unwrap();
    assert_eq!((report.stop, report.messages.len()), (StopReason::End, 1));
}

#[test]
fn endless_tool_calls_are_stopped() {
    let home = TestHome::new();
    let server = StubModel::with_replies(
        (0..40).map(|_| StubReply::ToolCalls(vec![("again", "search_memory", json!({"query": "x"}))])).collect(),
    );
    let engine = engine(&home, &server, &[]);
    let request = SendRequest { text: Some("loop".into()), can_search_memory: true, ..SendRequest::default() };
    let report = engine.turns().send(&thread(&engine), &request, &|| false, &mut |_| {}).unwrap();
    assert_eq!((report.stop, server.bodies().len()), (StopReason::ToolCalls, 20));
    assert!(report.is_cut_short);
}

/// A thread that is longer than [`SMALL_WINDOW`].
fn long_thread(engine: &Engine) -> String {
    let thread = thread(engine);
    for number in 0..15 {
        append(engine, &thread, ChatRole::User, &format!("question {number}: {}", "why so long? ".repeat(20)));
        append(engine, &thread, ChatRole::Assistant, &format!("answer {number}: {}", "because of it. ".repeat(20)));
    }
    thread
}

const SMALL_WINDOW: [(&str, &str); 2] = [("model.window", "2800"), ("model.max_output_tokens", "200")];
const SUMMARY: &str = "## Goal\nknow why\n\n## Progress\n### Done\n- [x] asked\n\n## Key Decisions\n- none\n\n## Next Steps\n1. ask\n\n## Critical Context\n- none";

#[test]
fn thread_over_the_window_is_compacted_before_the_turn() {
    // S7.6, S7.11, S7.17
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text(SUMMARY), StubReply::text(SUMMARY)]);
    let engine = engine(&home, &server, &SMALL_WINDOW);
    let thread = long_thread(&engine);
    let bytes = || engine.threads().export(&thread).unwrap();
    let before = bytes();
    let compactions = AtomicUsize::new(0);
    let request = SendRequest { text: Some("and now?".into()), ..SendRequest::default() };
    let sent = engine.turns().send(&thread, &request, &|| false, &mut |event| {
        compactions.fetch_add(usize::from(matches!(event, TurnEvent::Compacted(_))), Ordering::Relaxed);
    });
    sent.unwrap();
    assert_eq!(compactions.into_inner(), 1);
    assert!(bytes().starts_with(&before), "nothing was rewritten");
    let received = server.bodies();
    let prompt = received[0]["messages"][1]["content"].as_str().unwrap();
    assert!(prompt.contains("[User]: question 0") && !prompt.contains("<previous-summary>"));
    let turn = received.last().unwrap();
    let summary = turn["messages"][1]["content"].as_str().unwrap();
    let wrapper = "The conversation history before this point was compacted into the following summary:\n<summary>\n";
    assert!(summary.starts_with(wrapper) && summary.contains("know why"), "{summary}");
    assert_eq!(turn["messages"].as_array().unwrap().last().unwrap()["content"], "and now?");

    // When it has grown again, the summary is updated with only the new messages.
    for number in 15..33 {
        append(&engine, &thread, ChatRole::User, &format!("question {number}: {}", "why so long? ".repeat(20)));
        append(&engine, &thread, ChatRole::Assistant, &format!("answer {number}: {}", "because. ".repeat(20)));
    }
    server.push(StubReply::text(SUMMARY));
    server.push(StubReply::text(SUMMARY));
    send(&engine, &thread, "and then?").unwrap();
    let updated = server.bodies()[received.len()]["messages"][1]["content"].as_str().unwrap().to_owned();
    assert!(updated.contains("<previous-summary>") && !updated.contains("question 0:"), "{updated}");
}

#[test]
fn giant_old_message_is_summarized_and_giant_new_one_refused() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text(SUMMARY); 9]);
    let engine = engine(&home, &server, &SMALL_WINDOW);
    let thread = thread(&engine);
    append(&engine, &thread, ChatRole::User, &"giant ".repeat(3000));
    append(&engine, &thread, ChatRole::Assistant, "I see.");
    let refused = send(&engine, &thread, &"another ".repeat(3000)).unwrap_err();
    assert!(matches!(refused, EngineError::ContextTooLong { window: 2800, .. }), "{refused:?}");
    assert_eq!(messages(&home, &thread).len(), 2, "and nothing was written");
    send(&engine, &thread, "and now?").unwrap();
    let turn = server.bodies().last().unwrap()["messages"].to_string();
    assert!(turn.len() < 6_000 && turn.contains("and now?"), "{} bytes: {turn}", turn.len());
}

#[test]
fn stopped_compaction_has_no_fallback() {
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::Stall("## Go")]);
    let engine = engine(&home, &server, &SMALL_WINDOW);
    let thread = long_thread(&engine);
    let before = log(&home, &thread).len();
    // Stops as soon as the request has arrived.
    let is_stopped = || !server.bodies().is_empty();
    let request = rethread_engine::CompactRequest::default();
    let stopped = engine.turns().compact(&thread, &request, &is_stopped, &mut |_| {}).unwrap_err();
    assert!(matches!(stopped, EngineError::Stopped));
    assert_eq!(log(&home, &thread).len(), before);
}

#[test]
fn failed_summary_does_not_stop_the_turn() {
    // L004-09
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("I would rather chat."), StubReply::text("fine")]);
    let engine = engine(&home, &server, &SMALL_WINDOW);
    let thread = long_thread(&engine);
    send(&engine, &thread, "and now?").unwrap();
    let summary = log(&home, &thread).into_iter().find_map(|record| match record {
        ThreadRecord::Compaction(compaction) => Some(compaction.summary),
        _ => None,
    });
    let summary = summary.unwrap();
    for section in ["## Goal", "## Progress", "## Key Decisions", "## Next Steps", "## Critical Context"] {
        assert!(summary.contains(section), "{section} in {summary}");
    }
}

#[test]
fn model_titles_an_unnamed_thread() {
    // E004-01
    let home = TestHome::new();
    let server = StubModel::with_replies(vec![StubReply::text("fine"), StubReply::text("\"Weekday table trouble\"")]);
    let engine = engine(&home, &server, &[("threads.titles", "true")]);
    let thread = thread(&engine);
    send(&engine, &thread, "why does the parser fail on Tuesdays?").unwrap();
    let id = thread.parse().unwrap();
    assert!(engine.turns().needs_title(id).unwrap());
    assert_eq!(engine.turns().title(id).unwrap().as_deref(), Some("Weekday table trouble"));
    assert_eq!(engine.turns().title(id).unwrap(), None, "only once");
    let unlucky = self::thread(&engine);
    server.push(StubReply::text("fine"));
    server.push(StubReply::text(&"a sentence instead of a title ".repeat(9)));
    send(&engine, &unlucky, "hello").unwrap();
    assert_eq!(engine.turns().title(unlucky.parse().unwrap()).unwrap(), None);
    assert!(!engine.turns().needs_title(unlucky.parse().unwrap()).unwrap(), "no second request is sent");
    assert_eq!(engine.sessions().resolve("weekday table trouble").unwrap().session.id.to_string(), thread);
    let mine = engine.threads().create(&NewThread { name: Some("mine".into()), ..NewThread::default() }).unwrap().id;
    assert!(!engine.turns().needs_title(mine).unwrap());
}

#[test]
fn thread_events_are_logged_without_secrets() {
    // E004-12, E004-13
    let home = TestHome::new();
    let server = StubModel::with_replies(Vec::new());
    let engine = engine(&home, &server, &[]);
    let secret = format!("ghp_{}", "a1B2".repeat(9));
    let calls = vec![("c1", "search_memory", json!({"query": secret}))];
    server.push(StubReply::ToolCalls(calls));
    server.push(StubReply::text("ok"));
    let thread = thread(&engine);
    let request =
        SendRequest { text: Some(format!("use {secret}")), can_search_memory: true, ..SendRequest::default() };
    engine.turns().send(&thread, &request, &|| false, &mut |_| {}).unwrap();
    let mut events = Vec::new();
    for entry in fs::read_dir(home.path(".rethread/logs")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        assert!(!text.contains(&secret));
        events.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["event"].clone()));
    }
    assert_eq!(events, ["session_created", "turn_start", "tool_call", "turn_end"]);
}
