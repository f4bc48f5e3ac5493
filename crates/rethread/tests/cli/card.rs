//! `card`: shown, refreshed and exported.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use insta::assert_snapshot;
use serde_json::Value;

use crate::transcripts::{CLAUDE, read_home};

#[test]
fn card_is_shown_without_a_model() {
    let home = read_home();
    assert_snapshot!("card", home.snapshot(&["card", "last line"]));
    assert_snapshot!("card_json", home.snapshot(&["card", "last line", "--json"]));
    assert_snapshot!("card_of_pi", home.snapshot(&["card", "coupons"]));
    assert_snapshot!("card_unknown", home.snapshot(&["card", "nonsense", "--json"]));
    assert!(!home.path(".rethread/cards").exists(), "reading writes nothing");
}

#[test]
fn refresh_without_a_model_reports_it_and_shows_the_card() {
    // S001-13
    let home = read_home();
    assert_snapshot!("card_refresh_no_model", home.snapshot(&["card", "last line", "--refresh"]));
    assert_snapshot!("card_refresh_no_model_json", home.snapshot(&["card", "last line", "--refresh", "--json"]));
    assert_snapshot!("card_dry_run_no_model", home.snapshot(&["card", "last line", "--refresh", "--dry-run"]));
    assert_snapshot!("card_force_alone", home.snapshot(&["card", "last line", "--force"]));
}

#[test]
fn refresh_that_is_not_due_or_not_allowed_reports_it() {
    let home = read_home();
    let model = "[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"http://127.0.0.1:9/v1\"\n";
    home.write(".rethread/config.toml", model);
    assert_snapshot!("card_not_due", home.snapshot(&["card", "last line", "--refresh"]));
    assert_snapshot!("card_no_budget", home.snapshot(&["card", "last line", "--refresh", "--force", "--json"]));
    assert_snapshot!("card_dry_run", home.snapshot(&["card", "last line", "--refresh", "--dry-run"]));
    let bad = ["-c", "cards.model_keys=haiku", "card", "last line", "--refresh"];
    assert_snapshot!("card_bad_settings", home.snapshot(&bad));
}

#[test]
fn card_is_exported() {
    // S001-14, S001-16
    let home = read_home();
    assert_snapshot!("card_export", home.snapshot(&["card", "last line", "--export"]));
    let path = home.path(&format!(".rethread/cards/{CLAUDE}.meta.json"));
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let meta: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!((meta["sessionId"].as_str(), meta["model"].as_str()), (Some(CLAUDE), Some("rules")));
    fs::write(&path, "{ half").unwrap();
    assert_snapshot!("card_damaged", home.snapshot(&["card", "last line"]));
}
