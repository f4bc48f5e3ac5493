//! What is forgotten is in no byte of ours any more, stays out, and leaves everything else as it was.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fmt::Write as _;
use std::fs;

use rethread_engine::{ForgetTarget, Forgotten, NewMessage, NewThread, SearchRequest};
use rethread_model::Agent;
use rethread_model::thread::{Block, ChatRole};
use rethread_store::{AskedOf, Injected, StoredCard, Unarchived};
use serde_json::json;

use crate::sessions::{ANNA, BEN, archives, at, engine, hook, key, prompt, store, transcript, work};
use crate::world::{BRANCHES, CLAUDE_FILE, CONVERSATION, PI_FILE, SESSION, World, assert_same, files_below};

const CANARY: &str = "zyxcanaryzyx";

/// The files of ours that hold the word, in any case.
fn holding(world: &World) -> Vec<String> {
    let found = files_below(&world.at(".rethread")).into_iter().filter(|path| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(CANARY.len()).any(|window| window.eq_ignore_ascii_case(CANARY.as_bytes()))
    });
    found.map(|path| path.display().to_string()).collect()
}

fn forget(world: &World, target: &ForgetTarget) -> Forgotten {
    let forgotten = engine(world, 600).forget(target).unwrap();
    assert_eq!(forgotten.left().collect::<Vec<_>>(), Vec::<&_>::new(), "something is left");
    forgotten
}

fn one(reference: &str) -> ForgetTarget {
    ForgetTarget::Sessions(vec![reference.to_owned()])
}

fn matching() -> ForgetTarget {
    ForgetTarget::Matching(CANARY.to_uppercase())
}

fn count(forgotten: &Forgotten, place: &str) -> u64 {
    forgotten.removed.iter().find(|removed| removed.place == place).map_or(0, |removed| removed.count)
}

fn hits(world: &World, text: &str) -> usize {
    let request = SearchRequest { text: text.to_owned(), limit: 10, ..SearchRequest::default() };
    engine(world, 600).search(&request).unwrap().hits.len()
}

/// Anna's session with an exchange that is harmless, one with the word in prompt, arguments and error, and one after it.
fn secret_work(world: &World) {
    work(world, ANNA, 0, "round the discounts", false);
    work(world, ANNA, 2, &format!("why does {CANARY} fail in the cart?"), true);
    let line = |kind: &str, id: &str, content: serde_json::Value| {
        let message = json!({"role": kind, "id": format!("msg_{id}"), "model": "m", "content": content});
        let line = json!({"type": kind, "uuid": format!("{ANNA}-c-{id}"), "sessionId": ANNA, "cwd": "/app",
            "timestamp": at(3).to_string(), "message": message});
        world.append(&transcript(ANNA), format!("{line}\n"));
    };
    let call = json!({"type": "tool_use", "id": "toolu_c", "name": "Bash", "input": {"command": format!("grep {CANARY} src")}});
    line("assistant", "1", json!([call]));
    let result =
        json!({"type": "tool_result", "tool_use_id": "toolu_c", "is_error": true, "content": format!("no {CANARY}")});
    line("user", "2", json!([result]));
    work(world, ANNA, 5, "and write the release notes", false);
    let title = json!({"type": "ai-title", "aiTitle": format!("Hunt for {CANARY}"), "sessionId": ANNA});
    world.append(&transcript(ANNA), format!("{title}\n"));
}

/// Everything that can be kept of a session, with the word in it; Ben's session knows of it.
fn canary_world() -> World {
    let world = World::new();
    secret_work(&world);
    work(&world, BEN, 1, "write the docs about penguins", false);
    world.sync();
    let morning = engine(&world, 6);
    hook(&world, 6, ANNA, "SessionStart", &json!({"source": "startup"}));
    prompt(&world, 6, ANNA, &format!("more about {CANARY}"));
    prompt(&world, 7, BEN, "what do the others do?");
    morning.add_note(ANNA, &format!("remember {CANARY}")).unwrap();
    morning.set_task(ANNA, &format!("hunt {CANARY}")).unwrap();
    morning.set_name(ANNA, &format!("The {CANARY} hunt")).unwrap();
    morning.set_alias(ANNA, CANARY).unwrap();
    morning.export_card(ANNA).unwrap();
    morning.end_session(ANNA).unwrap();
    assert_eq!(archives(&world).len(), 1);
    let log = json!({"at": at(7).to_string(), "event": "trouble", "session": ANNA, "error": format!("about {CANARY}")});
    world.write(".rethread/logs/2026-03-02.jsonl", format!("{}\n{log}\n", json!({"event": "kept"})));
    fs::set_permissions(world.at(".rethread/logs"), std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    plant(&world);
    world
}

/// What only models and hooks would write.
fn plant(world: &World) {
    let mut store = store(world);
    let (number, _) = store.session_of(key(ANNA)).unwrap().unwrap();
    let change = store.last_change(number).unwrap();
    let asked = AskedOf { session: number, change, question: CANARY };
    store.keep_answer(asked, "m", &format!("it is {CANARY}"), at(7)).unwrap();
    let mut batch = store.begin().unwrap();
    let card = StoredCard {
        fields: json!({"name": CANARY, "description": "", "summary": CANARY, "tags": []}).to_string(),
        model: "m".to_owned(),
        created_at: at(7),
        updated_at: at(7),
        leaf: "x".to_owned(),
        prompts: 1,
    };
    batch.save_card(key(ANNA), &card).unwrap();
    let injected =
        |text: String| Injected { at: at(7), event: "x".into(), text, parts: "{}".into(), hash: 1, micros: 1 };
    batch.add_injection(key(ANNA), &injected(format!("about {CANARY}"))).unwrap();
    batch.add_injection(key(BEN), &injected(format!("- The {CANARY} hunt (1m ago): edited a file"))).unwrap();
    let period = Unarchived {
        agent: Agent::ClaudeCode,
        external_id: ANNA.to_owned(),
        period: 9,
        name: "x".to_owned(),
        text: json!({"task": CANARY}).to_string(),
    };
    batch.keep_period(&period).unwrap();
    batch.commit().unwrap();
}

#[test]
fn l003_14_a_forgotten_session_is_in_no_byte_of_ours_and_stays_out() {
    let world = canary_world();
    assert!(holding(&world).len() >= 4, "{:?}", holding(&world));
    let before = files_below(&world.at(".rethread")).len();
    let plan = engine(&world, 600).forget_dry_run(&one(ANNA)).unwrap();
    assert_eq!(files_below(&world.at(".rethread")).len(), before);
    let forgotten = forget(&world, &one(ANNA));
    assert_eq!(holding(&world), Vec::<String>::new());
    assert_eq!(plan.removed.len(), forgotten.removed.len(), "a dry run counts the same");
    for place in
        ["entries", "episodes", "cards", "card files", "answers", "injections", "log lines", "archives", "index"]
    {
        assert!(count(&forgotten, place) > 0, "{place}: {:?}", forgotten.removed);
    }
    assert_eq!((forgotten.sessions.len(), forgotten.tombstones), (1, 1));
    assert_eq!(hits(&world, "penguins"), 1, "the others are as they were");
    assert_eq!(store(&world).statistics().unwrap().empty, 0, "what is forgotten is not even empty");
    // The same file, a file that grew, everything again, hooks in the middle of it: nothing comes back.
    world.sync();
    work(&world, ANNA, 30, &format!("more {CANARY}"), false);
    world.sync();
    hook(&world, 31, ANNA, "SessionStart", &json!({"source": "resume"}));
    prompt(&world, 31, ANNA, &format!("again {CANARY}"));
    hook(&world, 32, ANNA, "Stop", &json!({"last_assistant_message": CANARY}));
    hook(&world, 33, ANNA, "SessionEnd", &json!({"reason": "other"}));
    engine(&world, 601).rebuild(&mut |_| {}).unwrap();
    assert_eq!((holding(&world), hits(&world, CANARY), hits(&world, "penguins")), (Vec::new(), 0, 1));
    assert_eq!(engine(&world, 602).verify().unwrap().damage, vec![]);
    assert!(engine(&world, 603).resolve(ANNA).is_err());
}

#[test]
fn a_text_is_forgotten_with_its_exchange_and_the_rest_is_told_as_if_it_had_never_been() {
    let world = canary_world();
    let forgotten = forget(&world, &matching());
    assert_eq!(holding(&world), Vec::<String>::new());
    assert_eq!((forgotten.sessions.len(), forgotten.shortened.len()), (0, 1));
    let session = engine(&world, 600).resolve(ANNA).unwrap().session;
    assert_eq!((session.counts.prompts, session.counts.episodes), (2, 2));
    assert_eq!(session.name.as_deref(), Some("round the discounts"));
    let told = world.dump();
    world.sync();
    engine(&world, 601).rebuild(&mut |_| {}).unwrap();
    assert_same(&world.dump(), &told);
    assert_eq!((holding(&world), hits(&world, CANARY), hits(&world, "penguins")), (Vec::new(), 0, 1));
    work(&world, ANNA, 30, "and publish them", false);
    world.sync();
    assert_eq!(engine(&world, 602).resolve(ANNA).unwrap().session.counts.prompts, 3, "the session goes on");
}

#[test]
fn a_text_is_forgotten_also_where_the_transcript_is_gone() {
    let world = canary_world();
    fs::remove_file(world.at(&transcript(ANNA))).unwrap();
    world.sync();
    forget(&world, &matching());
    assert_eq!(holding(&world), Vec::<String>::new());
    let session = engine(&world, 600).resolve(ANNA).unwrap().session;
    assert_eq!((session.counts.prompts, session.counts.episodes), (2, 2));
    assert_eq!(session.name.as_deref(), Some("round the discounts"));
    let told = world.dump();
    engine(&world, 601).rebuild(&mut |_| {}).unwrap();
    assert_same(&world.dump(), &told);
    assert_eq!(hits(&world, "release notes"), 1);
}

#[test]
fn whoever_is_killed_before_the_bytes_are_wiped_is_finished_by_the_next_sync() {
    finished_after_a_kill(|world| drop(world.sync()));
}

#[test]
fn whoever_is_killed_before_the_bytes_are_wiped_is_finished_by_asking_again() {
    finished_after_a_kill(|world| assert!(engine(world, 602).forget(&one(ANNA)).is_err(), "nobody knows it any more"));
    finished_after_a_kill(|world| {
        let nothing = ForgetTarget::Before("2020".to_owned());
        assert!(engine(world, 602).forget(&nothing).unwrap().is_nothing());
    });
}

fn finished_after_a_kill(finish: impl Fn(&World)) {
    let world = canary_world();
    let mut store = store(&world);
    let (_, session) = store.session_of(key(ANNA)).unwrap().unwrap();
    let doomed = store.family(&[session.id]).unwrap();
    let marks = store.marks_of(&doomed).unwrap();
    let mut batch = store.begin_forgetting().unwrap();
    batch.bury(&doomed, &marks, at(600)).unwrap();
    batch.commit().unwrap();
    assert!(store.is_unwiped().unwrap());
    drop(store);
    assert_eq!(hits(&world, CANARY), 0, "nothing is found that the store has not");
    let damage = engine(&world, 601).verify().unwrap().damage;
    assert_eq!(damage.iter().map(|damage| damage.check).collect::<Vec<_>>(), ["what was forgotten is wiped"]);
    assert!(engine(&world, 601).doctor().unwrap().findings.iter().any(|it| it.message.contains("what was forgotten")));
    finish(&world);
    let bytes = [".rethread/memory.db", ".rethread/index"].map(|place| world.at(place).display().to_string());
    let held: Vec<String> =
        holding(&world).into_iter().filter(|file| bytes.iter().any(|it| file.starts_with(it))).collect();
    assert_eq!(held, Vec::<String>::new());
    assert!(!crate::sessions::store(&world).is_unwiped().unwrap());
}

#[test]
fn a_thread_of_ours_goes_with_its_log_and_children_go_with_their_parents() {
    let world = World::new();
    let engine = world.engine();
    let threads = [format!("about {CANARY}"), "about penguins".to_owned()].map(|text| {
        let id = engine.thread_new(&NewThread::default()).unwrap().id;
        let content = vec![Block::Text(text)];
        let message =
            NewMessage { role: ChatRole::User, content, tool_call_id: None, is_error: false, client_id: None };
        engine.thread_open(&id.to_string()).unwrap().append(message).unwrap();
        engine.thread_remember(id).unwrap();
        id
    });
    let plan = engine.forget_dry_run(&matching()).unwrap();
    assert_eq!((plan.threads.as_slice(), plan.sessions.len()), (&threads[..1], 1));
    forget(&world, &matching());
    world.sync();
    assert_eq!((holding(&world), hits(&world, "penguins")), (Vec::new(), 1));
    assert!(!world.at(&format!(".rethread/threads/{}", threads[0])).exists());

    let family = World::new();
    family.write(CLAUDE_FILE, CONVERSATION);
    family.write(".claude/projects/-home-dev-parser/agent-a1b2c3d4.jsonl", crate::world::SUB_AGENT);
    family.write(PI_FILE, BRANCHES);
    family.sync();
    assert!(forget(&family, &one(SESSION)).sessions.len() > 1, "sub-agents go too");
    family.sync();
    assert_eq!(
        family
            .engine()
            .sessions(&rethread_engine::ListRequest {
                include_children: true,
                ..rethread_engine::ListRequest::default()
            })
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn a_copy_of_a_forgotten_session_does_not_bring_it_back() {
    let world = World::new();
    world.write(CLAUDE_FILE, CONVERSATION);
    world.sync();
    assert!(hits(&world, "lexer") > 0);
    forget(&world, &one(SESSION));
    world.write(&transcript(BEN), CONVERSATION.replace(SESSION, BEN));
    work(&world, BEN, 40, "go on with the penguins", false);
    world.sync();
    assert_eq!((hits(&world, "lexer"), hits(&world, "penguins")), (0, 1));
}

#[test]
fn sessions_are_chosen_by_time_and_by_project_and_nothing_is_nothing() {
    let world = canary_world();
    let all = |target: ForgetTarget| engine(&world, 600).forget_dry_run(&target).unwrap();
    assert_eq!(all(ForgetTarget::Before("2026-03-01".to_owned())).sessions.len(), 0);
    assert_eq!(all(ForgetTarget::Before("2026-03-03".to_owned())).sessions.len(), 2);
    assert_eq!(all(ForgetTarget::Project("/app".into())).sessions.len(), 2);
    assert!(all(ForgetTarget::Project("/elsewhere".into())).is_nothing());
    assert!(all(ForgetTarget::Matching("no such text anywhere".to_owned())).is_nothing());
    assert!(engine(&world, 600).forget(&ForgetTarget::Matching(" ".to_owned())).is_err());
    assert!(engine(&world, 600).forget(&one("nobody knows")).is_err());
}

#[test]
fn what_others_in_the_project_were_told_goes_with_a_session_however_it_is_worded() {
    let world = canary_world();
    let elsewhere = "cccc1011-0000-4000-8000-00000000000c";
    let stranger = "dddd1011-0000-4000-8000-00000000000d";
    work(&world, elsewhere, 1, "paint the fence", false);
    let moved = fs::read_to_string(world.at(&transcript(elsewhere))).unwrap().replace("/app", "/fence");
    world.write(&transcript(elsewhere), moved);
    world.sync();
    let mut store = store(&world);
    let mut batch = store.begin().unwrap();
    let told = |minutes: i64| Injected {
        at: at(minutes),
        event: "x".into(),
        text: "- ab: edited src/cart.rs, ran cargo test".into(),
        parts: "{}".into(),
        hash: 1,
        micros: 1,
    };
    for (session, minutes) in [(BEN, -5), (BEN, 8), (stranger, 8), (elsewhere, 8)] {
        batch.add_injection(key(session), &told(minutes)).unwrap();
    }
    batch.commit().unwrap();
    drop(store);
    let plan = engine(&world, 600).forget_dry_run(&one(ANNA)).unwrap();
    let forgotten = forget(&world, &one(ANNA));
    assert_eq!(count(&plan, "injections"), count(&forgotten, "injections"), "a dry run counts the same");
    let left = |session: &str| crate::sessions::store(&world).injections(key(session), 10).unwrap().len();
    assert_eq!((left(BEN), left(stranger), left(elsewhere)), (1, 0, 1), "what was told before it began stays");
}

#[test]
fn a_text_that_stands_only_in_a_path_stays_and_that_is_said() {
    let world = canary_world();
    let target = ForgetTarget::Matching("projects/-app".to_owned());
    let plan = engine(&world, 600).forget_dry_run(&target).unwrap();
    assert!(!plan.is_nothing());
    assert_eq!(plan.staying.get("paths of sessions"), Some(&2), "{:?}", plan.staying);
    let left = engine(&world, 600).forget(&target).unwrap();
    let places: Vec<&str> = left.left().map(|left| left.place).collect();
    assert_eq!(places, ["paths of sessions", "paths of transcripts"]);
}

#[test]
fn the_name_of_a_branch_is_forgotten_and_stays_so() {
    for is_there in [true, false] {
        let world = World::new();
        work(&world, BEN, 1, "write the docs about penguins", false);
        let path = world.at(&transcript(BEN));
        let secret = fs::read_to_string(&path).unwrap().replace("\"main\"", &format!("\"fix-{CANARY}\""));
        fs::write(&path, &secret).unwrap();
        world.sync();
        let branch = || engine(&world, 600).resolve(BEN).unwrap().session.branch;
        assert_eq!(branch(), Some(format!("fix-{CANARY}")));
        if !is_there {
            fs::remove_file(&path).unwrap();
        }
        assert!(!engine(&world, 600).forget_dry_run(&matching()).unwrap().is_nothing());
        forget(&world, &matching());
        assert_eq!((branch(), holding(&world)), (None, Vec::new()));
        fs::write(&path, secret.clone() + &secret.replace("1-1", "9-1")).unwrap();
        world.sync();
        engine(&world, 601).rebuild(&mut |_| {}).unwrap();
        assert_eq!((branch(), holding(&world), hits(&world, "penguins") > 0), (None, Vec::new(), true));
    }
}

#[test]
fn a_result_without_its_call_is_forgotten_by_its_text() {
    let world = World::new();
    work(&world, BEN, 1, "write the docs about penguins", false);
    let result =
        json!({"type": "tool_result", "tool_use_id": "toolu_x", "is_error": true, "content": format!("no {CANARY}")});
    let line = json!({"type": "user", "uuid": "orphan", "sessionId": BEN, "cwd": "/app", "timestamp": at(3).to_string(),
        "message": {"role": "user", "content": [result]}});
    world.append(&transcript(BEN), format!("{line}\n"));
    world.sync();
    assert!(!holding(&world).is_empty());
    forget(&world, &matching());
    engine(&world, 601).rebuild(&mut |_| {}).unwrap();
    assert_eq!((holding(&world), hits(&world, "penguins")), (Vec::new(), 1));
}

#[test]
fn a_fork_of_a_forgotten_session_that_went_on_does_not_bring_it_back() {
    let world = World::new();
    work(&world, ANNA, 0, "round the discounts", false);
    world.sync();
    forget(&world, &one(ANNA));
    work(&world, ANNA, 2, &format!("what is {CANARY}?"), false);
    let mut fork = String::new();
    for line in fs::read_to_string(world.at(&transcript(ANNA))).unwrap().lines() {
        let mut line: serde_json::Value = serde_json::from_str(line).unwrap();
        line["forkedFrom"] = json!({"sessionId": ANNA, "messageUuid": line["uuid"]});
        line["uuid"] = json!(format!("copy-{}", line["uuid"].as_str().unwrap()));
        line["sessionId"] = json!(BEN);
        writeln!(fork, "{line}").unwrap();
    }
    world.write(&transcript(BEN), fork);
    work(&world, BEN, 5, "write the docs about penguins", false);
    world.sync();
    assert_eq!((holding(&world), hits(&world, CANARY), hits(&world, "discounts")), (Vec::new(), 0, 0));
    let session = engine(&world, 600).resolve(BEN).unwrap().session;
    assert_eq!((session.counts.prompts, session.cwd.as_deref()), (1, Some("/app")));
}

#[test]
fn families_are_as_old_as_their_last_moment_and_orphans_go_too() {
    const FIVE_YEARS: i64 = 5 * 365 * 24 * 60;
    let before = |world: &World, moment: &str| {
        let target = ForgetTarget::Before(moment.to_owned());
        engine(world, FIVE_YEARS).forget_dry_run(&target).unwrap().sessions.len()
    };
    let child = crate::world::SUB_AGENT;
    let agent = ".claude/projects/-home-dev-parser/agent-a1b2c3d4.jsonl";
    let orphan = World::new();
    orphan.write(agent, child);
    orphan.sync();
    assert_eq!(before(&orphan, "2030-01-01"), 1, "its parent is not there");
    let day = child.split("\"timestamp\":\"").nth(1).unwrap()[..10].to_owned();
    let family = World::new();
    family.write(CLAUDE_FILE, CONVERSATION);
    family.write(agent, child.replace(&day, "2029-01-01"));
    family.sync();
    assert_eq!((before(&family, "2028-01-01"), before(&family, "2030-01-01") > 1), (0, true));
}
