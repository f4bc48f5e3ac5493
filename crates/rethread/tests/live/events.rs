//! Events for pages: what was stored, what is called something else, what is said.

use serde_json::{Value, json};

use crate::Scene;
use crate::client::Page;
use crate::house::until;
use crate::model::TITLE;

#[test]
fn a_page_hears_which_sessions_changed() {
    let scene = Scene::unnamed("");
    let line = |uuid: &str, text: &str| {
        format!(
            "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"cwd\":\"/app\",\"timestamp\":\"2026-02-20T12:00:00Z\",\
             \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        )
    };
    let transcript = ".claude/projects/-app/9a9eadc8-c1f1-493e-a0f1-884aa996b05b.jsonl";
    scene.house.write(transcript, &line("u1", "paint the fence"));
    assert!(scene.house.run(&["sync"]).status.success());
    let listed = scene.house.run(&["sessions", "--all-projects", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed["sessions"][0]["id"].clone();
    let (mut page, mut own) = (scene.page(""), scene.page(&format!("?session={}", id.as_str().unwrap())));
    let mut other = scene.page(&format!("?session={}", scene.thread));
    let tells_of_it = |event: &Value| event["sessions"].as_array().is_some_and(|all| all.contains(&id));
    // What was stored while the server began may still be told.
    until("the session to be named", || {
        let longer = std::fs::read_to_string(scene.house.path(transcript)).unwrap() + &line("u2", "and the gate");
        std::fs::write(scene.house.path(transcript), longer.replace("u2", &format!("u{}", longer.len()))).unwrap();
        assert!(scene.house.run(&["sync"]).status.success());
        page.next().is_some_and(|event| tells_of_it(&event))
    });
    own.until_so(tells_of_it);
    assert!(scene.house.run(&["name", id.as_str().unwrap(), "The white fence"]).status.success());
    for page in [&mut page, &mut own] {
        let renamed = page.until_so(|event| event["type"] == "session_renamed");
        assert_eq!((&renamed["sessionId"], &renamed["name"]), (&id, &json!("The white fence")));
    }
    // Others hear nothing of it: the next they hear is their own.
    assert_eq!(scene.post(&json!({"role": "user", "content": "hello"})).0, 201);
    let heard = other.until_so(|event| event["sessionId"] == json!(scene.thread));
    assert_eq!(heard["type"], "message_complete");
}

#[test]
fn every_word_is_for_those_who_look_at_the_session_only() {
    let scene = Scene::unnamed("");
    let (mut board, mut session) = (scene.page(""), scene.page(&format!("?session={}", scene.thread)));
    assert_eq!(scene.post(&json!({"text": "four words for you"})).0, 200);
    let kinds = |page: &mut Page| {
        let mut kinds = Vec::new();
        loop {
            let event = page.next().unwrap();
            let kind = event["type"].as_str().unwrap().to_owned();
            if kind != "changed" && kind != "session_renamed" {
                kinds.push(kind.clone());
            }
            if kind == "run_end" {
                return kinds;
            }
        }
    };
    let words = ["stream_delta"; 6];
    assert_eq!(kinds(&mut board), ["run_start", "message_complete", "message_complete", "run_end"]);
    let wanted = [&["run_start", "message_complete"][..], &words, &["message_complete", "run_end"]].concat();
    assert_eq!(kinds(&mut session), wanted);
}

#[test]
fn e004_01_e004_04_l004_13_a_thread_gets_a_title_and_all_its_clients_hear_of_it() {
    let scene = Scene::new("");
    let (mut one, mut two, mut page) = (scene.socket(), scene.listener(), scene.page(""));
    one.send_message(&scene.thread, "please name this conversation after what it is about");
    let is_title = |frame: &Value| frame["type"] == "session_renamed" && frame["name"] == TITLE;
    for renamed in [one.until_so(is_title), two.until_so(is_title), page.until_so(is_title)] {
        assert_eq!(renamed["sessionId"], json!(scene.thread));
    }
    // By another process, too.
    assert!(scene.house.run(&["name", &scene.thread, "Mine"]).status.success());
    let is_mine = |frame: &Value| frame["type"] == "session_renamed" && frame["name"] == "Mine";
    one.until_so(is_mine);
    two.until_so(is_mine);
    let answered = two.seen.iter().position(|frame| frame["type"] == "run_end").unwrap();
    let named = two.seen.iter().position(is_title).unwrap();
    assert!(answered < named, "the answer does not wait for the title");
}
