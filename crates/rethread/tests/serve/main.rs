//! `rethread serve`: authentication, listen addresses, one server per home, and shutdown.

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
fn token_socket_and_lock_are_readable_only_by_the_owner() {
    // T1
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
    assert!(stderr(&refused).contains("other users can read it") && stderr(&refused).contains("--rotate"));
    assert!(home.run(&["token", "--rotate"]).status.success());
    home.serve(&["--no-watch"]);
}

#[test]
fn other_interfaces_need_tls() {
    // T5
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
fn tls_server_still_requires_the_token() {
    // T5
    let home = new_home();
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    home.write("cert.pem", made.cert.pem());
    home.write("key.pem", made.signing_key.serialize_pem());
    // D71
    let exposed = home.run(&["serve", "--tls-cert", "cert.pem", "--tls-key", "key.pem"]);
    assert_eq!(exposed.status.code(), Some(3), "a key that all users can read is refused");
    std::fs::set_permissions(home.path("key.pem"), std::fs::Permissions::from_mode(0o600)).unwrap();
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
    // Without TLS there is no answer.
    assert_eq!(server.send(&["GET /api/health", &token], "").status, 0);
}

#[test]
fn second_server_reports_the_first() {
    // Fault 21
    let home = new_home();
    let server = home.serve(&["--no-watch"]);
    let second = home.run(&["serve", "--listen", "127.0.0.1:0"]);
    assert_eq!(second.status.code(), Some(3));
    assert!(stderr(&second).contains(server.started["url"].as_str().unwrap()), "{}", stderr(&second));
}

#[test]
fn leftovers_of_a_killed_server_do_not_block_the_next() {
    // Fault 22
    let home = new_home();
    drop(home.serve(&["--no-watch"]));
    assert!(home.path(".rethread/serve.sock").exists());
    let server = home.serve(&["--no-watch"]);
    assert_eq!(server.get("/api/health", &home.token()).status, 200);
}

#[test]
fn stopped_server_removes_its_socket() {
    let home = new_home();
    let mut server = home.serve(&[]);
    let well = server.get("/api/health", &home.token());
    assert_eq!(well.status, 200, "{}", well.body);
    assert_eq!(server.stop().code(), Some(0));
    assert!(!home.path(".rethread/serve.sock").exists());
    home.serve(&["--no-watch"]);
}

#[test]
fn unix_socket_needs_no_token_but_refuses_a_wrong_one() {
    // T2
    let home = new_home();
    let server = home.serve(&["--no-watch"]);
    assert_eq!(server.send_over_unix_socket(&["GET /api/health"], "").status, 200);
    assert_eq!(server.send_over_unix_socket(&["GET /api/health", "Authorization: Bearer no"], "").status, 401);
    // A foreign origin is refused on the socket too.
    assert_eq!(server.send_over_unix_socket(&["GET /api/health", "Origin: http://evil.example"], "").status, 403);
}

#[test]
fn login_link_works_once_and_the_cookie_only_same_origin() {
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
fn open_prints_a_link_to_the_running_server() {
    let home = new_home();
    let server = home.serve(&["--no-watch"]);
    let link = String::from_utf8(home.run(&["open", "--print"]).stdout).unwrap();
    let path = link.trim().split_once(&server.authority()).unwrap().1.to_owned();
    assert_eq!(server.send(&[&format!("GET {path}")], "").status, 200);
}

#[test]
fn open_starts_the_server_if_none_runs() {
    let home = new_home();
    let open = ["-c", "serve.listen=127.0.0.1:0", "open", "--print"];
    let first = home.run(&open);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(stderr(&first).contains("Started the server in the background"), "{}", stderr(&first));
    let second = home.run(&open);
    assert!(!stderr(&second).contains("Started"), "it still runs");
    let info: serde_json::Value = serde_json::from_str(&home.read(".rethread/serve.lock")).unwrap();
    let pid = info["pid"].as_u64().unwrap().to_string();
    assert!(std::process::Command::new("kill").arg(pid).status().unwrap().success());

    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("serve.listen={}", taken.local_addr().unwrap());
    drop(home);
    let home = new_home();
    let failed = home.run(&["-c", &address, "open", "--print"]);
    assert_eq!(failed.status.code(), Some(3));
    assert!(stderr(&failed).contains("rethread serve"), "{}", stderr(&failed));
}

#[test]
fn request_log_contains_neither_token_nor_query() {
    // T6
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
fn server_syncs_new_entries() {
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
