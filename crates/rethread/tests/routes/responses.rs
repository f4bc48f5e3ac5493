//! Responses match their documented schema, and a GET changes nothing.

use rethread_testing::{StubModel, TranscriptBuilder};
use serde_json::Value;

use crate::fixture::ApiFixture;
use crate::json_schema::misfits;

/// Every GET with parameters; `{id}` is an agent session, `{thread}` a thread.
const GET_PATHS: [&str; 57] = [
    "/api/sessions",
    "/api/history/cross-session?session={id}",
    "/api/sessions?state=ended&agent=pi&includeEmpty=true&children=true&limit=1&offset=0&project=/home/dev/site",
    "/api/sessions/{id}",
    "/api/sessions/{id}/similar?limit=3",
    "/api/sessions/{thread}",
    "/api/sessions/{thread}?messages=1",
    "/api/sessions/{id}/records",
    "/api/sessions/{id}/records?from=0&limit=2&profile=full",
    "/api/sessions/{id}/records?line=3&limit=4",
    "/api/sessions/{thread}/records?before=2",
    "/api/sessions/{id}/original?seq=0",
    "/api/sessions/{id}/original?seq=1",
    "/api/sessions/{thread}/original?seq=0",
    "/api/sessions/{id}/episodes",
    "/api/sessions/{id}/events",
    "/api/sessions/{thread}/events",
    "/api/sessions/{thread}/episodes?from=1&limit=1",
    "/api/sessions/{thread}/context",
    "/api/sessions/{thread}/context?limit=1",
    "/api/sessions/{id}/card",
    "/api/sessions/{thread}/card",
    "/api/sessions/{id}/activity",
    "/api/sessions/{thread}/activity",
    "/api/sessions/{id}/resume",
    "/api/sessions/{thread}/resume",
    "/api/sessions/{id}/handoff",
    "/api/sessions/{id}/export",
    "/api/sessions/{thread}/export?format=md",
    "/api/sessions/{id}/injections",
    "/api/search?query=parser",
    "/api/search?kind=prompt&kind=answer&agent=claude-code&full=true&exchange=true&limit=100",
    "/api/search?query=parser&file=parser.rs&tool=Edit&since=2020&until=now&session={id}&project=/home/dev/parser",
    "/api/timeline",
    "/api/timeline?session={id}&file=parser.rs",
    "/api/timeline?around={id}:3&limit=3",
    "/api/facts",
    "/api/facts?kind=file&asOf=2030&limit=500",
    "/api/facts?entity=parser",
    "/api/fix?error=error[E0308]:+mismatched+types",
    "/api/decisions",
    "/api/decisions?query=tabs&all=true&asOf=2030",
    "/api/workflows",
    "/api/files?path=src/parser.rs",
    "/api/files?path=nothing",
    "/api/resolve?text=as+in+@@plans+and+@@{id}",
    "/api/usage",
    "/api/usage?by=model&agent=pi&since=2020&until=2030",
    "/api/usage?by=project&project=/home/dev/site",
    "/api/members",
    "/api/tokens",
    "/api/audit?since=30d&before=9&limit=5",
    "/api/retention",
    "/api/status",
    "/api/doctor",
    "/api/health",
    "/api/openapi.json",
];

fn path(api: &ApiFixture, target: &str) -> String {
    target.replace("{id}", &api.session).replace("{thread}", &api.thread)
}

/// The schema in the document for a response.
fn promised<'d>(document: &'d Value, method: &str, target: &str, status: u16) -> &'d Value {
    let route = target.split('?').next().unwrap().replace("{thread}", "{id}");
    let response = &document["paths"][&route][method.to_lowercase()]["responses"][status.to_string()];
    let response = match response["$ref"].as_str() {
        Some(place) => document.pointer(place.trim_start_matches('#')).unwrap(),
        None => response,
    };
    assert!(!response.is_null(), "{method} {target} promises no {status}");
    &response["content"]["application/json"]["schema"]
}

fn fits(api: &ApiFixture, document: &Value, method: &str, target: &str, body: Option<&str>, expect: u16) -> Value {
    let answer = api.client.request(method, &path(api, target), body);
    assert_eq!(answer.status, expect, "{method} {target}: {answer:?}");
    let response: Value = serde_json::from_str(&answer.body).unwrap_or(Value::Null);
    let wrong = misfits(document, promised(document, method, target, expect), &response);
    assert_eq!(wrong, Vec::<String>::new(), "{method} {target}");
    response
}

#[test]
fn get_never_writes_and_matches_its_schema() {
    // T4
    let api = ApiFixture::new();
    let document = api.document();
    let gets = api.routes().into_iter().filter(|(method, _)| method == "GET");
    for (_, row) in gets {
        let is_asked = |target: &&str| target.split('?').next().unwrap().replace("{thread}", "{id}") == row;
        assert!(GET_PATHS.iter().any(is_asked), "{row} is not requested");
    }
    api.assert_unchanged(|| {
        for target in GET_PATHS {
            fits(&api, &document, "GET", target, None, 200);
            assert_eq!(api.client.request("HEAD", &path(&api, target), None).status, 200, "{target}");
        }
    });
    // Requests that are not refused are not logged either.
    let logs = api.home.path(".rethread/logs");
    let noted = || {
        std::fs::read_dir(&logs).unwrap().map(|log| std::fs::read(log.unwrap().path()).unwrap().len()).sum::<usize>()
    };
    let before = noted();
    api.client.request("GET", "/api/sessions", None);
    api.client.request("HEAD", "/api/sessions", None);
    assert_eq!(noted(), before);
}

#[test]
fn responses_to_changes_match_their_schema() {
    let api = ApiFixture::new();
    let document = api.document();
    let session = format!("\"session\":\"{}\"", api.session);
    let ask = format!("{{{session},\"question\":\"what about the parser?\"}}");
    let plan = format!("{{{session},\"question\":\"what?\",\"dryRun\":true}}");
    let other_model = format!("{{{session},\"question\":\"what?\",\"model\":\"x\"}}");
    let inject = format!("{{{session},\"prompt\":\"fix @@plans\"}}");
    let target: [(&str, &str, &str, u16); 25] = [
        ("POST", "/api/sessions", r#"{"name":"n","systemPrompt":"s","model":"m","cronJobId":"nightly"}"#, 201),
        ("POST", "/api/sessions", "{}", 201),
        ("PATCH", "/api/sessions/{thread}", r#"{"name":"other","alias":"o","task":"t","note":"n"}"#, 200),
        ("PATCH", "/api/sessions/{id}", r#"{"state":"ended"}"#, 200),
        ("PATCH", "/api/sessions/{id}", r#"{"state":"suspended"}"#, 409),
        ("POST", "/api/sessions/{thread}/compact", r#"{"dryRun":true,"focus":"all"}"#, 200),
        ("POST", "/api/sessions/{thread}/compact", "{}", 200),
        ("POST", "/api/sessions/{id}/compact", "{}", 409),
        ("POST", "/api/sessions/{id}/card", "{}", 409),
        ("POST", "/api/sessions/{id}/card", r#"{"dryRun":true}"#, 409),
        ("POST", "/api/sessions/{id}/activity", "{}", 200),
        ("POST", "/api/inject", &inject, 200),
        ("POST", "/api/inject", r#"{"session":"nobody"}"#, 404),
        ("POST", "/api/search", r#"{"query":"parser","kind":["prompt","tool"],"full":true}"#, 200),
        ("POST", "/api/fix", r#"{"error":"error: boom\n  at x"}"#, 200),
        ("POST", "/api/resolve", r#"{"text":"@@o and @@x"}"#, 200),
        ("POST", "/api/ask", &ask, 200),
        ("POST", "/api/ask", &plan, 200),
        ("POST", "/api/ask", r#"{"question":"what about the parser?"}"#, 200),
        ("POST", "/api/ask", r#"{"question":"where did we stop?","project":"/nowhere","noModel":true}"#, 200),
        ("POST", "/api/ask", r#"{"question":"what about the parser?","dryRun":true}"#, 200),
        ("POST", "/api/sync", "{}", 200),
        ("POST", "/api/sync", r#"{"dryRun":true,"agent":"pi","since":"30d"}"#, 200),
        ("POST", "/api/links", "{}", 201),
        ("DELETE", "/api/sessions/{thread}", "", 204),
    ];
    for (method, path, body, expect) in target {
        fits(&api, &document, method, path, (method != "DELETE").then_some(body), expect);
    }
    let codes = [
        (ask.replace(&api.session, "nobody"), 404, "SESSION_NOT_FOUND"),
        (other_model, 409, "QUERY_MODEL_UNAVAILABLE"),
        (format!("{{{session},\"question\":\"  \"}}"), 400, "INVALID_ARGS"),
    ];
    for (body, status, code) in codes {
        let response = fits(&api, &document, "POST", "/api/ask", Some(&body), status);
        assert_eq!(response["error"]["code"], code, "E001-15");
        assert!(response["error"]["kind"].is_string(), "{response}");
    }
}

#[test]
fn an_export_is_downloaded_as_a_file() {
    let api = ApiFixture::new();
    for (format, kind) in [("jsonl", "application/jsonl"), ("md", "text/markdown"), ("html", "text/html")] {
        let target = path(&api, &format!("/api/sessions/{{id}}/export?format={format}&download=true"));
        let file = api.client.request("GET", &target, None);
        assert_eq!(file.status, 200, "{file:?}");
        assert!(file.head.contains(kind) && file.head.contains("attachment; filename="), "{}", file.head);
        let json = api.client.json("GET", &target.replace("&download=true", ""), None);
        assert_eq!(json["content"], file.body);
    }
    let thread = api.client.request("GET", &path(&api, "/api/sessions/{thread}/export"), None);
    assert_eq!(thread.status, 409, "{thread:?}");
    assert_eq!(api.client.request("GET", &path(&api, "/api/sessions/{id}/export?format=pdf"), None).status, 400);
}

#[test]
fn empty_home_answers_every_get() {
    let api = ApiFixture::empty();
    let document = api.document();
    for target in GET_PATHS.iter().filter(|target| !target.contains('{')) {
        fits(&api, &document, "GET", target, None, 200);
    }
    assert!(!api.home.path(".rethread/memory.db").exists(), "no store was created");
}

#[test]
fn get_sends_no_model_request_and_post_may() {
    let model = StubModel::with_embeddings(|| 1);
    let target = || model.requests().len();
    let home = crate::fixture::new_home();
    let settings = format!(
        "[embeddings]\nendpoint = \"{}\"\nmodel = \"ideas\"\n[budget]\ndaily_tokens = 100000\n",
        model.openai_url()
    );
    home.write(".rethread/config.toml", &settings);
    let session = "9a9eadc8-c1f1-493e-a0f1-884aa996b05b";
    let transcript = TranscriptBuilder::new(session).user("fix the parser");
    home.write(&format!(".claude/projects/-app/{session}.jsonl"), transcript.build());
    assert!(home.run(&["sync", "--quiet"]).status.success());
    let known = target();
    assert!(known > 0, "sync sends a request to the model");
    let api = ApiFixture::in_home(home);
    let spent = || api.client.json("GET", "/api/status", None)["budget"]["requests"].clone();
    let before = spent();
    let found = api.client.json("GET", "/api/search?query=parser", None);
    assert_eq!((found["hits"].as_array().unwrap().len(), &found["degraded"]), (1, &Value::Null));
    assert_eq!((target(), spent()), (known, before.clone()));
    api.client.json("POST", "/api/search", Some(r#"{"query":"parser"}"#));
    assert_eq!(target(), known + 1);
    assert_ne!(spent(), before);
}
