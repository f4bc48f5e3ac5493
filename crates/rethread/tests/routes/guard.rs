//! Every route with everything that must be refused: the right status, and nothing changes.

use crate::fixture::{ApiFixture, OTHER_PATHS};
use rethread_testing::ClientResponse;

/// One more byte than a body may have.
const TOO_MANY: usize = (2 << 20) + 1;

/// Method and path of every route.
fn all(api: &ApiFixture) -> Vec<(String, String)> {
    let beside = OTHER_PATHS.map(|(method, path)| (method.to_owned(), path.to_owned()));
    api.routes().into_iter().map(|(method, path)| (method, path.replace("{id}", &api.session))).chain(beside).collect()
}

fn takes_body(method: &str) -> bool {
    matches!(method, "POST" | "PATCH" | "PUT")
}

/// Sends a request with only these headers.
fn send(api: &ApiFixture, (method, path): (&str, &str), headers: &[&str], body: &str) -> ClientResponse {
    let mut lines = vec![format!("{method} {path} HTTP/1.1"), "Connection: close".into()];
    lines.push(format!("Content-Length: {}", body.len()));
    if !headers.iter().any(|line| line.starts_with("Host:")) {
        lines.push(format!("Host: {}", api.client.authority));
    }
    lines.extend(headers.iter().map(|line| (*line).to_owned()));
    api.client.send_bytes(format!("{}\r\n\r\n{body}", lines.join("\r\n")).as_bytes())
}

/// Sends these headers to every route, and expects this error from all.
fn all_refuse(api: &ApiFixture, headers: &[&str], expect: (u16, &str)) {
    for (method, path) in all(api) {
        let refused = send(api, (&method, &path), headers, "{}").error();
        assert_eq!((refused.0, refused.1.as_str()), expect, "{method} {path} {headers:?}");
    }
}

#[test]
fn every_route_requires_the_token_in_the_header() {
    // T4, T6
    let api = ApiFixture::new();
    let json = "Content-Type: application/json";
    api.assert_unchanged(|| {
        all_refuse(&api, &[json], (401, "unauthorized"));
        let near = format!("Authorization: Bearer {}x", api.client.token);
        let basic = format!("Authorization: Basic {}", api.client.token);
        let right = format!("Authorization: Bearer {}", api.client.token);
        let bare = format!("Authorization: {}", api.client.token);
        let cookie = format!("Cookie: rethread={}", api.client.token);
        for wrong in [&near, &basic, &bare, &cookie, "Authorization: Bearer", "Authorization: Bearer "] {
            all_refuse(&api, &[json, wrong], (401, "unauthorized"));
        }
        all_refuse(&api, &[json, &near, &right], (401, "unauthorized"));
        let shown = format!("/api/health?token={0}&access_token={0}", api.client.token);
        assert_eq!(send(&api, ("GET", &shown), &[], "").status, 401);
        // Public paths do not lead to protected ones.
        for path in
            ["/static/../api/sessions", "/static/%2e%2e/api/sessions", "/login/../api/sessions", "//api/sessions"]
        {
            let response = send(&api, ("GET", path), &[], "");
            assert!(response.status >= 400 && !response.body.contains("sessions\":"), "{path}: {response:?}");
        }
    });
}

#[test]
fn every_route_refuses_other_hosts_and_origins() {
    // T3
    let api = ApiFixture::new();
    let bearer = format!("Authorization: Bearer {}", api.client.token);
    let authority = &api.client.authority;
    api.assert_unchanged(|| {
        for host in ["Host: evil.example", "Host: localhost.evil.example", "Host: "] {
            all_refuse(&api, &[&bearer, "Content-Type: application/json", host], (403, "forbidden"));
        }
        let own = format!("Host: {authority}");
        all_refuse(&api, &[&bearer, "Content-Type: application/json", &own, "Host: evil.example"], (403, "forbidden"));
        let origin = format!("Origin: http://{authority}");
        for origins in
            [&["Origin: http://evil.example"][..], &["Origin: null"], &[&origin, "Origin: http://evil.example"]]
        {
            let headers = [&[bearer.as_str(), "Content-Type: application/json"], origins].concat();
            all_refuse(&api, &headers, (403, "forbidden"));
        }
        // A foreign host in the request line.
        let elsewhere = "http://evil.example/api/health";
        assert_eq!(send(&api, ("GET", elsewhere), &[&bearer], "").status, 403);
        let here = format!("http://{authority}/api/health");
        assert_eq!(send(&api, ("GET", &here), &[&bearer, &origin], "").status, 200);
        let preflight = ["Origin: http://evil.example", "Access-Control-Request-Method: POST"];
        let response = send(&api, ("OPTIONS", "/api/sessions"), &preflight, "");
        assert!(response.status == 403 && !response.head.contains("access-control-allow"), "{response:?}");
    });
}

#[test]
fn every_route_with_a_body_requires_json() {
    // T4
    let api = ApiFixture::new();
    let bearer = format!("Authorization: Bearer {}", api.client.token);
    let routes: Vec<_> = all(&api).into_iter().filter(|(method, _)| takes_body(method)).collect();
    assert!(routes.len() > 10, "{routes:?}");
    api.assert_unchanged(|| {
        for (method, path) in &routes {
            for kind in [
                &["Content-Type: text/plain"][..],
                &["Content-Type: application/x-www-form-urlencoded"],
                &["Content-Type: multipart/form-data; boundary=x"],
                &["Content-Type: application/json", "Content-Type: text/plain"],
                &[],
            ] {
                let headers = [&[bearer.as_str()], kind].concat();
                let refused = send(&api, (method, path), &headers, "{}").error();
                assert_eq!(refused, (415, "bad-request".to_owned()), "{method} {path} {kind:?}");
            }
        }
    });
}

#[test]
fn every_route_limits_its_body() {
    // T16
    let api = ApiFixture::new();
    let bearer = format!("Authorization: Bearer {}", api.client.token);
    let headers = [bearer.as_str(), "Content-Type: application/json"];
    let long = " ".repeat(TOO_MANY);
    api.assert_unchanged(|| {
        for (method, path) in all(&api) {
            let refused = send(&api, (&method, &path), &headers, &long);
            assert_eq!(refused.error(), (413, "too-large".to_owned()), "{method} {path}");
        }
        // Also without a declared length.
        let head = format!(
            "POST /api/fix HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{bearer}\r\nContent-Type: application/json\r\n\
             Transfer-Encoding: chunked\r\n\r\n",
            api.client.authority
        );
        let chunk = format!("10000\r\n{}\r\n", " ".repeat(0x10000));
        let chunked = head + &chunk.repeat(33) + "0\r\n\r\n";
        assert_eq!(api.client.send_bytes(chunked.as_bytes()).error(), (413, "too-large".to_owned()));
    });
    // A body of exactly the limit is read.
    let just = format!("{{\"error\":\"x\"}}{}", " ".repeat(TOO_MANY - 1 - r#"{"error":"x"}"#.len()));
    assert_eq!(api.client.request("POST", "/api/fix", Some(&just)).status, 200);
}

#[test]
fn every_route_refuses_invalid_json_and_unknown_fields() {
    let api = ApiFixture::new();
    let deep = "[".repeat(100_000);
    let nested = format!("{{\"name\":{deep}");
    let bodies =
        ["{", "[]", "null", "\"x\"", "{}{}", "{\"\\ud800\":1}", "\u{feff}{}", "{\"surprise\":1}", &deep, &nested];
    api.assert_unchanged(|| {
        for (method, path) in api.routes() {
            let path = path.replace("{id}", &api.session);
            if takes_body(&method) {
                for body in bodies {
                    let refused = api.client.error(&method, &path, Some(body));
                    let start: String = body.chars().take(20).collect();
                    assert_eq!(refused, (400, "bad-request".to_owned()), "{method} {path} {start}");
                }
            }
            let surprise = format!("{path}?surprise=1");
            let refused = api.client.error(&method, &surprise, takes_body(&method).then_some("{}"));
            assert_eq!(refused, (400, "bad-request".to_owned()), "{method} {surprise}");
        }
    });
}

#[test]
fn invalid_id_is_400_and_never_a_path() {
    // T7, S7.8, S004-02
    let api = ApiFixture::new();
    let lower = api.session.to_lowercase();
    let longer = format!("{}0", api.session);
    let shorter = &api.session[1..];
    let wrong = [
        "..%2f..%2fetc",
        "..%2F..%2F..%2Fetc%2Fpasswd",
        "%2e%2e",
        "..",
        "%00",
        "01%0000000000000000000000000",
        "%E2%98%83",
        "%ff",
        "%c3%28",
        "8ZZZZZZZZZZZZZZZZZZZZZZZZZ",
        "01JILOU0000000000000000000",
        "%20",
        "threads",
        "plans",
        &lower,
        &longer,
        shorter,
    ];
    api.assert_unchanged(|| {
        for (method, path) in api.routes().into_iter().filter(|(_, path)| path.contains("{id}")) {
            for id in wrong {
                let path = path.replace("{id}", id);
                let refused = api.client.error(&method, &path, takes_body(&method).then_some("{}"));
                assert_eq!(refused, (400, "bad-request".to_owned()), "{method} {path}");
            }
            // Extra or missing slashes are other paths.
            for id in ["../../etc/passwd", ""] {
                let refused = api.client.error(&method, &path.replace("{id}", id), takes_body(&method).then_some("{}"));
                assert!([400, 404, 405].contains(&refused.0), "{method} {path} {id} {refused:?}");
            }
            // A valid id that is not assigned.
            let unassigned = path.replace("{id}", "01JZ0000000000000000000000");
            let body = match method.as_str() {
                "PATCH" => r#"{"name":"x"}"#,
                _ if path.ends_with("/messages") => r#"{"role":"user","content":"x"}"#,
                _ => "{}",
            };
            let refused = api.client.error(&method, &unassigned, takes_body(&method).then_some(body));
            assert_eq!(refused, (404, "unknown-reference".to_owned()), "{method} {unassigned}");
        }
    });
    let escaped = api.session.bytes().map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
    assert_eq!(
        api.client.request("GET", &format!("/api/sessions/{escaped}"), None).status,
        200,
        "another spelling of the same"
    );
}

#[test]
fn parameters_out_of_range_are_refused() {
    let api = ApiFixture::new();
    let id = &api.session;
    let long = "x".repeat(4_001);
    let many = "kind=prompt&".repeat(17);
    let wrong = [
        "/api/sessions?limit=0".to_owned(),
        "/api/sessions?limit=1001".into(),
        "/api/sessions?limit=-1".into(),
        "/api/sessions?limit=1e3".into(),
        "/api/sessions?limit=5&limit=6".into(),
        "/api/sessions?state=tired".into(),
        "/api/sessions?agent=nobody".into(),
        "/api/sessions?includeEmpty=yes".into(),
        "/api/sessions?project=".into(),
        "/api/sessions?offset=1000001".into(),
        format!("/api/search?query={long}"),
        format!("/api/search?{many}"),
        "/api/search?query=x&kind=nonsense".into(),
        "/api/search?query=x&since=someday".into(),
        "/api/search".into(),
        "/api/search?query=%20".into(),
        "/api/timeline?until=%00".into(),
        "/api/facts?asOf=x".into(),
        "/api/usage?by=colour".into(),
        "/api/fix".into(),
        "/api/fix?error=".into(),
        "/api/fix?error=%20".into(),
        "/api/files".into(),
        format!("/api/sessions/{id}/records?from=x"),
        format!("/api/sessions/{id}/records?from=9007199254740992"),
        format!("/api/sessions/{id}/records?profile=all"),
        format!("/api/sessions/{id}?messages=1001"),
    ];
    let bodies = [
        ("POST", "/api/sessions".to_owned(), format!("{{\"name\":\"{}\"}}", "x".repeat(201))),
        ("POST", "/api/sessions".into(), r#"{"name":7}"#.to_owned()),
        ("POST", "/api/search".into(), r#"{"query":"x","limit":101}"#.into()),
        ("POST", "/api/search".into(), r#"{"query":"x","limit":"5"}"#.into()),
        ("POST", "/api/sync".into(), r#"{"since":"someday"}"#.into()),
        ("POST", "/api/sync".into(), r#"{"paths":["/etc"]}"#.into()),
        ("POST", "/api/ask".into(), r#"{"session":"x"}"#.into()),
        ("PATCH", format!("/api/sessions/{id}"), "{}".into()),
        ("PATCH", format!("/api/sessions/{id}"), r#"{"state":"active"}"#.into()),
        ("PATCH", format!("/api/sessions/{id}"), r#"{"alias":"two words"}"#.into()),
        ("PATCH", format!("/api/sessions/{id}"), r#"{"name":"x","note":" "}"#.into()),
    ];
    api.assert_unchanged(|| {
        for path in &wrong {
            assert_eq!(api.client.error("GET", path, None).0, 400, "{path}");
        }
        for (method, path, body) in &bodies {
            assert_eq!(api.client.error(method, path, Some(body)).0, 400, "{method} {path} {body}");
        }
    });
}

#[test]
fn unsupported_method_is_405_with_an_allow_header() {
    let api = ApiFixture::new();
    let refused = api.client.request("DELETE", "/api/sessions", None);
    assert_eq!(refused.error().0, 405);
    let allow = refused.head.lines().find(|line| line.starts_with("allow:")).unwrap().to_owned();
    assert!(allow.contains("get") && allow.contains("post"), "{allow}");
    assert_eq!(api.client.request("OPTIONS", "/api/health", None).status, 405);
    let made_up = api.client.request(&"X".repeat(5_000), "/api/health", None);
    assert!(made_up.error().0 == 405 && made_up.body.len() < 1_000, "{made_up:?}");
    let head = api.client.request("HEAD", "/api/health", None);
    assert!(head.status == 200 && head.body.is_empty(), "{head:?}");
    assert_eq!(api.client.error("GET", &format!("/{}", "x".repeat(3000)), None), (404, "unknown-path".to_owned()));
}
