//! Every route with every kind of caller that must be refused, made from the route table: nothing leaks, nothing changes.

use rethread_testing::{ApiClient, ClientResponse, StubModel, StubReply, TestHome, TestServer};
use serde_json::json;

use crate::fixture::{SECRET_TEXT, TeamFixture, body_of, new_home, with_wrong_secret};

fn call(client: &ApiClient, method: &str, path: &str) -> ClientResponse {
    client.request(method, path, body_of(method, path))
}

/// Routes that answer and end. An open event stream does not.
fn routes_that_end(team: &TeamFixture) -> Vec<(String, String)> {
    team.routes().into_iter().filter(|(_, path)| path != "/api/events").collect()
}

/// What needs no token at all.
fn is_public(method: &str, path: &str) -> bool {
    method == "GET" && path == "/api/health"
}

fn assert_no_leak(team: &TeamFixture, response: &ClientResponse, what: &str) {
    let is_safe = !response.body.contains("walrus is") && !response.body.contains(&team.space);
    let canaries = ["quokka", "lexer"];
    assert!(is_safe && !canaries.iter().any(|text| response.body.contains(text)), "{what}: {response:?}");
}

#[test]
fn a_valid_token_is_needed_everywhere() {
    // T14, T6
    let Some(team) = TeamFixture::start() else { return };
    let revoked = team.client(&team.space, "admin");
    let id = revoked.token.split('_').nth(2).unwrap();
    team.admin_command(&["token", "revoke", id]);
    let gone = team.new_token(&["gone", "--role", "admin"]);
    team.admin_command(&["member", "revoke", "gone"]);
    let rotated = team.new_token(&["rotated", "--role", "admin"]);
    team.admin_command(&["member", "rotate", "rotated"]);
    let wrong_secret = with_wrong_secret(&team.admin.token);
    let other_space = team.admin.token.replace(&team.space, &team.other_space);
    let operator = team.home.run_ok(&["token", "--store", team.postgres.url()]);
    let local = team.home.token();
    team.assert_unchanged(|| {
        for (method, path) in team.routes() {
            let tokens = ["", "x", &revoked.token, &gone, &rotated, &wrong_secret, &other_space, &local];
            for token in tokens.into_iter().chain((path != "/metrics").then(|| operator.trim())) {
                let response = call(&team.admin.clone().with_token(token), &method, &path);
                // Without an Origin, the form of the sign-out button is refused first.
                let is_expected = response.status == 401 || is_public(&method, &path) || path == "/logout";
                assert!(is_expected, "{method} {path} {token}: {response:?}");
                assert_no_leak(&team, &response, &path);
            }
        }
    });
}

#[test]
fn an_expired_token_opens_nothing() {
    let Some(team) = TeamFixture::start() else { return };
    let token = team.new_token(&["guest", "--role", "admin", "--expires", "1"]);
    let client = team.admin.clone().with_token(&token);
    assert_eq!(client.request("GET", "/api/sessions", None).status, 200);
    // A node whose clock is a day later.
    let late = crate::fixture::new_home().frozen_at("2100-01-01T00:00:00Z");
    let server = late.serve(&["--store", team.postgres.url()]);
    team.assert_unchanged(|| {
        for (method, path) in team.routes() {
            let response = call(&late.client_with_token(&server, &token), &method, &path);
            assert!(response.status == 401 || is_public(&method, &path), "{method} {path}: {response:?}");
            assert_no_leak(&team, &response, &path);
        }
    });
}

#[test]
fn a_member_of_another_space_finds_nothing() {
    // T14
    let Some(team) = TeamFixture::start() else { return };
    let stranger = team.client(&team.other_space, "admin");
    team.assert_unchanged(|| {
        for (method, path) in routes_that_end(&team) {
            let response = call(&stranger, &method, &path);
            assert!(response.status < 500 || response.status == 501, "{method} {path}: {response:?}");
            let is_about_a_session = path.contains(&team.session) || path.contains(&team.thread);
            // It is about files of the node, which no member may read.
            let expect = if path.ends_with("/original") { 403 } else { 404 };
            assert!(!is_about_a_session || response.status == expect, "{method} {path}: {response:?}");
            assert_no_leak(&team, &response, &path);
        }
    });
    let found = team.admin.json("GET", "/api/search?query=walrus", None);
    assert!(found.to_string().contains(SECRET_TEXT), "a member of the space finds it: {found}");
}

#[test]
fn a_reader_changes_nothing_and_a_service_reads_nothing() {
    // T14
    let Some(team) = TeamFixture::start() else { return };
    let (reader, service) = (team.client(&team.space, "reader"), team.client(&team.space, "service"));
    let limited = team.new_token(&["limited", "--role", "admin", "--scope", "read"]);
    let limited = team.admin.clone().with_token(&limited);
    let mut reads = 0;
    team.assert_unchanged(|| {
        for (method, path) in routes_that_end(&team) {
            for client in [&reader, &limited] {
                let status = call(client, &method, &path).status;
                assert!(status < 500 || status == 503, "{method} {path}: {status}");
                reads += usize::from(status == 200);
                let is_write = ["PATCH", "PUT", "DELETE"].contains(&method.as_str());
                assert!(!is_write || status == 403, "{method} {path}: {status}");
            }
        }
        // A service may write, so only what reads is tried.
        let only_reads = |method: &str, path: &str| method == "GET" || path == "/api/search" || path == "/api/ask";
        for (method, path) in routes_that_end(&team).into_iter().filter(|(method, path)| only_reads(method, path)) {
            let response = call(&service, &method, &path);
            assert_no_leak(&team, &response, &path);
            let is_open = ["/api/health", "/api/openapi.json", "/nothing/here"].contains(&path.as_str());
            assert!(is_open || response.status == 403, "{method} {path}: {response:?}");
        }
    });
    assert!(reads > 40, "a reader reads: {reads}");
    let body = serde_json::json!({"role": "user", "content": "from CI"});
    assert!(service.post_message(&team.thread, &body).0 < 300, "a service writes");
}

/// A node whose model answers everything with the secret text.
pub(crate) fn node_with_model(team: &TeamFixture) -> (TestHome, StubModel, TestServer) {
    let (home, model) = (new_home(), StubModel::with_responder(|_| StubReply::text(SECRET_TEXT)));
    home.write(".rethread/config.toml", format!("{}[threads]\ntitles = false\n", model.config()));
    let server = home.serve(&["--store", team.postgres.url()]);
    (home, model, server)
}

#[test]
fn no_answer_to_a_service_has_content_of_the_space() {
    // T14
    let Some(team) = TeamFixture::start() else { return };
    let (home, _model, server) = node_with_model(&team);
    let admin = home.client_with_token(&server, &team.admin.token);
    let turn = json!({"text": "where is it?", "clientId": "turn-1"});
    let (status, answer) = admin.post_message(&team.thread, &turn);
    assert!(status == 200 && answer.to_string().contains(SECRET_TEXT), "the model answers an admin: {answer}");
    for service in [team.client(&team.space, "service"), team.admin.clone().with_token(&limited_to_writes(&team))] {
        for service in [&service, &admin.clone().with_token(&service.token)] {
            for (method, path) in routes_that_end(&team) {
                for accept in ["*/*", "text/html"] {
                    let accept = format!("Accept: {accept}");
                    let response = service.request_with(&method, &path, &[&accept], body_of(&method, &path));
                    assert_no_leak(&team, &response, &format!("{method} {path}"));
                }
            }
            for turn in [&turn, &json!({"run": true}), &json!({"text": "where is it?", "wait": false})] {
                let (status, answer) = service.post_message(&team.thread, turn);
                assert!(status == 403 && answer["error"]["code"] == "forbidden", "{turn}: {answer}");
            }
        }
    }
}

/// The token of a member that is limited to writing.
fn limited_to_writes(team: &TeamFixture) -> String {
    team.new_token(&["limited", "--role", "member", "--scope", "write"])
}

#[test]
fn an_append_of_a_service_is_answered_with_its_number_only() {
    let Some(team) = TeamFixture::start() else { return };
    let service = team.client(&team.space, "service");
    let body = json!({"role": "user", "content": "from CI", "clientId": "ci-1"});
    let (status, first) = service.post_message(&team.thread, &body);
    assert_eq!(status, 201);
    let seq = first["record"]["seq"].as_u64().unwrap();
    assert_eq!(first["record"], json!({"recordType": "message", "seq": seq}));
    assert_eq!(service.post_message(&team.thread, &body), (200, first));
    let (status, read) = team.admin.post_message(&team.thread, &body);
    assert!(status == 200 && read["record"]["content"].to_string().contains("from CI"), "{read}");
}

#[test]
fn the_health_and_the_sign_in_page_answer_head_without_a_token() {
    let Some(team) = TeamFixture::start() else { return };
    for path in ["/api/health", "/login"] {
        let response = team.server.send(&[&format!("HEAD {path}")], "");
        assert!(response.status == 200 && response.body.is_empty(), "{path}: {response:?}");
    }
    assert_eq!(team.server.send(&["HEAD /api/sessions"], "").status, 401);
}

#[test]
fn a_member_manages_no_members() {
    let Some(team) = TeamFixture::start() else { return };
    let member = team.client(&team.space, "member");
    team.assert_unchanged(|| {
        let of_admins = ["/api/members", "/api/tokens", "/api/audit", "/api/retention", "/api/status"];
        for (method, path) in routes_that_end(&team) {
            let is_for_admins = of_admins.iter().any(|start| path.starts_with(start)) || method == "DELETE";
            if is_for_admins {
                let response = call(&member, &method, &path);
                assert_eq!(response.error(), (403, "forbidden".to_owned()), "{method} {path}");
            }
        }
    });
    let made = member.json("POST", "/api/sessions", Some(r#"{"name":"mine"}"#));
    assert_eq!(made["session"]["name"], "mine");
}

#[test]
fn what_is_about_files_of_the_node_is_refused_to_everybody() {
    let Some(team) = TeamFixture::start() else { return };
    team.assert_unchanged(|| {
        for (method, path) in [("POST", "/api/sync"), ("GET", "/api/doctor"), ("POST", "/api/links")] {
            assert_eq!(call(&team.admin, method, path).error(), (403, "forbidden".to_owned()), "{path}");
        }
        let health = team.admin.request("GET", "/health", None);
        assert_eq!(health.status, 403);
    });
}
