//! Forgotten text is in no stored byte, stays out, and everything else is unchanged.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fmt::Write as _;
use std::fs;

use rethread_engine::{ForgetReport, ForgetTarget, NewMessage, NewThread, SearchRequest};
use rethread_model::Agent;
use rethread_model::thread::{ChatRole, ContentBlock};
use rethread_store::{CardRow, InjectionRow, PendingArchive, SessionQuestion};
use rethread_testing::{
    BRANCHES, CLAUDE_FILE, CLAUDE_SESSION, CONVERSATION, PI_FILE, TestHome, TranscriptBuilder, assert_same_dump,
    files_below, uses_server_store,
};
use serde_json::json;

use crate::session_helpers::{ANNA, BEN, archives, at, engine, hook, key, prompt, store, transcript, work};

const CANARY: &str = "zyxcanaryzyx";

/// The stored files that contain the canary, ignoring case.
/// The files with the canary, and the database if it is on a server.
fn files_with_canary(home: &TestHome) -> Vec<String> {
    let has_canary =
        |bytes: &[u8]| bytes.windows(CANARY.len()).any(|window| window.eq_ignore_ascii_case(CANARY.as_bytes()));
    let files = files_below(&home.path(".rethread")).into_iter().filter(|path| has_canary(&fs::read(path).unwrap()));
    let in_rows = uses_server_store() && has_canary(&home.stored_bytes());
    files.map(|path| path.display().to_string()).chain(in_rows.then(|| "rows".to_owned())).collect()
}

fn forget(home: &TestHome, target: &ForgetTarget) -> ForgetReport {
    let forgotten = engine(home, 600).forget().run(target).unwrap();
    assert_eq!(forgotten.remaining().collect::<Vec<_>>(), Vec::<&_>::new(), "something is left");
    forgotten
}

fn one(reference: &str) -> ForgetTarget {
    ForgetTarget::Sessions(vec![reference.to_owned()])
}

fn matching() -> ForgetTarget {
    ForgetTarget::Matching(CANARY.to_uppercase())
}

fn count(forgotten: &ForgetReport, place: &str) -> u64 {
    forgotten.removed.iter().find(|removed| removed.place == place).map_or(0, |removed| removed.count)
}

fn hits(home: &TestHome, text: &str) -> usize {
    let request = SearchRequest { text: text.to_owned(), limit: 10, ..SearchRequest::default() };
    engine(home, 600).search().run(&request).unwrap().hits.len()
}

/// Anna's session: a harmless episode, one with the canary in prompt, arguments and error, and another harmless one.
fn secret_work(home: &TestHome) {
    work(home, ANNA, 0, "round the discounts", false);
    work(home, ANNA, 2, &format!("why does {CANARY} fail in the cart?"), true);
    let failed_search = TranscriptBuilder::new(ANNA)
        .ids(&format!("{ANNA}-c"))
        .times(at(3), 0)
        .tool_call("toolu_c", "Bash", &json!({"command": format!("grep {CANARY} src")}))
        .tool_result("toolu_c", &format!("no {CANARY}"), true);
    home.append(&transcript(ANNA), failed_search.build());
    work(home, ANNA, 5, "and write the release notes", false);
    let title = json!({"type": "ai-title", "aiTitle": format!("Hunt for {CANARY}"), "sessionId": ANNA});
    home.append(&transcript(ANNA), format!("{title}\n"));
}

/// The canary in everything that is stored about a session, also in injections into Ben's.
fn canary_home() -> TestHome {
    let home = TestHome::new();
    secret_work(&home);
    work(&home, BEN, 1, "write the docs about penguins", false);
    home.sync();
    let morning = engine(&home, 6);
    hook(&home, 6, ANNA, "SessionStart", &json!({"source": "startup"}));
    prompt(&home, 6, ANNA, &format!("more about {CANARY}"));
    prompt(&home, 7, BEN, "what do the others do?");
    morning.lifecycle().add_note(ANNA, &format!("remember {CANARY}")).unwrap();
    morning.lifecycle().set_task(ANNA, &format!("hunt {CANARY}")).unwrap();
    morning.lifecycle().set_name(ANNA, &format!("The {CANARY} hunt")).unwrap();
    morning.lifecycle().set_alias(ANNA, CANARY).unwrap();
    morning.cards().export(ANNA).unwrap();
    morning.lifecycle().end(ANNA).unwrap();
    assert_eq!(archives(&home).len(), 1);
    let log = json!({"at": at(7).to_string(), "event": "trouble", "session": ANNA, "error": format!("about {CANARY}")});
    home.write(".rethread/logs/2026-03-02.jsonl", format!("{}\n{log}\n", json!({"event": "kept"})));
    fs::set_permissions(home.path(".rethread/logs"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    plant(&home);
    home
}

/// Rows that only models and hooks write.
fn plant(home: &TestHome) {
    let mut store = store(home);
    let (number, _) = store.session_by_external_id(key(ANNA)).unwrap().unwrap();
    let change = store.last_change(number).unwrap();
    let asked = SessionQuestion { session: number, change, question: CANARY };
    store.cache_answer(asked, "m", &format!("it is {CANARY}"), at(7)).unwrap();
    let mut batch = store.begin().unwrap();
    let card = CardRow {
        fields_json: json!({"name": CANARY, "description": "", "summary": CANARY, "tags": []}).to_string(),
        model: "m".to_owned(),
        created_at: at(7),
        updated_at: at(7),
        leaf_id: "x".to_owned(),
        prompts: 1,
    };
    batch.save_card(key(ANNA), &card).unwrap();
    let injected = |text: String| InjectionRow {
        at: at(7),
        event: "x".into(),
        text,
        sections_json: "{}".into(),
        text_hash: 1,
        duration_micros: 1,
    };
    batch.add_injection(key(ANNA), &injected(format!("about {CANARY}"))).unwrap();
    batch.add_injection(key(BEN), &injected(format!("- The {CANARY} hunt (1m ago): edited a file"))).unwrap();
    let period = PendingArchive {
        agent: Agent::ClaudeCode,
        external_id: ANNA.to_owned(),
        period: 9,
        file_name: "x".to_owned(),
        content: json!({"task": CANARY}).to_string(),
    };
    batch.add_pending_archive(&period).unwrap();
    batch.commit().unwrap();
}

#[test]
fn forgotten_session_is_in_no_file_and_stays_out() {
    // L003-14
    let home = canary_home();
    assert!(files_with_canary(&home).len() >= 4, "{:?}", files_with_canary(&home));
    let before = files_below(&home.path(".rethread")).len();
    let plan = engine(&home, 600).forget().plan(&one(ANNA)).unwrap();
    assert_eq!(files_below(&home.path(".rethread")).len(), before);
    let forgotten = forget(&home, &one(ANNA));
    assert_eq!(files_with_canary(&home), Vec::<String>::new());
    assert_eq!(plan.removed.len(), forgotten.removed.len(), "a dry run counts the same");
    for place in
        ["entries", "episodes", "cards", "card files", "answers", "injections", "log lines", "archives", "index"]
    {
        assert!(count(&forgotten, place) > 0, "{place}: {:?}", forgotten.removed);
    }
    assert_eq!((forgotten.sessions.len(), forgotten.tombstones), (1, 1));
    assert_eq!(hits(&home, "penguins"), 1, "the others are unchanged");
    assert_eq!(store(&home).statistics().unwrap().empty_sessions, 0, "a forgotten session is not even listed as empty");
    // Nothing comes back by syncing again, by a grown file, by a rebuild or by hooks.
    home.sync();
    work(&home, ANNA, 30, &format!("more {CANARY}"), false);
    home.sync();
    hook(&home, 31, ANNA, "SessionStart", &json!({"source": "resume"}));
    prompt(&home, 31, ANNA, &format!("again {CANARY}"));
    hook(&home, 32, ANNA, "Stop", &json!({"last_assistant_message": CANARY}));
    hook(&home, 33, ANNA, "SessionEnd", &json!({"reason": "other"}));
    engine(&home, 601).maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!((files_with_canary(&home), hits(&home, CANARY), hits(&home, "penguins")), (Vec::new(), 0, 1));
    assert_eq!(engine(&home, 602).maintenance().verify().unwrap().damage, vec![]);
    assert!(engine(&home, 603).sessions().resolve(ANNA).is_err());
}

#[test]
fn forgotten_text_removes_its_episode_and_keeps_the_rest() {
    let home = canary_home();
    let forgotten = forget(&home, &matching());
    assert_eq!(files_with_canary(&home), Vec::<String>::new());
    assert_eq!((forgotten.sessions.len(), forgotten.partial_sessions.len()), (0, 1));
    let session = engine(&home, 600).sessions().resolve(ANNA).unwrap().session;
    assert_eq!((session.counts.prompts, session.counts.episodes), (2, 2));
    assert_eq!(session.name.as_deref(), Some("Round the discounts"));
    let before = home.dump();
    home.sync();
    engine(&home, 601).maintenance().rebuild(&mut |_| {}).unwrap();
    assert_same_dump(&home.dump(), &before);
    assert_eq!((files_with_canary(&home), hits(&home, CANARY), hits(&home, "penguins")), (Vec::new(), 0, 1));
    work(&home, ANNA, 30, "and publish them", false);
    home.sync();
    assert_eq!(engine(&home, 602).sessions().resolve(ANNA).unwrap().session.counts.prompts, 3, "the session continues");
}

#[test]
fn text_is_forgotten_even_without_its_transcript() {
    let home = canary_home();
    fs::remove_file(home.path(&transcript(ANNA))).unwrap();
    home.sync();
    forget(&home, &matching());
    assert_eq!(files_with_canary(&home), Vec::<String>::new());
    let session = engine(&home, 600).sessions().resolve(ANNA).unwrap().session;
    assert_eq!((session.counts.prompts, session.counts.episodes), (2, 2));
    assert_eq!(session.name.as_deref(), Some("Round the discounts"));
    let before = home.dump();
    engine(&home, 601).maintenance().rebuild(&mut |_| {}).unwrap();
    assert_same_dump(&home.dump(), &before);
    assert_eq!(hits(&home, "release notes"), 1);
}

#[test]
fn interrupted_forget_is_finished_by_the_next_sync() {
    finished_after_a_kill(|home| drop(home.sync()));
}

#[test]
fn interrupted_forget_is_finished_by_another_forget() {
    finished_after_a_kill(|home| {
        assert!(engine(home, 602).forget().run(&one(ANNA)).is_err(), "the session is unknown now");
    });
    finished_after_a_kill(|home| {
        let nothing = ForgetTarget::Before("2020".to_owned());
        assert!(engine(home, 602).forget().run(&nothing).unwrap().is_empty());
    });
}

fn finished_after_a_kill(finish: impl Fn(&TestHome)) {
    let home = canary_home();
    let mut store = store(&home);
    let (_, session) = store.session_by_external_id(key(ANNA)).unwrap().unwrap();
    let doomed = store.sessions_with_descendants(&[session.id]).unwrap();
    let marks = store.mention_matcher(&doomed).unwrap();
    let mut batch = store.begin_secure_delete().unwrap();
    batch.forget_sessions(&doomed, &marks, at(600)).unwrap();
    batch.commit().unwrap();
    assert!(store.needs_wipe().unwrap());
    drop(store);
    assert_eq!(hits(&home, CANARY), 0, "search finds nothing that is missing from the store");
    let damage = engine(&home, 601).maintenance().verify().unwrap().damage;
    assert_eq!(
        damage.iter().map(|damage| damage.check).collect::<Vec<_>>(),
        ["forgotten text is erased from the files"]
    );
    assert!(
        engine(&home, 601)
            .reports()
            .doctor()
            .unwrap()
            .findings
            .iter()
            .any(|it| it.message.contains("forgotten text is not yet erased"))
    );
    finish(&home);
    let bytes = [".rethread/memory.db", ".rethread/index"].map(|place| home.path(place).display().to_string());
    let held: Vec<String> =
        files_with_canary(&home).into_iter().filter(|file| bytes.iter().any(|it| file.starts_with(it))).collect();
    assert_eq!(held, Vec::<String>::new());
    assert!(!crate::session_helpers::store(&home).needs_wipe().unwrap());
}

#[test]
fn threads_lose_their_log_and_parents_their_children() {
    let home = TestHome::new();
    let engine = home.engine();
    let threads = [format!("about {CANARY}"), "about penguins".to_owned()].map(|text| {
        let id = engine.threads().create(&NewThread::default()).unwrap().id;
        let content = vec![ContentBlock::Text(text)];
        let message =
            NewMessage { role: ChatRole::User, content, tool_call_id: None, is_error: false, client_id: None };
        engine.threads().open(&id.to_string()).unwrap().append(message).unwrap();
        engine.threads().sync(id).unwrap();
        id
    });
    let plan = engine.forget().plan(&matching()).unwrap();
    assert_eq!((plan.threads.as_slice(), plan.sessions.len()), (&threads[..1], 1));
    forget(&home, &matching());
    home.sync();
    assert_eq!((files_with_canary(&home), hits(&home, "penguins")), (Vec::new(), 1));
    assert!(!home.path(&format!(".rethread/threads/{}", threads[0])).exists());

    let family = TestHome::new();
    family.write(CLAUDE_FILE, CONVERSATION);
    family.write(".claude/projects/-home-dev-parser/agent-a1b2c3d4.jsonl", rethread_testing::SUB_AGENT);
    family.write(PI_FILE, BRANCHES);
    family.sync();
    assert!(forget(&family, &one(CLAUDE_SESSION)).sessions.len() > 1, "sub-agents are forgotten too");
    family.sync();
    assert_eq!(
        family
            .engine()
            .sessions()
            .list(&rethread_engine::SessionListRequest {
                include_children: true,
                ..rethread_engine::SessionListRequest::default()
            })
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn copy_of_a_forgotten_session_does_not_restore_it() {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    assert!(hits(&home, "lexer") > 0);
    forget(&home, &one(CLAUDE_SESSION));
    home.write(&transcript(BEN), CONVERSATION.replace(CLAUDE_SESSION, BEN));
    work(&home, BEN, 40, "go on with the penguins", false);
    home.sync();
    assert_eq!((hits(&home, "lexer"), hits(&home, "penguins")), (0, 1));
}

#[test]
fn forget_selects_by_time_and_project() {
    let home = canary_home();
    let all = |target: ForgetTarget| engine(&home, 600).forget().plan(&target).unwrap();
    assert_eq!(all(ForgetTarget::Before("2026-03-01".to_owned())).sessions.len(), 0);
    assert_eq!(all(ForgetTarget::Before("2026-03-03".to_owned())).sessions.len(), 2);
    assert_eq!(all(ForgetTarget::Project("/app".into())).sessions.len(), 2);
    assert!(all(ForgetTarget::Project("/elsewhere".into())).is_empty());
    assert!(all(ForgetTarget::Matching("no such text anywhere".to_owned())).is_empty());
    assert!(engine(&home, 600).forget().run(&ForgetTarget::Matching(" ".to_owned())).is_err());
    assert!(engine(&home, 600).forget().run(&one("no such session")).is_err());
}

#[test]
fn injections_about_a_forgotten_session_are_removed() {
    let home = canary_home();
    let elsewhere = "cccc1011-0000-4000-8000-00000000000c";
    let stranger = "dddd1011-0000-4000-8000-00000000000d";
    work(&home, elsewhere, 1, "paint the fence", false);
    let moved = fs::read_to_string(home.path(&transcript(elsewhere))).unwrap().replace("/app", "/fence");
    home.write(&transcript(elsewhere), moved);
    home.sync();
    let mut store = store(&home);
    let mut batch = store.begin().unwrap();
    let injection = |minutes: i64| InjectionRow {
        at: at(minutes),
        event: "x".into(),
        text: "- ab: edited src/cart.rs, ran cargo test".into(),
        sections_json: "{}".into(),
        text_hash: 1,
        duration_micros: 1,
    };
    for (session, minutes) in [(BEN, -5), (BEN, 8), (stranger, 8), (elsewhere, 8)] {
        batch.add_injection(key(session), &injection(minutes)).unwrap();
    }
    batch.commit().unwrap();
    drop(store);
    let plan = engine(&home, 600).forget().plan(&one(ANNA)).unwrap();
    let forgotten = forget(&home, &one(ANNA));
    assert_eq!(count(&plan, "injections"), count(&forgotten, "injections"), "a dry run counts the same");
    let left = |session: &str| crate::session_helpers::store(&home).injections(key(session), 10).unwrap().len();
    assert_eq!((left(BEN), left(stranger), left(elsewhere)), (1, 0, 1), "injections from before its start stay");
}

#[test]
fn text_found_only_in_a_path_is_kept_and_reported() {
    let home = canary_home();
    let target = ForgetTarget::Matching("projects/-app".to_owned());
    let plan = engine(&home, 600).forget().plan(&target).unwrap();
    assert!(!plan.is_empty());
    assert_eq!(plan.retained.get("paths of sessions"), Some(&2), "{:?}", plan.retained);
    let left = engine(&home, 600).forget().run(&target).unwrap();
    let places: Vec<&str> = left.remaining().map(|left| left.place).collect();
    assert_eq!(places, ["paths of sessions", "paths of transcripts"]);
}

#[test]
fn branch_name_is_forgotten_and_stays_out() {
    for is_there in [true, false] {
        let home = TestHome::new();
        work(&home, BEN, 1, "write the docs about penguins", false);
        let path = home.path(&transcript(BEN));
        let secret = fs::read_to_string(&path).unwrap().replace("\"main\"", &format!("\"fix-{CANARY}\""));
        fs::write(&path, &secret).unwrap();
        home.sync();
        let branch = || engine(&home, 600).sessions().resolve(BEN).unwrap().session.branch;
        assert_eq!(branch(), Some(format!("fix-{CANARY}")));
        if !is_there {
            fs::remove_file(&path).unwrap();
        }
        assert!(!engine(&home, 600).forget().plan(&matching()).unwrap().is_empty());
        forget(&home, &matching());
        assert_eq!((branch(), files_with_canary(&home)), (None, Vec::new()));
        fs::write(&path, secret.clone() + &secret.replace("1-1", "9-1")).unwrap();
        home.sync();
        engine(&home, 601).maintenance().rebuild(&mut |_| {}).unwrap();
        assert_eq!((branch(), files_with_canary(&home), hits(&home, "penguins") > 0), (None, Vec::new(), true));
    }
}

#[test]
fn result_without_its_call_is_forgotten_by_text() {
    let home = TestHome::new();
    work(&home, BEN, 1, "write the docs about penguins", false);
    let orphan = TranscriptBuilder::new(BEN).ids("orphan").times(at(3), 0);
    let orphan = orphan.tool_result("toolu_x", &format!("no {CANARY}"), true);
    home.append(&transcript(BEN), orphan.build());
    home.sync();
    assert!(!files_with_canary(&home).is_empty());
    forget(&home, &matching());
    engine(&home, 601).maintenance().rebuild(&mut |_| {}).unwrap();
    assert_eq!((files_with_canary(&home), hits(&home, "penguins")), (Vec::new(), 1));
}

#[test]
fn fork_of_a_forgotten_session_does_not_restore_it() {
    let home = TestHome::new();
    work(&home, ANNA, 0, "round the discounts", false);
    home.sync();
    forget(&home, &one(ANNA));
    work(&home, ANNA, 2, &format!("what is {CANARY}?"), false);
    let mut fork = String::new();
    for line in fs::read_to_string(home.path(&transcript(ANNA))).unwrap().lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["forkedFrom"] = json!({"sessionId": ANNA, "messageUuid": line["uuid"]});
        line["uuid"] = json!(format!("copy-{}", line["uuid"].as_str().unwrap()));
        line["sessionId"] = json!(BEN);
        writeln!(fork, "{line}").unwrap();
    }
    home.write(&transcript(BEN), fork);
    work(&home, BEN, 5, "write the docs about penguins", false);
    home.sync();
    assert_eq!((files_with_canary(&home), hits(&home, CANARY), hits(&home, "discounts")), (Vec::new(), 0, 0));
    let session = engine(&home, 600).sessions().resolve(BEN).unwrap().session;
    assert_eq!((session.counts.prompts, session.cwd.as_deref()), (1, Some("/app")));
}

#[test]
fn session_families_age_by_their_newest_entry() {
    const FIVE_YEARS: i64 = 5 * 365 * 24 * 60;
    let before = |home: &TestHome, moment: &str| {
        let target = ForgetTarget::Before(moment.to_owned());
        engine(home, FIVE_YEARS).forget().plan(&target).unwrap().sessions.len()
    };
    let child = rethread_testing::SUB_AGENT;
    let agent = ".claude/projects/-home-dev-parser/agent-a1b2c3d4.jsonl";
    let orphan = TestHome::new();
    orphan.write(agent, child);
    orphan.sync();
    assert_eq!(before(&orphan, "2030-01-01"), 1, "its parent is missing");
    let day = child.split("\"timestamp\":\"").nth(1).unwrap()[..10].to_owned();
    let family = TestHome::new();
    family.write(CLAUDE_FILE, CONVERSATION);
    family.write(agent, child.replace(&day, "2029-01-01"));
    family.sync();
    assert_eq!((before(&family, "2028-01-01"), before(&family, "2030-01-01") > 1), (0, true));
}

#[test]
fn only_an_id_or_a_whole_name_is_enough_to_erase() {
    // D12, D44
    let home = TestHome::new();
    work(&home, ANNA, 0, "fix the rounding", false);
    home.sync();
    let planned = |reference: &str| engine(&home, 1).forget().plan(&one(reference));
    for guess in ["rounding", "fix the roundin", "e", "the"] {
        assert!(planned(guess).is_err(), "{guess} erases a session");
        assert!(
            guess.len() < 3 || engine(&home, 1).sessions().resolve(guess).is_ok(),
            "{guess} is found by commands that read"
        );
    }
    for exact in [ANNA, "fix the rounding", "fix-the-rounding"] {
        assert!(planned(exact).is_ok(), "{exact}");
    }
}
