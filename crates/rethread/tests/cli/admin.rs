//! `admin`: spaces, members, tokens, audit and retention.

use insta::assert_snapshot;
use rethread_store::StoreLocation;
use rethread_testing::{TestHome, TestPostgres};
use serde_json::Value;

use crate::transcripts::new_home;

fn json(home: &TestHome, arguments: &[&str]) -> Value {
    let arguments: Vec<&str> = arguments.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&home.run_ok(&arguments)).unwrap()
}

#[test]
fn spaces_and_members_are_created_and_listed() {
    let home = new_home();
    assert_snapshot!("no_spaces", home.snapshot(&["admin", "space", "list"]));
    assert_snapshot!("no_members", home.snapshot(&["admin", "member", "list"]));
    assert_snapshot!("unknown_space", home.snapshot(&["admin", "member", "list", "--space", "acme"]));
    assert_snapshot!("space_new", home.snapshot(&["admin", "space", "new", "acme"]));
    assert_snapshot!("space_exists", home.snapshot(&["admin", "space", "new", "acme"]));
    let in_acme = |arguments: &[&str]| {
        let arguments: Vec<&str> = ["admin"].iter().chain(arguments).copied().chain(["--space", "acme"]).collect();
        home.run(&arguments)
    };
    let added = in_acme(&["member", "add", "alice", "--role", "admin", "--requests-per-minute", "60"]);
    let token = String::from_utf8(added.stdout).unwrap();
    assert!(token.starts_with("rt_acme_") && token.lines().count() == 1, "only the token is printed");
    assert!(in_acme(&["member", "add", "bob", "--role", "reader"]).status.success());
    assert!(in_acme(&["member", "revoke", "bob"]).status.success());
    assert_snapshot!("members", home.snapshot(&["admin", "member", "list", "--space", "acme"]));
    assert_snapshot!("spaces", home.snapshot(&["admin", "space", "list"]));
    assert_snapshot!("last_admin", home.snapshot(&["admin", "member", "revoke", "alice", "--space", "acme"]));
    assert_snapshot!("audit", home.snapshot(&["admin", "audit", "--space", "acme"]));
    assert!(json(&home, &["admin", "member", "list"])["members"].as_array().unwrap().is_empty(), "not in `local`");
}

#[test]
fn wrong_arguments_are_explained() {
    let home = new_home();
    assert_snapshot!("bad_space", home.snapshot(&["admin", "space", "new", "Acme"]));
    assert_snapshot!("bad_member", home.snapshot(&["admin", "member", "add", "a_b", "--role", "admin"]));
    assert_snapshot!(
        "scope_exceeds_role",
        home.snapshot(&["admin", "member", "add", "ci", "--role", "service", "--scope", "read,write"])
    );
    assert_snapshot!("unknown_member", home.snapshot(&["admin", "member", "rotate", "carol"]));
    assert_snapshot!("unknown_token", home.snapshot(&["admin", "token", "revoke", "123"]));
    assert_snapshot!("bad_retention", home.snapshot(&["admin", "retention", "0"]));
}

#[test]
fn tokens_are_rotated_and_revoked() {
    let home = new_home();
    let first = json(&home, &["admin", "member", "add", "ci", "--role", "service", "--expires", "90"]);
    assert_eq!((&first["scope"], &first["isValid"]), (&serde_json::json!(["write"]), &Value::Bool(true)));
    let second = json(&home, &["admin", "member", "rotate", "ci", "--grace", "5"]);
    assert_ne!(first["token"], second["token"]);
    let listed = json(&home, &["admin", "token", "list"]);
    let valid = |listed: &Value| {
        let tokens = listed["tokens"].as_array().unwrap().iter();
        tokens.filter(|token| token["isValid"] == true).map(|token| token["id"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(valid(&listed).len(), 2, "the old one still works");
    assert!(!listed.to_string().contains(second["token"].as_str().unwrap()), "lists show no secrets");
    home.run_ok(&["admin", "token", "revoke", first["id"].as_str().unwrap()]);
    let listed = json(&home, &["admin", "token", "list"]);
    assert_eq!(valid(&listed), [second["id"].clone()]);
    let text = home.run_ok(&["admin", "token", "list"]);
    assert!(text.contains("revoked") && text.contains("expires") && text.contains("never used"), "{text}");
    let audit = json(&home, &["admin", "audit", "--limit", "2"]);
    let targets: Vec<&str> =
        audit["events"].as_array().unwrap().iter().map(|event| event["target"].as_str().unwrap()).collect();
    assert_eq!(targets, [&format!("token revoke {}", first["id"].as_str().unwrap()), "member rotate ci"]);
}

#[test]
fn retention_is_set_and_shown() {
    let home = new_home();
    assert_eq!(home.run_ok(&["admin", "retention"]), "off\n");
    assert_eq!(home.run_ok(&["admin", "retention", "30"]), "30 days\n");
    assert_eq!(json(&home, &["admin", "retention"])["retentionDays"], 30);
    assert_eq!(home.run_ok(&["admin", "retention", "off"]), "off\n");
}

#[test]
fn a_store_on_citus_is_distributed_table_by_table() {
    let home = new_home();
    assert_snapshot!("distribute_local", home.snapshot(&["admin", "distribute"]));
    let Some(server) = TestPostgres::shared() else { return };
    let url = server.new_database_url();
    let distribute = |arguments: &[&str]| {
        let output = home.run(&[&["admin", "distribute", "--store", &url], arguments].concat());
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (output.status.success(), text(output.stdout), text(output.stderr))
    };
    let (is_done, _, stderr) = distribute(&[]);
    assert!(!is_done && stderr.contains("rethread serve --migrate"), "{stderr}");
    StoreLocation::at_url(&url, None, None).unwrap().migrate().unwrap();
    let (is_done, _, stderr) = distribute(&["--dry-run"]);
    assert!(!is_done && stderr.contains("does not have the Citus extension"), "{stderr}");
    assert!(stderr.contains("CREATE EXTENSION citus"), "{stderr}");

    TestPostgres::add_fake_citus(&url);
    let (_, statements, stderr) = distribute(&["--dry-run"]);
    assert!(
        statements.lines().next().unwrap().contains("create_distributed_table('counter', 'space',"),
        "{statements}"
    );
    assert!(stderr.contains(&format!("Would distribute {} tables.", statements.lines().count())), "{stderr}");
    let (_, planned, _) = distribute(&["--dry-run", "--json"]);
    let planned: Value = serde_json::from_str(&planned).unwrap();
    assert_eq!((&planned["dryRun"], &planned["tables"][0]["placement"]), (&true.into(), &"bySpace".into()));
    let (is_done, stdout, stderr) = distribute(&[]);
    assert!(is_done && stdout.is_empty(), "{stderr}");
    assert!(stderr.contains("distributed counter\n") && stderr.contains("distributed store_identity\n"), "{stderr}");
    let (_, _, stderr) = distribute(&[]);
    assert!(stderr.contains("Distributed 0 tables;"), "{stderr}");
}
