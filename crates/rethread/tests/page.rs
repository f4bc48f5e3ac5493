//! The page with the real binary: who sees it, that nothing in it can do anything, and that looking changes nothing.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "serve/house.rs"]
#[expect(dead_code, reason = "other tests ask it for more")]
mod house;

use std::fs;
use std::path::{Path, PathBuf};

use house::{Answer, House, Server};
use serde_json::{Value, json};

const SESSION: &str = "9a9eadc8-c1f1-493e-a0f1-884aa996b05b";
/// Whatever a transcript could say to a browser, a terminal, or a reader of Markdown.
const EVIL: &str = "<script>alert(1)</script><img src=x onerror=alert(2)> [go](javascript:alert(3)) \
    \u{1b}]52;c;aGk=\u{7}\u{1b}[2J \u{202e}\"'> <style>*{display:none}</style>";
/// Pages that need no session.
const PAGES: [&str; 11] = [
    "/",
    "/search",
    "/search?q=parser",
    "/memory",
    "/memory/errors",
    "/memory/decisions?all=1",
    "/memory/workflows",
    "/memory/graph",
    "/memory/graph?of=cargo%20test",
    "/usage?since=all",
    "/health",
];

/// A house in which agents were at work, and everything they said was evil.
fn lived_in() -> House {
    let house = House::new();
    let error = format!("Exit code 101\nerror[E0433]: failed to resolve {EVIL}");
    let line = |number: u64, kind: &str, message: Value| {
        let uuid = format!("{number:08x}-1111-4222-8333-000000000001");
        let at = format!("2026-02-20T12:00:{number:02}Z");
        let line = json!({"type": kind, "uuid": uuid, "sessionId": SESSION, "cwd": "/app<b>", "gitBranch": EVIL,
            "timestamp": at, "message": message});
        format!("{line}\n")
    };
    let call = |id: &str, name: &str, input: Value| {
        let block = json!({"type": "tool_use", "id": id, "name": name, "input": input});
        json!({"role": "assistant", "id": format!("msg_{id}"), "model": EVIL, "content": [block],
            "usage": {"input_tokens": 9, "output_tokens": 9}})
    };
    let result = |id: &str, output: &str, failed: bool| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": output, "is_error": failed}]});
    let said = json!({"role": "assistant", "id": "msg_said", "model": EVIL, "content": [{"type": "text", "text": format!("# {EVIL}\n\n{EVIL}\n\n```{EVIL}\n{EVIL}\n```")}]});
    let text = [
        line(
            1,
            "user",
            json!({"role": "user", "content": format!("Use rustls instead of {EVIL} because {EVIL} parser")}),
        ),
        line(2, "assistant", call("toolu_1", "Bash", json!({"command": format!("cargo test # {EVIL}")}))),
        line(3, "user", result("toolu_1", &error, true)),
        line(
            4,
            "assistant",
            call(
                "toolu_2",
                "Edit",
                json!({"file_path": format!("/app<b>/{EVIL}.rs"), "old_string": "a", "new_string": "b"}),
            ),
        ),
        line(5, "user", result("toolu_2", EVIL, false)),
        line(6, "assistant", call("toolu_3", "Bash", json!({"command": "cargo test"}))),
        line(7, "user", result("toolu_3", "ok", false)),
        line(8, "assistant", said),
        json!({"type": "ai-title", "aiTitle": EVIL, "sessionId": SESSION}).to_string() + "\n",
    ];
    house.write(&format!(".claude/projects/-app/{SESSION}.jsonl"), &text.concat());
    assert!(house.run(&["sync"]).status.success());
    house
}

/// The cookie of a browser that followed the link.
fn cookie(server: &Server) -> String {
    let path = server.told["link"].as_str().unwrap().split_once(&server.authority()).unwrap().1.to_owned();
    let first = server.ask(&[&format!("GET {path}"), "Accept: text/html"], "");
    assert_eq!(first.status, 200, "{first:?}");
    let cookie = first.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    format!("Cookie: {}", cookie.split(';').next().unwrap())
}

/// A page as a browser asks for it.
fn look(server: &Server, path: &str, cookie: &str) -> Answer {
    server.ask(&[&format!("GET {path}"), cookie, "Accept: text/html,application/xhtml+xml"], "")
}

fn session_id(house: &House) -> String {
    let listed = house.run(&["sessions", "--all-projects", "--json"]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    listed["sessions"][0]["id"].as_str().unwrap().to_owned()
}

fn pages(house: &House) -> Vec<String> {
    let id = session_id(house);
    let of_session =
        [format!("/sessions/{id}"), format!("/sessions/{id}?line=4&all=1"), format!("/sessions/{id}?from=0")];
    PAGES.map(str::to_owned).into_iter().chain(of_session).collect()
}

#[test]
fn each_page_is_shown_to_whoever_is_logged_in_and_to_nobody_else() {
    let house = lived_in();
    let server = house.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    for path in pages(&house) {
        let shown = look(&server, &path, &cookie);
        assert_eq!(shown.status, 200, "{path}: {}", shown.body);
        assert!(
            shown.head.contains("text/html") && shown.head.contains("cache-control: no-store"),
            "{path}: {}",
            shown.head
        );
        assert!(shown.body.contains("<main id=\"main\"") && shown.body.contains("</html>"), "{path}");
        let refused = look(&server, &path, "X-Nothing: 1");
        assert_eq!(refused.status, 401, "{path}");
        assert!(refused.body.contains("rethread open") && !refused.body.contains("parser"), "{path}: {}", refused.body);
        let program = server.ask(&[&format!("GET {path}")], "");
        assert_eq!((program.status, program.body.contains("\"error\":{")), (401, true), "{path}: {}", program.body);
    }
}

#[test]
fn t24_what_is_stored_is_text_on_every_page() {
    let house = lived_in();
    let server = house.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    let mut seen = 0;
    for path in pages(&house) {
        let shown = look(&server, &path, &cookie);
        let body = shown.body;
        seen += usize::from(body.contains("&lt;script&gt;"));
        for harm in
            ["<script>", "<img", "onerror=alert(2)>", "href=\"javascript", "<style", " style=\"", "onclick", "app<b>"]
        {
            assert!(!body.contains(harm), "{path}: {harm}");
        }
        // The only elements that run are ours, by their names.
        let ours = body.matches("<script src=\"/static/").count();
        assert_eq!(body.matches("<script").count(), ours, "{path}");
        let dangerous = body.chars().find(|c| rethread_model::is_dangerous(*c));
        assert_eq!(dangerous, None, "{path}");
    }
    assert!(seen >= 8, "the evil words stand on {seen} pages");
}

#[test]
fn t24_the_policy_lets_nothing_run_but_our_own_files() {
    let house = lived_in();
    let server = house.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    for path in ["/", "/nowhere", "/static/page.css", "/login"] {
        let head = look(&server, path, &cookie).head;
        let policy = head.lines().find_map(|line| line.strip_prefix("content-security-policy: ")).unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{path}: {policy}");
        assert!(!policy.contains("unsafe") && head.contains("x-content-type-options: nosniff"), "{path}: {head}");
    }
}

#[test]
fn what_went_wrong_is_a_page_for_people_and_json_for_programs() {
    let house = lived_in();
    let server = house.serve(&["--no-watch"]);
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
        let shown = look(&server, path, &cookie);
        assert_eq!(shown.status, status, "{path}: {}", shown.body);
        assert!(shown.body.contains("<h1>") && shown.body.contains("href=\"/\""), "{path}: {}", shown.body);
        let told = server.ask(&[&format!("GET {path}"), &cookie], "");
        assert_eq!((told.status, told.body.contains("\"error\":{")), (status, true), "{path}: {}", told.body);
    }
    let used = server.ask(&["GET /login?code=used", "Accept: text/html"], "");
    assert_eq!((used.status, used.body.contains("rethread open")), (403, true), "{}", used.body);
}

#[test]
fn an_empty_home_is_told_what_to_do_next_and_stays_empty() {
    let house = House::new();
    let server = house.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    for path in [
        "/",
        "/search?q=x",
        "/memory",
        "/memory/errors",
        "/memory/decisions",
        "/memory/workflows",
        "/memory/graph",
        "/usage",
        "/health",
    ] {
        let shown = look(&server, path, &cookie);
        assert_eq!((shown.status, shown.body.contains("rethread init")), (200, true), "{path}: {}", shown.body);
    }
    assert!(!house.path(".rethread/memory.db").exists(), "looking makes no store");
}

/// Every file of ours with its bytes, but for what SQLite shares between whoever has the store open.
fn stored(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (path, kind) = (entry.path(), entry.file_type().unwrap());
        if kind.is_dir() {
            all.extend(stored(&path));
        } else if kind.is_file() && path.extension().is_none_or(|ending| ending != "db-shm") {
            all.push((path.clone(), fs::read(path).unwrap()));
        }
    }
    all.sort();
    all
}

#[test]
fn looking_at_pages_changes_nothing() {
    let house = lived_in();
    let server = house.serve(&["--no-watch"]);
    let cookie = cookie(&server);
    // Whoever opens the store first makes its side files.
    look(&server, "/", &cookie);
    let before = stored(&house.path(".rethread"));
    assert!(before.len() > 3, "{before:?}");
    for path in pages(&house) {
        assert_eq!(look(&server, &path, &cookie).status, 200, "{path}");
    }
    let after = stored(&house.path(".rethread"));
    let names = |files: &[(PathBuf, Vec<u8>)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
    assert_eq!(names(&before), names(&after));
    let changed = before.iter().zip(&after).find(|(before, after)| before != after);
    assert!(changed.is_none(), "{:?} was written", changed.map(|(before, _)| &before.0));
}

#[test]
fn files_of_the_page_are_kept_by_browsers_until_they_change() {
    let house = House::new();
    let server = house.serve(&["--no-watch"]);
    let page = server.ask(&["GET /login", "Accept: text/html"], "").body;
    let named = page.split("href=\"").find_map(|rest| rest.strip_prefix("/static/page.css?v=")).unwrap();
    let version = named.split('"').next().unwrap();
    let ask = |path: &str, more: &str| server.ask(&[&format!("GET {path}"), more], "");
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
