//! Project questions whose answer is not in the words of the question: what an exchange came to, and what replaced it.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::{AskError, AskRequest, DecisionRequest, Engine, ProjectAnswer, SessionScope};
use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::json;

const PROJECT: &str = "/depot";

/// A home with one session for each of these.
fn home_with(sessions: &[TranscriptBuilder]) -> TestHome {
    let home = TestHome::new();
    for (number, session) in (1..).zip(sessions) {
        let id = format!("{number:08x}-0000-4000-8000-00000000d0d0");
        let text = session.clone().build().replace("SESSION", &id);
        home.write(&format!(".claude/projects/-depot/{id}.jsonl"), text);
    }
    home.sync();
    home
}

/// A session at this minute of a day.
fn session(minute: i64) -> TranscriptBuilder {
    let start = format!("2026-03-01T10:{minute:02}:00Z").parse().unwrap();
    TranscriptBuilder::new("SESSION").cwd(PROJECT).times(start, 5)
}

fn change(session: TranscriptBuilder, path: &str, old: &str, new: &str) -> TranscriptBuilder {
    let input = json!({"file_path": format!("{PROJECT}/{path}"), "old_string": old, "new_string": new});
    session.tool_call("toolu_SESSION-edit", "Edit", &input).tool_result("toolu_SESSION-edit", "done", false)
}

fn answer(engine: &Engine, question: &str) -> ProjectAnswer {
    let request = AskRequest { question: question.to_owned(), ..AskRequest::default() };
    engine.questions().ask_project(&request, &SessionScope::Project(PROJECT.to_owned())).unwrap().answer
}

/// The first item of the answer, on one line.
fn first(home: &TestHome, question: &str) -> String {
    let answer = answer(&home.engine(), question);
    answer.items.first().map_or_else(String::new, rethread_engine::AnswerItem::to_line)
}

fn check(home: &TestHome, question: &str, expected: &str) {
    let line = first(home, question);
    assert!(line.contains(expected), "{question}: {line}");
}

#[test]
fn the_fix_leads_where_the_search_found_its_exchange() {
    // S003-22, D41
    let failed = "Error: listen EADDRINUSE: address already in use :::4100";
    let ports = session(1)
        .user("run the label printer service")
        .command("npm run e2e", failed, true)
        .command("fuser -k 4100/tcp", "", false)
        .command("npm run e2e", "12 passing", false)
        .assistant("Something else was still holding the port of the label printer service; it runs now.");
    let planner =
        session(2).user("the planner test is red").command("npm test", "AssertionError: expected 3 to equal 4", true);
    let planner = change(planner, "src/planner.ts", "slice(1)", "slice(0)")
        .command("npm test", "12 passing", false)
        .assistant("The planner skipped the first stop of every tour.");
    let home = home_with(&[ports, planner]);
    for question in [
        "how did we get the label printer service to run?",
        "label printer service did not run, port taken - what did we do",
        "address already in use :::4100",
    ] {
        check(&home, question, "Fixed by running `fuser -k 4100/tcp`, verified by `npm run e2e`");
    }
    // The error itself has no word of the question.
    check(&home, "how did we fix the planner that skipped a stop?", "Fixed by changing src/planner.ts: slice(1) → ");
}

#[test]
fn what_came_of_a_discussion_is_quoted_with_it() {
    let sms = session(1)
        .user("for texting customers: Sendly or Pingbird?")
        .assistant("Sendly has better docs, Pingbird costs half as much in the Benelux.")
        .user("the cheaper one, we hardly send anything abroad")
        .assistant("The sender is in src/sms.ts.");
    let blank = session(2)
        .user("the labels of the thermal printers come out blank")
        .assistant("The template looks fine. It may be the encoding, or the darkness setting.")
        .user("found it: the firmware at the depot ignores CI28, it has to be CI27")
        .assistant("It sends CI27 now.");
    let home = home_with(&[sms, blank]);
    check(&home, "thinking of Sendly for the reminders, any objections?", "the cheaper one");
    check(&home, "whats the outcome of the Pingbird discussion", "the cheaper one");
    check(&home, "why were the thermal labels blank?", "ignores CI28");
    let line = first(&home, "why were the thermal labels blank?");
    assert!(line.contains("The user said: \"the labels of the thermal printers"), "a statement is not asked: {line}");
    let line = first(&home, "should I use Pingbird?");
    assert!(line.contains("The user asked: \"for texting customers"), "{line}");
}

#[test]
fn later_decisions_come_before_those_they_replaced() {
    // D41
    let home = home_with(&[
        session(1)
            .user("let's go with mongodb for the audit log, the entries are all shaped differently")
            .assistant("The audit log writes to mongodb."),
        session(9)
            .user("no mongodb for the audit log anymore, use postgres instead. one database is enough")
            .assistant("The audit log is a table now."),
    ]);
    for question in ["should I use mongodb for the audit log?", "what did we decide about the audit log?"] {
        check(&home, question, "postgres");
    }
}

#[test]
fn options_of_a_form_that_were_not_selected_are_known() {
    let asked = "Which library should talk to the database?";
    let options = json!([{"label": "sqlc"}, {"label": "GORM"}, {"label": "ent"}]);
    let questions = json!([{"question": asked, "options": options, "multiSelect": false}]);
    let session = session(1).user("ask me what is unclear");
    let call = session.tool_call("toolu_form", "AskUserQuestion", &json!({"questions": questions}));
    let result = json!({
        "type": "user",
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_form", "content": "answered"},
        ]},
        "toolUseResult": {"questions": questions, "answers": {asked: "sqlc"}},
    });
    let home = home_with(&[call.line(result).assistant("I will use that.")]);
    check(&home, "can I use GORM for this?", "→ sqlc (not GORM, ent)");
    check(&home, "sqlc or ent?", "→ sqlc");
}

/// A session in which a tool returns a plan with this text.
fn session_with_plan(tool: &str, said: &str, plan: &str) -> TranscriptBuilder {
    let call = session(1).user("plan the storage").tool_call("toolu_plan", tool, &json!({"plan": plan}));
    let result = json!({
        "type": "user",
        "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_plan", "content": said},
        ]},
        "toolUseResult": {"plan": plan, "isAgent": false, "filePath": "/plans/a.md"},
    });
    call.line(result).assistant("Starting.")
}

#[test]
fn an_approved_plan_is_decided_and_its_secrets_are_removed() {
    let filler = "The store is slow and has to be split. ".repeat(400);
    let secret = format!("sk-ant-api03-{}", "abcDEF123_".repeat(9));
    let start = "# Store\n\n## Approach\n\nOne Lindwurm table per tenant.\n\n## Context\n";
    let (cut, rest) = filler.split_at(7_930 - start.len());
    let plan = format!("{start}{cut}\nkey {secret}\n{rest}");
    let home = home_with(&[session_with_plan(
        "ExitPlanMode",
        "User has approved your plan. You can now start coding.",
        &plan,
    )]);
    check(&home, "what did we decide about the Lindwurm table?", "One Lindwurm table per tenant");
    let stored = home.stored_bytes();
    let holds = |part: &[u8]| stored.windows(part.len()).any(|window| window == part);
    assert!(!holds(b"sk-ant-api03-abcDEF"));
    // Another tool may return a plan too, without an approval.
    let home = home_with(&[session_with_plan("mcp__board__plan", "{}", &plan)]);
    let decisions = home.engine().facts().decisions(&DecisionRequest::default()).unwrap();
    assert!(decisions.iter().all(|decision| !decision.statement.contains("Lindwurm")));
}

#[test]
fn unusual_questions_get_an_answer_or_none() {
    let home = home_with(&[session(1)
        .user("why not Kafka? NATS wins: one binary, and we need no zookeeper")
        .assistant("The bus uses NATS.")]);
    let engine = home.engine();
    for question in
        ["warum haben wir NATS genommen?", "我们为什么选择NATS？", "why \"NATS\" `and` not \\ 'x'\u{1b}[31m\u{7}?"]
    {
        let answer = answer(&engine, question);
        assert!(answer.to_markdown().contains("one binary"), "{question}: {}", answer.to_markdown());
        assert!(!answer.to_markdown().contains('\u{1b}'));
    }
    for question in ["?", "🚀", "-", "why did we drop redis?"] {
        assert!(answer(&engine, question).is_empty(), "{question}");
    }
    for question in [String::new(), " \n ".to_owned(), "why ".repeat(1_250)] {
        let request = AskRequest { question, ..AskRequest::default() };
        let refused = engine.questions().ask_project(&request, &SessionScope::AllProjects);
        assert!(matches!(refused, Err(AskError::InvalidArgs(_))));
    }
    let long = format!("why NATS? {}", "lorem ipsum ".repeat(300));
    assert!(answer(&engine, &long).items.len() <= 4);
}
