//! Limits, the audit and members over HTTP.

use rethread_testing::wait_until;

use crate::fixture::{TeamFixture, parsed};

#[test]
fn a_member_is_limited_alone() {
    // T16
    let Some(team) = TeamFixture::start() else { return };
    let token = team.new_token(&["eager", "--role", "member", "--requests-per-minute", "5", "--max-body-bytes", "100"]);
    let eager = team.admin.clone().with_token(&token);
    let long = format!(r#"{{"name":"{}"}}"#, "x".repeat(200));
    assert_eq!(eager.error("POST", "/api/sessions", Some(&long)), (413, "too-large".to_owned()));
    let refused = (0..12).filter(|_| eager.request("GET", "/api/sessions", None).status == 429).count();
    // A minute may begin in between.
    assert!(refused >= 2, "{refused}");
    assert_eq!(team.admin.request("GET", "/api/sessions", None).status, 200, "others are not limited");
    let token = team.new_token(&["daily", "--role", "member", "--max-bytes-per-day", "40"]);
    let daily = team.admin.clone().with_token(&token);
    let statuses: Vec<u16> =
        (0..4).map(|_| daily.request("POST", "/api/sessions", Some(r#"{"name":"12345"}"#)).status).collect();
    assert!(statuses[0] == 201 && statuses.contains(&429), "{statuses:?}");
}

#[test]
fn members_are_managed_over_http_and_everything_is_in_the_audit() {
    let Some(team) = TeamFixture::start() else { return };
    let made = team.admin.json(
        "POST",
        "/api/members",
        Some(r#"{"name":"carol","role":"member","scope":["read"],"expiresDays":30}"#),
    );
    let carol = team.admin.clone().with_token(made["token"].as_str().unwrap());
    assert_eq!(made["member"], "carol");
    assert_eq!(team.admin.error("POST", "/api/members", Some(r#"{"name":"carol","role":"member"}"#)).0, 409);
    assert_eq!(
        team.admin.error("POST", "/api/members", Some(r#"{"name":"x","role":"reader","scope":["admin"]}"#)).0,
        400
    );
    assert_eq!(carol.request("GET", "/api/search?query=walrus", None).status, 200);
    assert_eq!(carol.request("POST", "/api/sessions", Some("{}")).status, 403, "the token is limited");
    let rotated = team.admin.json("POST", "/api/members/carol/rotate", Some("{}"));
    assert_eq!(carol.request("GET", "/api/sessions", None).status, 401, "the old token ends at once");
    let carol = carol.with_token(rotated["token"].as_str().unwrap());
    assert_eq!(carol.request("GET", "/api/sessions", None).status, 200);
    let members = team.admin.json("GET", "/api/members", None);
    assert_eq!(members["members"].as_array().unwrap().len(), 2);
    let limited = team.admin.json("PATCH", "/api/members/carol", Some(r#"{"requestsPerMinute":7}"#));
    assert_eq!(limited["members"][0]["requestsPerMinute"], 7);
    let id = rotated["id"].as_str().unwrap();
    assert_eq!(team.admin.request("DELETE", &format!("/api/tokens/{id}"), None).status, 204);
    assert_eq!(carol.request("GET", "/api/sessions", None).status, 401);
    assert_eq!(team.admin.request("DELETE", "/api/members/carol", None).status, 204);
    assert_eq!(team.admin.error("DELETE", "/api/members/root", None).0, 409, "the last admin stays");
    assert_eq!(team.admin.json("PUT", "/api/retention", Some(r#"{"days":400}"#))["retentionDays"], 400);
    let targets = || {
        let audit = team.admin.json("GET", "/api/audit?limit=500", None);
        let events = audit["events"].as_array().unwrap();
        let shown = |event: &serde_json::Value| {
            format!("{} {} {} {}", event["member"], event["access"], event["target"], event["status"]).replace('"', "")
        };
        events.iter().map(shown).collect::<Vec<_>>()
    };
    wait_until("the audit", || targets().iter().any(|target| target.contains("PUT /api/retention")));
    let targets = targets();
    for expected in [
        "root admin POST /api/members 201",
        "carol read GET /api/search 200",
        "carol write POST /api/sessions 403",
        "root admin POST /api/members/{name}/rotate 201",
        "root admin DELETE /api/tokens/{token} 204",
    ] {
        assert!(targets.iter().any(|target| target == expected), "{expected}: {targets:#?}");
    }
    let numbers: Vec<u64> = team.admin.json("GET", "/api/audit?limit=500", None)["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["number"].as_u64().unwrap())
        .collect();
    assert!(numbers.windows(2).all(|pair| pair[0] == pair[1] + 1), "without gaps: {numbers:?}");
}

#[test]
fn tools_are_checked_and_audited_one_by_one() {
    let Some(team) = TeamFixture::start() else { return };
    let reader = team.client(&team.space, "reader");
    let call = |name: &str, arguments: &str| {
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        );
        reader.request_with("POST", "/mcp", &["Accept: application/json, text/event-stream"], Some(&body))
    };
    let found = call("search_memory", r#"{"query":"walrus"}"#);
    assert!(found.status == 200 && found.body.contains("walrus"), "{found:?}");
    assert_eq!(call("remember", r#"{"text":"x"}"#).status, 403);
    let audit = || team.admin.request("GET", "/api/audit?limit=50", None).body;
    wait_until("the audit", || audit().contains("POST /mcp search_memory"));
    assert!(parsed(&audit())["events"].is_array());
}
