//! Several nodes in front of one database.

use rethread_testing::{CLAUDE_FILE, CONVERSATION, wait_until};

use crate::fixture::{TeamFixture, new_home};

#[test]
fn what_one_node_stores_every_node_finds() {
    let Some(team) = TeamFixture::start() else { return };
    let home = new_home();
    let second = home.serve(&["--store", team.postgres.url()]);
    let other = home.client_with_token(&second, &team.admin.token);
    for number in 0..6 {
        let client = if number % 2 == 0 { &team.admin } else { &other };
        let body = serde_json::json!({"role": "user", "content": format!("ostrich {number}"), "clientId": format!("c{number}")});
        assert_eq!(client.post_message(&team.thread, &body).0, 201);
        // A client that retries on the other node after a lost reply.
        let retry = if number % 2 == 0 { &other } else { &team.admin };
        assert!(retry.post_message(&team.thread, &body).0 < 300);
    }
    let path = format!("/api/sessions/{}/records", team.thread);
    let logs = [&team.admin, &other].map(|client| client.json("GET", &path, None));
    assert_eq!(logs[0], logs[1]);
    assert_eq!(logs[0].to_string().matches("ostrich").count(), 6, "each once: {}", logs[0]);
    let found = |client: &rethread_testing::ApiClient| {
        let hits = client.json("GET", "/api/search?query=ostrich&limit=20", None);
        hits["hits"].as_array().unwrap().len()
    };
    wait_until("both nodes", || found(&team.admin) == 6 && found(&other) == 6);
}

#[test]
fn a_node_says_how_it_is() {
    let Some(mut team) = TeamFixture::start() else { return };
    let open = team.server.send(&["GET /api/health"], "");
    assert!(open.status == 200 && open.body.contains("\"ok\"") && !open.body.contains("indexLag"), "{open:?}");
    assert!(team.admin.json("GET", "/api/health", None)["indexLag"].is_u64());
    let operator = team.home.run_ok(&["token", "--store", team.postgres.url()]);
    let metrics = team.server.get("/metrics", operator.trim());
    for name in ["rethread_requests_total", "rethread_request_duration_seconds_bucket", "rethread_pool_limit"] {
        assert!(metrics.body.contains(name), "{name}: {}", metrics.body);
    }
    assert!(!metrics.body.contains(&team.space), "metrics name no space");
    assert_eq!(team.server.get("/metrics", &team.admin.token).status, 403);
    assert!(team.server.stop().success());
    let audit = team.admin_command(&["audit", "--limit", "200"]);
    assert!(audit.contains("GET /metrics") || audit.contains("GET /api/health"), "stored when it stopped: {audit}");
}

#[test]
fn commands_of_the_operator_use_the_store_of_the_setting() {
    let Some(team) = TeamFixture::start() else { return };
    let (home, url) = (new_home(), format!("{}&space={}", team.postgres.url(), team.space));
    home.run_ok(&["config", "set", "store.url", &url]);
    assert!(home.run_ok(&["admin", "member", "list"]).contains("root"));
    let other = format!("{}&space={}", team.postgres.url(), team.other_space);
    assert!(
        !String::from_utf8_lossy(&home.run(&["admin", "member", "list", "--store", &other]).stdout).contains("root")
    );
    // What a user does on a machine is about its own store.
    home.write(CLAUDE_FILE, CONVERSATION);
    home.run_ok(&["sync"]);
    assert!(home.path(".rethread/memory.db").exists());
    assert_eq!(home.run(&["search", "walrus", "--all-projects"]).status.code(), Some(1), "that is on the server");
}

#[test]
fn an_invalid_setting_starts_no_local_server() {
    let home = new_home();
    for text in
        ["postgres://a:s3cret@localhost/d", "postgres://a:s3cret?x@localhost/d", "postgres://a@h/d?p%61ssword=s3cret"]
    {
        let refused = home.run(&["config", "set", "store.url", text]);
        let message = String::from_utf8_lossy(&refused.stderr);
        assert!(refused.status.code() == Some(2) && !message.contains("s3cret"), "{message}");
    }
    for file in ["[store]\nurl = \"postgres://a:s3cret@localhost/d\"", "[store]\nurl = 5", "[store\nurl = "] {
        home.write(".rethread/config.toml", file);
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["admin", "member", "list"]] {
            let refused = home.run(command);
            let message = String::from_utf8_lossy(&refused.stderr);
            assert!(refused.status.code() == Some(2) && !message.contains("s3cret"), "{file}: {message}");
        }
        assert!(!String::from_utf8_lossy(&home.run(&["config", "show"]).stdout).contains("s3cret"));
        home.run(&["doctor"]);
    }
}

#[test]
fn only_sync_reads_transcripts_into_a_shared_store() {
    let Some(team) = TeamFixture::start() else { return };
    let (home, url) = (new_home(), format!("{}&space={}", team.postgres.url(), team.other_space));
    home.write(CLAUDE_FILE, CONVERSATION);
    let found = |word: &str| home.run(&["search", word, "--all-projects", "--store", &url]).status.code();
    home.run(&["sessions", "--all-projects", "--store", &url]);
    home.run(&["activity", "--store", &url]);
    home.run(&["ask", "what was done?", "--store", &url]);
    assert_eq!((found("lexer"), found("lexer")), (Some(1), Some(1)), "the user did not share it");
    home.run_ok(&["sync", "--store", &url]);
    assert_eq!(found("lexer"), Some(0));
}
