//! Cards of sessions, through the real binary.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::Value;

use crate::transcripts::{CLAUDE, read_home};

#[test]
fn a_card_is_shown_by_rules() {
    let world = read_home();
    assert_snapshot!("card", world.tell(&["card", "last line"]));
    assert_snapshot!("card_json", world.tell(&["card", "last line", "--json"]));
    assert_snapshot!("card_of_pi", world.tell(&["card", "coupons"]));
    assert_snapshot!("card_unknown", world.tell(&["card", "nonsense", "--json"]));
    assert!(!world.home(".rethread/cards").exists(), "reading writes nothing");
}

#[test]
fn s001_13_without_a_model_a_refresh_says_so_and_shows_the_card() {
    let world = read_home();
    assert_snapshot!("card_refresh_no_model", world.tell(&["card", "last line", "--refresh"]));
    assert_snapshot!("card_refresh_no_model_json", world.tell(&["card", "last line", "--refresh", "--json"]));
    assert_snapshot!("card_dry_run_no_model", world.tell(&["card", "last line", "--refresh", "--dry-run"]));
    assert_snapshot!("card_force_alone", world.tell(&["card", "last line", "--force"]));
}

#[test]
fn a_refresh_that_is_not_due_or_not_allowed_says_so() {
    let world = read_home();
    let model = "[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"http://127.0.0.1:9/v1\"\n";
    world.write(".rethread/config.toml", model);
    assert_snapshot!("card_not_due", world.tell(&["card", "last line", "--refresh"]));
    assert_snapshot!("card_no_budget", world.tell(&["card", "last line", "--refresh", "--force", "--json"]));
    assert_snapshot!("card_dry_run", world.tell(&["card", "last line", "--refresh", "--dry-run"]));
    let bad = ["-c", "cards.model_keys=haiku", "card", "last line", "--refresh"];
    assert_snapshot!("card_bad_settings", world.tell(&bad));
}

#[test]
fn s001_14_s001_16_a_card_can_be_exported() {
    let world = read_home();
    assert_snapshot!("card_export", world.tell(&["card", "last line", "--export"]));
    let path = world.home(&format!(".rethread/cards/{CLAUDE}.meta.json"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let meta: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((meta["sessionId"].as_str(), meta["model"].as_str()), (Some(CLAUDE), Some("rules")));
    fs::write(&path, "{ half").unwrap();
    assert_snapshot!("card_damaged", world.tell(&["card", "last line"]));
}
