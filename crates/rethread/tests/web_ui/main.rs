//! The web UI: login, escaping of stored text, and that viewing changes nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::path::PathBuf;

use rethread_testing::{ClientResponse, TestHome, TestServer, TranscriptBuilder, contents_below, tool_call_block};
use serde_json::{Value, json};

const SESSION: &str = "9a9eadc8-c1f1-493e-a0f1-884aa996b05b";
/// Text that attacks a browser, a terminal and a Markdown renderer.
const HOSTILE: &str = "<script>alert(1)</script><img src=x onerror=alert(2)> [go](javascript:alert(3)) \
    \u{1b}]52;c;aGk=\u{7}\u{1b}[2J \u{202e}\"'> <style>*{display:none}</style>";
/// Pages that need no session.
const PAGES: [&str; 17] = [
    "/",
    "/?since=2026-01-01&until=2026-12-31&cost=1&failures=1&tag=%3Cb%3E&pinned=1",
    "/?year=2026",
    "/palette",
    "/palette?q=rustls",
    "/search",
    "/search?q=parser",
    "/memory",
    "/memory/ask",
    "/memory/ask?q=why%20rustls%3F",
    "/memory/errors",
    "/memory/decisions?all=1",
    "/memory/workflows",
    "/memory/graph",
    "/memory/graph?of=cargo%20test",
    "/usage?since=all",
    "/health",
];

/// A synced home with one session whose every text is hostile.
fn hostile_home() -> TestHome {
    let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"));
    let error = format!("Exit code 101\nerror[E0433]: failed to resolve {HOSTILE}");
    let path = format!("/app<b>/{HOSTILE}.rs");
    let edit = json!({"file_path": path, "old_string": "a", "new_string": "b"});
    let lines = TranscriptBuilder::new(SESSION)
        .cwd("/app<b>")
        .branch(HOSTILE)
        .model(HOSTILE)
        .times("2026-02-20T12:00:00Z".parse().unwrap(), 1)
        .user(format!("Use rustls instead of {HOSTILE} because {HOSTILE} parser"))
        .line(call("toolu_1", "Bash", &json!({"command": format!("cargo test # {HOSTILE}")})))
        .tool_result("toolu_1", &error, true)
        .line(call("toolu_2", "Edit", &edit))
        .tool_result("toolu_2", HOSTILE, false)
        .line(call("toolu_3", "Bash", &json!({"command": "cargo test"})))
        .tool_result("toolu_3", "ok", false)
        .assistant(&format!("# {HOSTILE}\n\n{HOSTILE}\n\n```{HOSTILE}\n{HOSTILE}\n```"))
        .raw(&json!({"type": "ai-title", "aiTitle": HOSTILE, "sessionId": SESSION}));
    home.write(&format!(".claude/projects/-app/{SESSION}.jsonl"), lines.build());
    home.run_ok(&["sync"]);
    home.run_ok(&["session", "pin", SESSION]);
    home.run_ok(&["session", "tag", SESSION, "<script>tag"]);
    home
}

/// A tool call that took tokens.
fn call(id: &str, name: &str, input: &Value) -> Value {
    json!({"type": "assistant", "message": {"role": "assistant", "id": format!("msg_{id}"), "model": HOSTILE,
        "content": [tool_call_block(id, name, input)], "usage": {"input_tokens": 9, "output_tokens": 9}}})
}

/// The cookie header after following the login link.
fn cookie(server: &TestServer) -> String {
    let path = server.login_path();
    let first = server.send(&[&format!("GET {path}"), "Accept: text/html"], "");
    assert_eq!(first.status, 200, "{first:?}");
    let cookie = first.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    format!("Cookie: {}", cookie.split(';').next().unwrap())
}

/// Requests a page as a browser does.
fn get_page(server: &TestServer, path: &str, cookie: &str) -> ClientResponse {
    server.send(&[&format!("GET {path}"), cookie, "Accept: text/html,application/xhtml+xml"], "")
}

fn session_id(home: &TestHome) -> String {
    let listed = home.run(&["sessions", "--all-projects", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    listed["sessions"][0]["id"].as_str().unwrap().to_owned()
}

fn pages(home: &TestHome) -> Vec<String> {
    let id = session_id(home);
    let queries = ["", "?line=4&all=1", "?from=0", "?view=focused", "?find=rustls%20parser", "/preview?line=4"];
    let of_session = queries.map(|query| format!("/sessions/{id}{query}"));
    let of_entries = (0..5).map(|seq| format!("/sessions/{id}/entries/{seq}"));
    PAGES.map(str::to_owned).into_iter().chain(of_session).chain(of_entries).collect()
}

#[test]
fn pages_need_a_login() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    for path in pages(&home) {
        let shown = get_page(&server, &path, &cookie);
        assert_eq!(shown.status, 200, "{path}: {}", shown.body);
        assert!(
            shown.head.contains("text/html") && shown.head.contains("cache-control: no-store"),
            "{path}: {}",
            shown.head
        );
        assert!(shown.body.contains("<main id=\"main\"") && shown.body.contains("</html>"), "{path}");
        let refused = get_page(&server, &path, "X-Nothing: 1");
        assert_eq!(refused.status, 401, "{path}");
        assert!(refused.body.contains("rethread open") && !refused.body.contains("parser"), "{path}: {}", refused.body);
        let program = server.send(&[&format!("GET {path}")], "");
        assert_eq!((program.status, program.body.contains("\"error\":{")), (401, true), "{path}: {}", program.body);
    }
}

#[test]
fn stored_text_is_escaped_on_every_page() {
    // T24
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    let mut seen = 0;
    for path in pages(&home) {
        let shown = get_page(&server, &path, &cookie);
        let body = shown.body;
        seen += usize::from(body.contains("&lt;script&gt;"));
        for harm in
            ["<script>", "<img", "onerror=alert(2)>", "href=\"javascript", "<style", " style=\"", "onclick", "app<b>"]
        {
            assert!(!body.contains(harm), "{path}: {harm}");
        }
        // All script elements are our own files.
        let ours = body.matches("<script src=\"/static/").count();
        assert_eq!(body.matches("<script").count(), ours, "{path}");
        let dangerous = body.chars().find(|c| rethread_model::is_unsafe_to_display(*c));
        assert_eq!(dangerous, None, "{path}");
    }
    assert!(seen >= 8, "the hostile text is on {seen} pages");
}

#[test]
fn a_call_links_to_its_change_and_output() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let (cookie, id) = (cookie(&server), session_id(&home));
    let session = get_page(&server, &format!("/sessions/{id}"), &cookie).body;
    for (seq, link, content) in [
        (1, "Show output", "error[E0433]: failed to resolve &lt;script&gt;"),
        (
            2,
            "Show change",
            "<tr class=\"added\"><td class=\"at\"></td><td class=\"sign\">+</td><td class=\"code\">b</td></tr>",
        ),
    ] {
        let control = format!("href=\"/sessions/{id}/entries/{seq}\" data-load>{link}</a>");
        assert!(session.contains(&control), "{control}: {session}");
        let page = get_page(&server, &format!("/sessions/{id}/entries/{seq}"), &cookie).body;
        assert!(page.contains("id=\"original\"") && page.contains(content), "{content}: {page}");
    }
    std::fs::remove_file(home.path(&format!(".claude/projects/-app/{SESSION}.jsonl"))).unwrap();
    let page = get_page(&server, &format!("/sessions/{id}/entries/1"), &cookie).body;
    assert!(page.contains("The transcript is gone; showing what is stored."), "{page}");
    for (path, status) in [("entries/99", 404), ("entries/x", 400)] {
        assert_eq!(get_page(&server, &format!("/sessions/{id}/{path}"), &cookie).status, status);
    }
}

#[test]
fn content_security_policy_allows_only_own_files() {
    // T24
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    for path in ["/", "/nowhere", "/static/page.css", "/login"] {
        let head = get_page(&server, path, &cookie).head;
        let policy = head.lines().find_map(|line| line.strip_prefix("content-security-policy: ")).unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe") && head.contains("x-content-type-options: nosniff"), "{path}: {head}");
    }
}

#[test]
fn errors_are_pages_for_browsers_and_json_for_programs() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    let wrong = [
        ("/nowhere", 404),
        ("/sessions/01ARZ3NDEKTSV4RRFFQ69G5FAV", 404),
        ("/sessions/nonsense", 400),
        ("/sessions/..%2f..%2fetc%2fpasswd", 400),
        ("/?state=sleeping", 400),
        ("/?agent=nobody", 400),
        ("/search?q=x&kind=nothing", 400),
        ("/search?q=x&since=sometime", 400),
        ("/memory/graph?kind=nothing", 400),
        ("/?from=minus", 400),
    ];
    for (path, status) in wrong {
        let shown = get_page(&server, path, &cookie);
        assert_eq!(shown.status, status, "{path}: {}", shown.body);
        assert!(shown.body.contains("<h1>") && shown.body.contains("href=\"/\""), "{path}: {}", shown.body);
        let response = server.send(&[&format!("GET {path}"), &cookie], "");
        assert_eq!(
            (response.status, response.body.contains("\"error\":{")),
            (status, true),
            "{path}: {}",
            response.body
        );
    }
    let used = server.send(&["GET /login?code=used", "Accept: text/html"], "");
    assert_eq!((used.status, used.body.contains("rethread open")), (403, true), "{}", used.body);
}

#[test]
fn empty_home_suggests_init_and_stays_empty() {
    let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"));
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    for path in [
        "/",
        "/search?q=x",
        "/memory",
        "/memory/ask",
        "/memory/ask?q=why%20rustls%3F",
        "/memory/errors",
        "/memory/decisions",
        "/memory/workflows",
        "/memory/graph",
        "/usage",
        "/health",
    ] {
        let shown = get_page(&server, path, &cookie);
        assert_eq!((shown.status, shown.body.contains("rethread init")), (200, true), "{path}: {}", shown.body);
    }
    assert!(!home.path(".rethread/memory.db").exists(), "a read creates no store");
}

#[test]
fn a_question_is_answered_with_links_to_its_sources() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    let shown = get_page(&server, "/memory/ask?q=why%20did%20we%20use%20rustls%3F", &cookie);
    assert_eq!(shown.status, 200);
    assert!(shown.body.contains("Use rustls instead of") && shown.body.contains("class=\"cite\""), "{}", shown.body);
    assert!(shown.body.contains("#L"), "a citation links to a line");
    let unknown = get_page(&server, "/memory/ask?q=which%20zeppelin%3F&project=/app%3Cb%3E", &cookie);
    assert!(unknown.body.contains("Nothing known"), "{}", unknown.body);
}

#[test]
fn viewing_pages_changes_nothing() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    // The first reader creates the side files of the database.
    get_page(&server, "/", &cookie);
    let before = contents_below(&home.path(".rethread"));
    assert!(before.len() > 3, "{before:?}");
    for path in pages(&home) {
        assert_eq!(get_page(&server, &path, &cookie).status, 200, "{path}");
    }
    let after = contents_below(&home.path(".rethread"));
    let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
    let changed: Vec<&PathBuf> = before.keys().chain(after.keys()).filter(differs).collect();
    assert!(changed.is_empty(), "{changed:?} changed");
}

#[test]
fn static_files_are_cached_until_they_change() {
    let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"));
    let server = home.serve(&["--no-watch"]);
    let page = server.send(&["GET /login", "Accept: text/html"], "").body;
    let named = page.split("href=\"").find_map(|rest| rest.strip_prefix("/static/page.css?v=")).unwrap();
    let version = named.split('"').next().unwrap();
    let ask = |path: &str, more: &str| server.send(&[&format!("GET {path}"), more], "");
    let first = ask(&format!("/static/page.css?v={version}"), "X-Nothing: 1");
    assert_eq!(first.status, 200);
    assert!(first.head.contains("immutable") && first.head.contains(&format!("etag: \"{version}\"")), "{}", first.head);
    let plain = ask("/static/page.css", "X-Nothing: 1");
    assert!(plain.head.contains("cache-control: no-cache"), "{}", plain.head);
    assert_eq!(ask("/static/page.css", &format!("If-None-Match: \"{version}\"")).status, 304);
    for (name, kind) in [("page.js", "text/javascript"), ("theme.js", "text/javascript"), ("icon.svg", "image/svg+xml")]
    {
        let file = ask(&format!("/static/{name}"), "X-Nothing: 1");
        assert_eq!((file.status, file.head.contains(kind)), (200, true), "{}", file.head);
    }
    assert_eq!(ask("/static/nothing.js", "X-Nothing: 1").status, 404);
}

/// A session with more entries than fit on a page, in a folder, as a page at a time shortly after it.
fn long_session(home: &TestHome, session: &str, cwd: &str) {
    let mut lines = TranscriptBuilder::new(session).cwd(cwd).times("2026-02-20T12:00:00Z".parse().unwrap(), 1);
    for round in 0..350 {
        lines = lines.user(format!("prompt number {round}")).assistant("Done.");
    }
    home.write(&format!(".claude/projects/-app/{session}.jsonl"), lines.build());
    home.run_ok(&["sync"]);
}

// D54
#[test]
fn a_long_session_opens_at_its_end_while_it_goes_on_and_later_at_its_beginning() {
    for (now, first, last) in [("2026-02-20T12:06:00Z", false, true), ("2026-06-01T12:00:00Z", true, false)] {
        let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread")).frozen_at(now);
        long_session(&home, SESSION, "/home/dev/one/app");
        let server = home.serve(&["--no-watch"]);
        let cookie = cookie(&server);
        let path = format!("/sessions/{}", session_id(&home));
        let body = get_page(&server, &path, &cookie).body;
        let talk = |body: &str| {
            let talk = body.split("class=\"talk\"").nth(1).unwrap();
            talk.split("class=\"side\"").next().unwrap().to_owned()
        };
        assert_eq!(talk(&body).contains("prompt number 0<"), first, "{now}");
        assert_eq!(talk(&body).contains("prompt number 349<"), last, "{now}");
        assert_eq!(body.contains("data-opens-at-end"), last, "{now}");
        let end = get_page(&server, &format!("{path}?last=1"), &cookie).body;
        assert!(talk(&end).contains("prompt number 349<"), "{now}");
        assert!(last || body.contains("?last=1"), "{now}: the end is one click away");
    }
}

// D54
#[test]
fn usage_shows_all_time_if_the_last_month_is_empty() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    let body = get_page(&server, "/usage", &cookie).body;
    assert!(body.contains("showing all time") && !body.contains("No tokens used in this period"), "{body}");
    let chosen = get_page(&server, "/usage?since=30d", &cookie).body;
    assert!(chosen.contains("No tokens used in this period"), "a chosen period is kept");
}

// D52
#[test]
fn projects_of_the_same_name_differ_in_every_picker() {
    let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"));
    long_session(&home, SESSION, "/home/dev/one/app");
    long_session(&home, "9a9eadc8-c1f1-493e-a0f1-884aa996b05c", "/home/dev/two/app");
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    for path in ["/", "/search?q=prompt", "/memory", "/usage"] {
        let body = get_page(&server, path, &cookie).body;
        assert!(body.contains(">one/app") && body.contains(">two/app"), "{path}");
    }
}

// D54
#[test]
fn a_graph_has_its_own_size_and_can_be_zoomed() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let body = get_page(&server, "/memory/graph?of=cargo%20test", &cookie(&server)).body;
    assert!(body.contains("data-zoom=\"fit\"") && body.contains("data-zoom=\"1.25\""), "{body}");
    assert!(body.contains("<path class=\"edge confirmed"), "relations are drawn by their state: {body}");
    assert!(!home_css(&server).contains("max-width: max(100%, 1700px)"), "a large drawing is not scaled down");
}

fn home_css(server: &TestServer) -> String {
    server.send(&["GET /static/page.css"], "").body
}

#[test]
fn usage_is_exported_as_csv_without_formulas() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    let file = server.send(&["GET /usage/export.csv?since=all", &cookie], "");
    assert!(file.status == 200 && file.head.contains("text/csv") && file.head.contains("attachment"), "{}", file.head);
    let mut lines = file.body.lines();
    assert!(lines.next().unwrap().starts_with("day,agent,model,project,messages,"), "{}", file.body);
    assert!(lines.next().unwrap().starts_with("2026-02-20,claude-code,\"<script>"), "{}", file.body);
    assert_eq!(server.send(&["GET /usage/export.csv", "X-Nothing: 1"], "").status, 401);
}

#[test]
fn the_page_pins_tags_and_renames_only_with_its_own_origin() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let (cookie, id) = (cookie(&server), session_id(&home));
    let (patch, json) = (format!("PATCH /api/sessions/{id}"), "Content-Type: application/json");
    let origin = format!("Origin: http://{}", server.authority());
    let change = r#"{"name":"Renamed here","pinned":false,"addTags":["two words"],"removeTags":["<SCRIPT>TAG"]}"#;
    assert_eq!(server.send(&[&patch, json, &cookie], change).status, 403, "a cookie alone writes nothing");
    let changed = server.send(&[&patch, json, &cookie, &origin], change);
    assert_eq!(changed.status, 200, "{changed:?}");
    let shown: Value = serde_json::from_str(&changed.body).unwrap();
    assert_eq!((&shown["pinned"], &shown["tags"]), (&json!(false), &json!(["two words"])));
    let page = get_page(&server, &format!("/sessions/{id}"), &cookie).body;
    assert!(page.contains("Renamed here") && page.contains("aria-pressed=\"false\""), "{page}");
    let invalid = server.send(&[&patch, json, &cookie, &origin], r#"{"addTags":["a,b"]}"#);
    assert!(invalid.status == 400 && invalid.body.contains("without a comma"), "{invalid:?}");
}

#[test]
fn wrong_filters_are_named() {
    let home = hostile_home();
    let server = home.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    for path in ["/?since=teatime", "/?cost=much", "/?failures=-1", "/?state=asleep", "/?agent=nobody", "/?year=x"] {
        let shown = get_page(&server, path, &cookie);
        assert!(shown.status == 400 && shown.body.contains("<h1>"), "{path}: {}", shown.status);
    }
}
