//! A member signs in to the web page.

use crate::fixture::{TeamFixture, with_wrong_secret};

const FORM: &str = "Content-Type: application/x-www-form-urlencoded";

fn cookie_of(head: &str) -> String {
    let line = head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    line.split(';').next().unwrap().to_owned()
}

#[test]
fn a_member_signs_in_with_its_token_and_out_again() {
    let Some(team) = TeamFixture::start() else { return };
    let origin = format!("Origin: http://{}", team.server.authority());
    let page = team.server.send(&["GET /login", "Accept: text/html"], "");
    assert!(page.status == 200 && page.body.contains("name=\"token\""), "{page:?}");
    let board = team.server.send(&["GET /", "Accept: text/html"], "");
    assert!(board.status == 401 && board.body.contains("name=\"token\""), "{board:?}");
    let form = format!("token={}", team.admin.token);
    let signed_in = team.server.send(&["POST /login", FORM, &origin], &form);
    assert_eq!(signed_in.status, 200, "{signed_in:?}");
    assert!(signed_in.head.contains("httponly; samesite=strict"), "{}", signed_in.head);
    let cookie = cookie_of(&signed_in.head);
    assert!(!signed_in.body.contains(&team.admin.token), "no page shows the token");
    let cookie = format!("Cookie: {cookie}");
    let board = team.server.send(&["GET /", "Accept: text/html", &cookie], "");
    assert!(board.status == 200 && board.body.contains("Sign out") && board.body.contains("quokka"), "{board:?}");
    let left = team.server.send(&["POST /logout", FORM, &origin, &cookie], "");
    assert!(left.status == 200 && left.head.contains("max-age=0"), "{left:?}");
    // The cookie ends with its token.
    team.admin_command(&["member", "add", "second", "--role", "admin"]);
    team.admin_command(&["member", "revoke", "root"]);
    assert_eq!(team.server.send(&["GET /", &cookie], "").status, 401);
}

#[test]
fn a_wrong_token_and_other_pages_do_not_sign_in() {
    // T3, T4, T6
    let Some(team) = TeamFixture::start() else { return };
    let origin = format!("Origin: http://{}", team.server.authority());
    let service = team.client(&team.space, "service");
    for token in ["", "x", &service.token, &with_wrong_secret(&team.admin.token)] {
        let refused = team.server.send(&["POST /login", FORM, &origin], &format!("token={token}"));
        assert!(refused.status == 403 && !refused.head.contains("set-cookie"), "{token}: {refused:?}");
    }
    let form = format!("token={}", team.admin.token);
    for headers in [vec!["POST /login", FORM], vec!["POST /login", FORM, "Origin: http://evil.example"]] {
        let refused = team.server.send(&headers, &form);
        assert!(refused.status == 403 && !refused.head.contains("set-cookie"), "{headers:?}: {refused:?}");
    }
    let signed_in = team.server.send(&["POST /login", FORM, &origin], &form);
    let cookie = format!("Cookie: {}", cookie_of(&signed_in.head));
    let json = "Content-Type: application/json";
    let refused = team.server.send(&["POST /api/sessions", json, &cookie], "{}");
    assert_eq!(refused.status, 403, "a cookie alone writes nothing");
    let changed = cookie.replacen(&team.space, &team.other_space, 1);
    assert_ne!(changed, cookie);
    assert_eq!(team.server.send(&["GET /", &changed], "").status, 401);
}

#[test]
fn readers_see_sessions_without_the_controls_that_change_them() {
    let Some(team) = TeamFixture::start() else { return };
    let origin = format!("Origin: http://{}", team.server.authority());
    let page_of = |role: &str| {
        let token = team.client(&team.space, role).token;
        let signed_in = team.server.send(&["POST /login", FORM, &origin], &format!("token={token}"));
        let cookie = format!("Cookie: {}", cookie_of(&signed_in.head));
        let path = format!("GET /sessions/{}", team.thread);
        let page = team.server.send(&[&path, "Accept: text/html", &cookie], "");
        assert_eq!(page.status, 200, "{role}: {page:?}");
        let change =
            [&*format!("PATCH /api/sessions/{}", team.thread), "Content-Type: application/json", &cookie, &origin];
        (page.body, team.server.send(&change, r#"{"pinned":true}"#).status)
    };
    let controls = ["data-pin=", "data-rename=", "data-add-tag=", "data-chat="];
    let (body, status) = page_of("reader");
    assert_eq!(status, 403);
    assert!(controls.iter().all(|control| !body.contains(control)), "{body}");
    let (body, status) = page_of("member");
    assert_eq!(status, 200);
    assert!(controls[..3].iter().all(|control| body.contains(control)), "{body}");
}
