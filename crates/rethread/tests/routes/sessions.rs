//! Threads and agent sessions over HTTP.

use crate::fixture::ApiFixture;
use rethread_model::Timestamp;
use rethread_testing::TranscriptBuilder;
use serde_json::Value;

fn ids(listed: &Value) -> Vec<&str> {
    listed["sessions"].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap()).collect()
}

#[test]
fn thread_is_created_found_changed_and_deleted() {
    // E004-05
    let api = ApiFixture::new();
    let made =
        api.client.request("POST", "/api/sessions", Some(r#"{"name":"release notes","systemPrompt":"Be brief."}"#));
    assert_eq!(made.status, 201, "{made:?}");
    let created: Value = serde_json::from_str(&made.body).unwrap();
    let id = created["session"]["id"].as_str().unwrap();
    assert!(made.head.contains(&format!("location: /api/sessions/{}", id.to_lowercase())), "{}", made.head);
    let (metadata, at) = (&created["metadata"], format!("/api/sessions/{id}"));
    assert_eq!((&metadata["name"], &metadata["systemPromptOverride"]), (&"release notes".into(), &"Be brief.".into()));
    assert_eq!(
        (&metadata["messageCount"], &metadata["source"], &created["messages"]),
        (&0.into(), &"interactive".into(), &Value::Array(vec![]))
    );

    api.append(id, "user", "what is new?");
    let one = api.client.json("GET", &at, None);
    assert_eq!(one["metadata"]["messageCount"], 1);
    assert_eq!(one["messages"][0]["content"][0]["text"], "what is new?");
    assert_eq!((&one["messages"][0]["recordType"], &one["messages"][0]["seq"]), (&"message".into(), &1.into()));

    let changed = api.client.json("PATCH", &at, Some(r#"{"name":"changelog","task":"write it","state":"suspended"}"#));
    assert_eq!((&changed["session"]["name"], &changed["session"]["state"]), (&"changelog".into(), &"suspended".into()));
    assert_eq!(changed["task"], "write it");

    assert_eq!(api.client.request("DELETE", &at, None).status, 204);
    for method in ["GET", "DELETE"] {
        assert_eq!(api.client.error(method, &at, None), (404, "unknown-reference".to_owned()));
    }
    assert!(!api.home.path(&format!(".rethread/threads/{id}")).exists());
}

#[test]
fn list_orders_threads_and_sessions_by_last_activity() {
    // E004-03, S004-10
    let api = ApiFixture::new();
    let (first, second) = (
        api.client.json("POST", "/api/sessions", Some("{}"))["session"]["id"].clone(),
        api.client.json("POST", "/api/sessions", Some(r#"{"model":"small","cronJobId":"nightly"}"#))["session"]["id"]
            .clone(),
    );
    api.append(first.as_str().unwrap(), "user", "hello");
    let listed = api.client.json("GET", "/api/sessions", None);
    assert_eq!(ids(&listed)[..3], [first.as_str().unwrap(), second.as_str().unwrap(), &api.thread]);
    let moments: Vec<&str> =
        listed["sessions"].as_array().unwrap().iter().filter_map(|one| one["lastMessageAt"].as_str()).collect();
    assert!(moments.len() == ids(&listed).len() && moments.is_sorted_by(|a, b| a >= b), "{moments:?}");
    let items = &listed["sessions"];
    assert_eq!(
        (&items[0]["name"], &items[0]["messageCount"], &items[0]["source"]),
        (&"hello".into(), &1.into(), &"interactive".into())
    );
    assert_eq!(
        (&items[1]["source"], &items[1]["model"], &items[1]["state"]),
        (&"cron".into(), &"small".into(), &"active".into())
    );
    assert!(items[1]["name"].as_str().unwrap().starts_with("[cron] nightly"), "{items}");

    let page = api.client.json("GET", "/api/sessions?limit=1&offset=1", None);
    assert_eq!((ids(&page), &page["more"]), (vec![second.as_str().unwrap()], &true.into()));
    assert_eq!(ids(&api.client.json("GET", "/api/sessions?agent=native&limit=3", None)).len(), 3);
    assert!(!ids(&api.client.json("GET", "/api/sessions?agent=pi", None)).contains(&first.as_str().unwrap()));
    let project = listed["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .find_map(|one| one["project"].as_str().filter(|path| path.contains("/dev/")))
        .unwrap();
    let of_project = api.client.json("GET", &format!("/api/sessions?project={project}"), None);
    assert_eq!(ids(&of_project).len(), 1);
}

#[test]
fn record_pages_join_without_gaps() {
    // S7.5
    let api = ApiFixture::new();
    let at = format!("/api/sessions/{}/records", api.thread);
    for number in 0..5 {
        api.append(&api.thread, "user", &format!("text {number}"));
    }
    let (mut seqs, mut from) = (Vec::new(), 0);
    loop {
        let piece = api.client.json("GET", &format!("{at}?from={from}&limit=3"), None);
        seqs.extend(piece["records"].as_array().unwrap().iter().map(|record| record["seq"].as_u64().unwrap()));
        let Some(next) = piece["next"].as_u64() else { break };
        from = next;
    }
    assert_eq!(seqs, [1, 2, 3, 4, 5, 6, 7]);
    let last = api.client.json("GET", &format!("{at}?limit=2"), None);
    assert_eq!((&last["records"][0]["seq"], &last["previous"], &last["next"]), (&6.into(), &6.into(), &Value::Null));
    let context = api.client.json("GET", &format!("/api/sessions/{}/context?limit=2", api.thread), None);
    assert_eq!((context["messages"].as_array().unwrap().len(), &context["leftOut"]), (2, &5.into()));
    let of_agent = format!("/api/sessions/{}/records", api.session);
    let entries = api.client.json("GET", &format!("{of_agent}?from=0&limit=2"), None);
    assert_eq!((&entries["entries"][0]["seq"], &entries["next"]), (&0.into(), &2.into()));
    assert_eq!(
        api.client.error("GET", &format!("/api/sessions/{}/context", api.session), None),
        (409, "not-a-thread".to_owned())
    );
}

#[test]
fn deleted_agent_session_stays_forgotten() {
    let api = ApiFixture::new();
    let at = format!("/api/sessions/{}", api.session);
    let transcript = api.client.json("GET", &at, None)["session"]["transcript"].as_str().unwrap().to_owned();
    assert_eq!(api.client.request("DELETE", &at, None).status, 204);
    assert_eq!(api.client.error("GET", &at, None), (404, "unknown-reference".to_owned()));
    api.client.json("POST", "/api/sync", Some("{}"));
    assert_eq!(api.client.error("GET", &at, None).0, 404, "a tombstone keeps it out");
    assert!(std::path::Path::new(&transcript).exists(), "the agent's own file stays");
}

#[test]
fn get_activity_keeps_it_unread_and_post_marks_it_read() {
    let api = ApiFixture::new();
    let activity = |method: &str, id: &str| {
        let body = (method == "POST").then_some("{}");
        api.client.json(method, &format!("/api/sessions/{id}/activity"), body)["text"].clone()
    };
    let transcript = |session: &str, prompt: &str| {
        TranscriptBuilder::new(session).times(now(), 0).user(prompt).assistant("Done.").build()
    };
    let (anna, ben) = ("9a9eadc8-c1f1-493e-a0f1-884aa996b05b", "7b9eadc8-c1f1-493e-a0f1-884aa996b05c");
    api.home.write(&format!(".claude/projects/-app/{anna}.jsonl"), transcript(anna, "paint the zeppelin"));
    api.home.write(&format!(".claude/projects/-app/{ben}.jsonl"), transcript(ben, "fly it"));
    api.client.json("POST", "/api/sync", Some("{}"));
    let listed = api.client.json("GET", "/api/sessions?project=/app", None);
    let reader = ids(&listed)
        .into_iter()
        .find(|id| api.client.json("GET", &format!("/api/sessions/{id}"), None)["session"]["externalId"] == ben)
        .unwrap();
    for _ in 0..2 {
        assert!(activity("GET", reader).as_str().is_some_and(|text| text.contains("zeppelin")), "peeking");
    }
    assert!(activity("POST", reader).as_str().is_some_and(|text| text.contains("zeppelin")));
    assert_eq!((activity("POST", reader), activity("GET", reader)), (Value::Null, Value::Null), "it is marked as read");
}

fn now() -> Timestamp {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    Timestamp::from_millis(since.as_millis() as i64)
}
