//! Errors: references, settings, arguments, paths.

use insta::assert_snapshot;

use crate::transcripts::{new_home, read_home};

#[test]
fn unknown_and_ambiguous_references_are_usage_errors() {
    let home = read_home();
    assert_snapshot!("unknown", home.snapshot(&["show", "nonsense"]));
    assert_snapshot!("unknown_json", home.snapshot(&["show", "nonsense", "--json"]));
    assert_snapshot!("ambiguous", home.snapshot(&["show", "1b0f"]));
    assert_snapshot!("ambiguous_json", home.snapshot(&["show", "parser", "--json"]));
    assert_snapshot!("unknown_citation", home.snapshot(&["show", "nonsense:3"]));
    assert_snapshot!("unknown_anchor", home.snapshot(&["timeline", "--around", "nonsense:3", "--json"]));
    assert_snapshot!("unknown_search_session", home.snapshot(&["search", "x", "--session", "nonsense"]));
}

#[test]
fn arguments_are_checked() {
    let home = new_home();
    assert_snapshot!("no_command", home.snapshot(&[]));
    assert_snapshot!("unknown_command", home.snapshot(&["sesions"]));
    assert_snapshot!("unknown_agent", home.snapshot(&["sync", "--agent", "cobol", "--json"]));
    assert_snapshot!("bad_span", home.snapshot(&["watch", "--every", "often"]));
    assert_snapshot!("two_scopes", home.snapshot(&["sessions", "--all-projects", "--project", "."]));
    assert_snapshot!("no_query", home.snapshot(&["search", " "]));
    assert_snapshot!("no_query_json", home.snapshot(&["search", "--json"]));
    assert_snapshot!("unknown_kind", home.snapshot(&["search", "x", "--kind", "prompt,joke"]));
    assert_snapshot!("no_hits_wanted", home.snapshot(&["search", "x", "--limit", "0"]));
    assert_snapshot!("query_like_a_flag", home.snapshot(&["search", "-x"]));
}

#[test]
fn invalid_clock_is_an_error() {
    let home = new_home();
    let output = home.command(&["status", "--json"]).env("RETHREAD_NOW", "noon").output().unwrap();
    assert_snapshot!("bad_now", home.snapshot_of(&output));
}

#[test]
fn invalid_time_is_an_error() {
    let home = read_home();
    assert_snapshot!("bad_since", home.snapshot(&["search", "x", "--since", "teatime"]));
    assert_snapshot!("bad_until", home.snapshot(&["timeline", "--until", "teatime", "--json"]));
}

#[test]
fn invalid_settings_are_refused() {
    let home = new_home();
    assert_snapshot!("config_unknown_key", home.snapshot(&["config", "get", "intake.color"]));
    assert_snapshot!("config_bad_value", home.snapshot(&["config", "set", "intake.mode", "sometimes"]));
    assert_snapshot!("config_bad_flag", home.snapshot(&["-c", "intake.mode=sometimes", "status", "--json"]));
    assert_snapshot!("config_no_pair", home.snapshot(&["-c", "intake.mode", "status"]));
}

#[test]
fn invalid_toml_stops_sync_and_an_unknown_key_does_not() {
    let home = new_home();
    home.write(".rethread/config.toml", "[intake\nmode = 1\n");
    assert_snapshot!("config_not_toml", home.snapshot(&["sync", "--json"]));
    assert_snapshot!("config_not_toml_doctor", home.snapshot(&["doctor"]));
    home.write(".rethread/config.toml", "[intake]\nmoed = \"batch\"\n");
    assert_snapshot!("config_typing_error", home.snapshot(&["sessions"]));
    assert_snapshot!("config_typing_error_doctor", home.snapshot(&["doctor"]));
}

#[test]
fn unusable_home_or_store_exits_with_3() {
    let home = new_home();
    home.write("file", "");
    let file = home.path("file");
    assert_snapshot!("home_is_a_file", home.snapshot(&["--home", file.to_str().unwrap(), "sync", "--json"]));
    home.write(".rethread/memory.db", "this is not a database, but a text of some length");
    assert_snapshot!("store_is_damaged", home.snapshot(&["status", "--json"]));
}
