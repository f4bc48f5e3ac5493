//! The server's door with the real binary: who gets in, where it listens, that there is one, and how it ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "serve/house.rs"]
mod house;

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use house::{House, speak, until};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

fn said(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn t1_token_socket_and_lock_are_for_their_owner_only() {
    let house = House::new();
    let server = house.serve(&["--no-watch"]);
    for name in ["token", "serve.sock", "serve.lock"] {
        let mode = fs::metadata(house.path(".rethread").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    drop(server);
    let token = house.path(".rethread/token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = house.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    assert!(said(&refused).contains("others could read it") && said(&refused).contains("--rotate"));
    assert!(house.run(&["token", "--rotate"]).status.success());
    house.serve(&["--no-watch"]);
}

#[test]
fn t5_elsewhere_it_listens_only_by_tls() {
    let house = House::new();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = house.run(&["serve", "--listen", address]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(said(&refused).contains("--tls-cert"), "{}", said(&refused));
    }
    let nonsense = house.run(&["serve", "--listen", "somewhere"]);
    assert_eq!(nonsense.status.code(), Some(2), "{}", said(&nonsense));
    let half = house.run(&["serve", "--tls-cert", "cert.pem"]);
    assert!(said(&half).contains("certificate and its key"), "{}", said(&half));
    let missing = house.run(&["serve", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    assert_eq!(missing.status.code(), Some(3), "{}", said(&missing));
    assert!(!house.path(".rethread/serve.lock").exists());
}

#[test]
fn t5_with_a_certificate_it_speaks_tls_and_still_wants_the_token() {
    let house = House::new();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    house.write("cert.pem", &made.cert.pem());
    house.write("key.pem", &made.signing_key.serialize_pem());
    let server = house.serve(&["--no-watch", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    assert!(server.told["url"].as_str().unwrap().starts_with("https://"));
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let ask = |head: &[&str]| {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::clone(&config), name).unwrap();
        let stream = TcpStream::connect(server.authority()).unwrap();
        speak(StreamOwned::new(connection, stream), "localhost", head, "")
    };
    assert_eq!(ask(&["GET /api/health"]).status, 401);
    let token = format!("Authorization: Bearer {}", house.token());
    assert_eq!(ask(&["GET /api/health", &token]).status, 200);
    // In the clear nothing is answered.
    assert_eq!(server.ask(&["GET /api/health", &token], "").status, 0);
}

#[test]
fn fault_21_a_second_server_refuses_and_says_where_the_first_is() {
    let house = House::new();
    let server = house.serve(&["--no-watch"]);
    let second = house.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(3));
    assert!(said(&second).contains(server.told["url"].as_str().unwrap()), "{}", said(&second));
}

#[test]
fn fault_22_what_a_killed_server_left_does_not_stop_the_next() {
    let house = House::new();
    drop(house.serve(&["--no-watch"]));
    assert!(house.path(".rethread/serve.sock").exists());
    let refused = house.run(&["open", "--print"]);
    assert_eq!(refused.status.code(), Some(3), "{}", said(&refused));
    let server = house.serve(&["--no-watch"]);
    assert_eq!(server.get("/api/health", &house.token()).status, 200);
}

#[test]
fn it_ends_when_told_and_leaves_no_socket() {
    let house = House::new();
    let mut server = house.serve(&[]);
    let well = server.get("/api/health", &house.token());
    assert_eq!(well.status, 200, "{}", well.body);
    assert_eq!(server.end().code(), Some(0));
    assert!(!house.path(".rethread/serve.sock").exists());
    house.serve(&["--no-watch"]);
}

#[test]
fn t2_the_same_user_needs_no_token_on_the_socket_but_a_wrong_one_is_wrong() {
    let house = House::new();
    let server = house.serve(&["--no-watch"]);
    assert_eq!(server.ask_by_socket(&["GET /api/health"], "").status, 200);
    assert_eq!(server.ask_by_socket(&["GET /api/health", "Authorization: Bearer no"], "").status, 401);
    // Somebody's page that found a way to the socket is still somebody's page.
    assert_eq!(server.ask_by_socket(&["GET /api/health", "Origin: http://evil.example"], "").status, 403);
}

#[test]
fn a_link_logs_in_once_and_the_cookie_stays_on_our_own_page() {
    let house = House::new();
    let server = house.serve(&["--no-watch"]);
    let path = server.told["link"].as_str().unwrap().split_once(&server.authority()).unwrap().1.to_owned();
    let first = server.ask(&[&format!("GET {path}")], "");
    assert_eq!(first.status, 200, "{first:?}");
    let cookie = first.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    for wanted in ["httponly", "samesite=strict", "path=/"] {
        assert!(cookie.contains(wanted), "{cookie}");
    }
    assert_eq!(server.ask(&[&format!("GET {path}")], "").status, 403);
    let cookie = format!("Cookie: other=1; {}", cookie.split(';').next().unwrap());
    assert_eq!(server.ask(&["GET /api/health", &cookie], "").status, 200);
    for (by, status) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
        let by = format!("Sec-Fetch-Site: {by}");
        assert_eq!(server.ask(&["GET /api/health", &cookie, &by], "").status, status, "another server's page: {by}");
    }
    let change = ["POST /api/links", &cookie, "Content-Type: application/json"];
    assert_eq!(server.ask(&change, "{}").status, 403, "a change by cookie without an origin");
    let origin = format!("Origin: http://{}", server.authority());
    assert_eq!(server.ask(&[&change[..], &[&origin]].concat(), "{}").status, 201);
    assert!(house.run(&["token", "--rotate"]).status.success());
    assert_eq!(server.ask(&["GET /api/health", &cookie], "").status, 401, "a rotated token ends all logins");
}

#[test]
fn open_gives_a_link_into_the_server_that_runs() {
    let house = House::new();
    let none = house.run(&["open", "--print"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(said(&none).contains("rethread serve"), "{}", said(&none));
    let server = house.serve(&["--no-watch"]);
    let link = String::from_utf8(house.run(&["open", "--print"]).stdout).unwrap();
    let path = link.trim().split_once(&server.authority()).unwrap().1.to_owned();
    assert_eq!(server.ask(&[&format!("GET {path}")], "").status, 200);
}

#[test]
fn t6_the_log_of_requests_has_neither_token_nor_what_was_asked() {
    let house = House::new();
    let server = house.serve(&["--no-watch"]);
    let token = house.token();
    let bearer = format!("Authorization: Bearer {token}");
    let path = server.told["link"].as_str().unwrap().split_once(&server.authority()).unwrap().1.to_owned();
    server.ask(&["POST /api/links?canary=swordfish", &bearer, "Content-Type: application/json"], "{}");
    server.ask(&["GET /api/health?canary=swordfish", "Authorization: Bearer wrong-swordfish"], "");
    server.ask(&[&format!("GET {path}x")], "");
    let folder = house.path(".rethread/logs");
    let logs = || -> String {
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        files.map(|file| fs::read_to_string(file.path()).unwrap()).collect()
    };
    until("noting", || logs().lines().filter(|line| line.contains("\"request\"")).count() >= 3);
    let logs = logs();
    assert!(logs.contains("/api/links") && logs.contains("401"), "{logs}");
    let code = path.split_once('=').unwrap().1;
    assert!(!logs.contains("swordfish") && !logs.contains(&token) && !logs.contains(code), "{logs}");
}

#[test]
fn what_is_said_while_it_serves_is_read() {
    let house = House::new();
    house.write(".claude/projects/-app/9a9eadc8-c1f1-493e-a0f1-884aa996b05b.jsonl", &line("u1", "fix the parser"));
    let server = house.serve(&[]);
    let known = || String::from_utf8(house.run(&["search", "--all-projects", "zeppelin"]).stdout).unwrap();
    until("the first reading", || house.path(".rethread/memory.db").exists());
    assert!(!known().contains("zeppelin"));
    let transcript = house.path(".claude/projects/-app/9a9eadc8-c1f1-493e-a0f1-884aa996b05b.jsonl");
    let longer = fs::read_to_string(&transcript).unwrap() + &line("u2", "now paint the zeppelin");
    fs::write(&transcript, longer).unwrap();
    until("reading along", || known().contains("zeppelin"));
    drop(server);
}

fn line(uuid: &str, text: &str) -> String {
    format!(
        "{{\"type\":\"user\",\"uuid\":\"{uuid}\",\"sessionId\":\"9a9eadc8-c1f1-493e-a0f1-884aa996b05b\",\
         \"cwd\":\"/app\",\"timestamp\":\"2026-02-20T12:00:00Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
    )
}
