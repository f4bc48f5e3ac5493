//! What goes wrong: references, settings, arguments, places.

use insta::assert_snapshot;

use crate::transcripts::read_home;
use crate::world::World;

#[test]
fn a_reference_that_fits_nothing_or_too_much_is_the_callers_mistake() {
    let world = read_home();
    assert_snapshot!("unknown", world.tell(&["show", "nonsense"]));
    assert_snapshot!("unknown_json", world.tell(&["show", "nonsense", "--json"]));
    assert_snapshot!("ambiguous", world.tell(&["show", "1b0f"]));
    assert_snapshot!("ambiguous_json", world.tell(&["show", "parser", "--json"]));
    assert_snapshot!("unknown_citation", world.tell(&["show", "nonsense:3"]));
    assert_snapshot!("unknown_anchor", world.tell(&["timeline", "--around", "nonsense:3", "--json"]));
    assert_snapshot!("unknown_search_session", world.tell(&["search", "x", "--session", "nonsense"]));
}

#[test]
fn arguments_are_checked() {
    let world = World::new();
    assert_snapshot!("no_command", world.tell(&[]));
    assert_snapshot!("unknown_command", world.tell(&["sesions"]));
    assert_snapshot!("unknown_agent", world.tell(&["sync", "--agent", "cobol", "--json"]));
    assert_snapshot!("bad_span", world.tell(&["watch", "--every", "often"]));
    assert_snapshot!("two_scopes", world.tell(&["sessions", "--all-projects", "--project", "."]));
    assert_snapshot!("no_query", world.tell(&["search", " "]));
    assert_snapshot!("no_query_json", world.tell(&["search", "--json"]));
    assert_snapshot!("unknown_kind", world.tell(&["search", "x", "--kind", "prompt,joke"]));
    assert_snapshot!("no_hits_wanted", world.tell(&["search", "x", "--limit", "0"]));
    assert_snapshot!("query_like_a_flag", world.tell(&["search", "-x"]));
}

#[test]
fn a_bad_clock_is_not_guessed() {
    let world = World::new();
    let output = world.command(&["status", "--json"]).env("RETHREAD_NOW", "noon").output().unwrap();
    assert_snapshot!("bad_now", world.told(&output));
}

#[test]
fn a_time_that_is_none_is_not_guessed() {
    let world = read_home();
    assert_snapshot!("bad_since", world.tell(&["search", "x", "--since", "teatime"]));
    assert_snapshot!("bad_until", world.tell(&["timeline", "--until", "teatime", "--json"]));
}

#[test]
fn settings_that_make_no_sense_are_refused() {
    let world = World::new();
    assert_snapshot!("config_unknown_key", world.tell(&["config", "get", "intake.color"]));
    assert_snapshot!("config_bad_value", world.tell(&["config", "set", "intake.mode", "sometimes"]));
    assert_snapshot!("config_bad_flag", world.tell(&["-c", "intake.mode=sometimes", "status", "--json"]));
    assert_snapshot!("config_no_pair", world.tell(&["-c", "intake.mode", "status"]));
}

#[test]
fn a_file_that_is_not_toml_stops_reading_and_a_typing_error_does_not() {
    let world = World::new();
    world.write(".rethread/config.toml", "[intake\nmode = 1\n");
    assert_snapshot!("config_not_toml", world.tell(&["sync", "--json"]));
    assert_snapshot!("config_not_toml_doctor", world.tell(&["doctor"]));
    world.write(".rethread/config.toml", "[intake]\nmoed = \"batch\"\n");
    assert_snapshot!("config_typing_error", world.tell(&["sessions"]));
    assert_snapshot!("config_typing_error_doctor", world.tell(&["doctor"]));
}

#[test]
fn a_place_that_cannot_be_used_is_the_worlds_fault() {
    let world = World::new();
    world.write("file", "");
    let file = world.home("file");
    assert_snapshot!("home_is_a_file", world.tell(&["--home", file.to_str().unwrap(), "sync", "--json"]));
    world.write(".rethread/memory.db", "this is not a database, but a text of some length");
    assert_snapshot!("store_is_damaged", world.tell(&["status", "--json"]));
}
