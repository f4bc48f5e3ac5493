//! The server's door with the real binary: who gets in, where it listens, that there is one, and how it ends.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fs;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;

use rethread_testing::{TestHome, TranscriptBuilder, exchange, wait_until};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

const SESSION: &str = "9a9eadc8-c1f1-493e-a0f1-884aa996b05b";

fn new_home() -> TestHome {
    TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"))
}

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn t1_token_socket_and_lock_are_for_their_owner_only() {
    let home = new_home();
    let server = home.serve(&["--no-watch"]);
    for name in ["token", "serve.sock", "serve.lock"] {
        let mode = fs::metadata(home.path(".rethread").join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{name}");
    }
    drop(server);
    let token = home.path(".rethread/token");
    fs::set_permissions(&token, fs::Permissions::from_mode(0o644)).unwrap();
    let refused = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("others could read it") && stderr(&refused).contains("--rotate"));
    assert!(home.run(&["token", "--rotate"]).status.success());
    home.serve(&["--no-watch"]);
}

#[test]
fn t5_elsewhere_it_listens_only_by_tls() {
    let home = new_home();
    for address in ["0.0.0.0:0", "[::]:0"] {
        let refused = home.run(&["serve", "--listen", address]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains("--tls-cert"), "{}", stderr(&refused));
    }
    let nonsense = home.run(&["serve", "--listen", "somewhere"]);
    assert_eq!(nonsense.status.code(), Some(2), "{}", stderr(&nonsense));
    let half = home.run(&["serve", "--tls-cert", "cert.pem"]);
    assert!(stderr(&half).contains("certificate and its key"), "{}", stderr(&half));
    let missing = home.run(&["serve", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    assert_eq!(missing.status.code(), Some(3), "{}", stderr(&missing));
    assert!(!home.path(".rethread/serve.lock").exists());
}

#[test]
fn t5_with_a_certificate_it_speaks_tls_and_still_wants_the_token() {
    let home = new_home();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    home.write("cert.pem", &made.cert.pem());
    home.write("key.pem", &made.signing_key.serialize_pem());
    let server = home.serve(&["--no-watch", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    assert!(server.started["url"].as_str().unwrap().starts_with("https://"));
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(config.with_root_certificates(roots).with_no_client_auth());
    let ask = |head: &[&str]| {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::clone(&config), name).unwrap();
        let stream = TcpStream::connect(server.authority()).unwrap();
        exchange(StreamOwned::new(connection, stream), "localhost", head, "")
    };
    assert_eq!(ask(&["GET /api/health"]).status, 401);
    let token = format!("Authorization: Bearer {}", home.token());
    assert_eq!(ask(&["GET /api/health", &token]).status, 200);
    // In the clear nothing is answered.
    assert_eq!(server.send(&["GET /api/health", &token], "").status, 0);
}

#[test]
fn fault_21_a_second_server_refuses_and_says_where_the_first_is() {
    let home = new_home();
    let server = home.serve(&["--no-watch"]);
    let second = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(3));
    assert!(stderr(&second).contains(server.started["url"].as_str().unwrap()), "{}", stderr(&second));
}

#[test]
fn fault_22_what_a_killed_server_left_does_not_stop_the_next() {
    let home = new_home();
    drop(home.serve(&["--no-watch"]));
    assert!(home.path(".rethread/serve.sock").exists());
    let refused = home.run(&["open", "--print"]);
    assert_eq!(refused.status.code(), Some(3), "{}", stderr(&refused));
    let server = home.serve(&["--no-watch"]);
    assert_eq!(server.get("/api/health", &home.token()).status, 200);
}

#[test]
fn it_ends_when_told_and_leaves_no_socket() {
    let home = new_home();
    let mut server = home.serve(&[]);
    let well = server.get("/api/health", &home.token());
    assert_eq!(well.status, 200, "{}", well.body);
    assert_eq!(server.stop().code(), Some(0));
    assert!(!home.path(".rethread/serve.sock").exists());
    home.serve(&["--no-watch"]);
}

#[test]
fn t2_the_same_user_needs_no_token_on_the_socket_but_a_wrong_one_is_wrong() {
    let home = new_home();
    let server = home.serve(&["--no-watch"]);
    assert_eq!(server.send_over_unix_socket(&["GET /api/health"], "").status, 200);
    assert_eq!(server.send_over_unix_socket(&["GET /api/health", "Authorization: Bearer no"], "").status, 401);
    // Somebody's page that found a way to the socket is still somebody's page.
    assert_eq!(server.send_over_unix_socket(&["GET /api/health", "Origin: http://evil.example"], "").status, 403);
}

#[test]
fn a_link_logs_in_once_and_the_cookie_stays_on_our_own_page() {
    let home = new_home();
    let server = home.serve(&["--no-watch"]);
    let path = server.login_path();
    let first = server.send(&[&format!("GET {path}")], "");
    assert_eq!(first.status, 200, "{first:?}");
    let cookie = first.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    for wanted in ["httponly", "samesite=strict", "path=/"] {
        assert!(cookie.contains(wanted), "{cookie}");
    }
    assert_eq!(server.send(&[&format!("GET {path}")], "").status, 403);
    let cookie = format!("Cookie: other=1; {}", cookie.split(';').next().unwrap());
    assert_eq!(server.send(&["GET /api/health", &cookie], "").status, 200);
    for (by, status) in [("same-origin", 200), ("none", 200), ("same-site", 403), ("cross-site", 403)] {
        let by = format!("Sec-Fetch-Site: {by}");
        assert_eq!(server.send(&["GET /api/health", &cookie, &by], "").status, status, "another server's page: {by}");
    }
    let change = ["POST /api/links", &cookie, "Content-Type: application/json"];
    assert_eq!(server.send(&change, "{}").status, 403, "a change by cookie without an origin");
    let origin = format!("Origin: http://{}", server.authority());
    assert_eq!(server.send(&[&change[..], &[&origin]].concat(), "{}").status, 201);
    assert!(home.run(&["token", "--rotate"]).status.success());
    assert_eq!(server.send(&["GET /api/health", &cookie], "").status, 401, "a rotated token ends all logins");
}

#[test]
fn open_gives_a_link_into_the_server_that_runs() {
    let home = new_home();
    let none = home.run(&["open", "--print"]);
    assert_eq!(none.status.code(), Some(3));
    assert!(stderr(&none).contains("rethread serve"), "{}", stderr(&none));
    let server = home.serve(&["--no-watch"]);
    let link = String::from_utf8(home.run(&["open", "--print"]).stdout).unwrap();
    let path = link.trim().split_once(&server.authority()).unwrap().1.to_owned();
    assert_eq!(server.send(&[&format!("GET {path}")], "").status, 200);
}

#[test]
fn t6_the_log_of_requests_has_neither_token_nor_what_was_asked() {
    let home = new_home();
    let server = home.serve(&["--no-watch"]);
    let token = home.token();
    let bearer = format!("Authorization: Bearer {token}");
    let path = server.login_path();
    server.send(&["POST /api/links?canary=swordfish", &bearer, "Content-Type: application/json"], "{}");
    server.send(&["GET /api/health?canary=swordfish", "Authorization: Bearer wrong-swordfish"], "");
    server.send(&[&format!("GET {path}x")], "");
    let folder = home.path(".rethread/logs");
    let logs = || -> String {
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        files.map(|file| fs::read_to_string(file.path()).unwrap()).collect()
    };
    wait_until("noting", || logs().lines().filter(|line| line.contains("\"request\"")).count() >= 3);
    let logs = logs();
    assert!(logs.contains("/api/links") && logs.contains("401"), "{logs}");
    let code = path.split_once('=').unwrap().1;
    assert!(!logs.contains("swordfish") && !logs.contains(&token) && !logs.contains(code), "{logs}");
}

#[test]
fn what_is_said_while_it_serves_is_read() {
    let home = new_home();
    let transcript = format!(".claude/projects/-app/{SESSION}.jsonl");
    home.write(&transcript, TranscriptBuilder::new(SESSION).ids("u1").user("fix the parser").build());
    let server = home.serve(&[]);
    let known = || String::from_utf8(home.run(&["search", "--all-projects", "zeppelin"]).stdout).unwrap();
    wait_until("the first reading", || home.path(".rethread/memory.db").exists());
    assert!(!known().contains("zeppelin"));
    let more = TranscriptBuilder::new(SESSION).ids("u2").user("now paint the zeppelin");
    home.append(&transcript, more.build());
    wait_until("reading along", || known().contains("zeppelin"));
    drop(server);
}
