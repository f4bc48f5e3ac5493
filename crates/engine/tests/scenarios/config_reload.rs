//! A running process applies changed settings, and keeps the last valid ones.

use rethread_engine::{ConfigReload, Engine};
use rethread_testing::TestHome;

const CONFIG: &str = ".rethread/config.toml";

fn model(engine: &Engine) -> String {
    engine.settings().model.name.clone()
}

#[test]
fn changed_settings_apply_and_invalid_ones_do_not() {
    // D59, E004-16
    let home = TestHome::new();
    let engine = home.engine();
    assert_eq!((engine.reload_config(), model(&engine)), (ConfigReload::Unchanged, String::new()));
    home.write(CONFIG, "[model]\nprovider = \"openai\"\nname = \"small\"\n");
    assert_eq!((engine.reload_config(), model(&engine)), (ConfigReload::Reloaded, "small".to_owned()));
    assert_eq!(engine.reload_config(), ConfigReload::Unchanged);
    for invalid in [
        "[model]\nname = \"bigger\nprovider = 1",
        "[model]\nprovider = \"carrier pigeon\"\nname = \"large\"\n",
        "[model]\nprovider = \"openai\"\nname = \"large\"\n[intake]\nexclude = [\"drafts[\"]\n",
    ] {
        home.write(CONFIG, invalid);
        assert!(matches!(engine.reload_config(), ConfigReload::Rejected(_)), "{invalid}");
        assert_eq!(model(&engine), "small", "the last valid configuration");
        assert_eq!(engine.reload_config(), ConfigReload::Unchanged, "reported once");
        let findings = engine.reports().doctor().unwrap().findings;
        let said = findings.iter().filter(|finding| finding.message.ends_with("the last valid settings still apply"));
        assert_eq!(said.count(), 1, "{findings:?}");
    }
    home.write(CONFIG, "[model]\nprovider = \"openai\"\nname = \"other\"\n");
    assert_eq!((engine.reload_config(), model(&engine)), (ConfigReload::Reloaded, "other".to_owned()));
    let events: Vec<String> = home.log_events().iter().map(|event| event["event"].to_string()).collect();
    assert_eq!(events.iter().filter(|event| event.contains("config_rejected")).count(), 3, "{events:?}");
}

#[test]
fn number_outside_its_range_is_rejected() {
    // E004-16
    let home = TestHome::new();
    let engine = home.engine();
    let error = engine.config().set("ask.max_calls_per_turn", "3").unwrap_err();
    assert_eq!(
        error.to_string(),
        "invalid value \"3\" for ask.max_calls_per_turn: expected a whole number from 0 to 2"
    );
    home.write(CONFIG, "[ask]\nmax_calls_per_turn = 3\n[model]\nwindow = 0\n");
    let engine = home.engine();
    assert_eq!((engine.settings().ask.max_calls_per_turn, engine.settings().model.window), (1, 128_000));
    assert_eq!(engine.config().problems().len(), 2, "{:?}", engine.config().problems());
}

#[test]
fn setting_is_not_written_into_what_is_not_a_section() {
    // E004-16
    let home = TestHome::new();
    home.write(CONFIG, "ask = 3\n");
    let error = home.engine().config().set("ask.max_bytes", "3").unwrap_err();
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "\"ask\" is not a section");
}

#[test]
fn every_key_has_a_help_text_and_accepts_its_default() {
    let home = TestHome::new();
    let engine = home.engine();
    for key in rethread_engine::SETTING_KEYS.iter() {
        assert!(!key.help.is_empty() && !key.help.starts_with(' '), "{}", key.name);
        let default = key.default_value().to_string();
        engine.config().set(&key.name, &default).unwrap_or_else(|error| panic!("{}: {error}", key.name));
    }
    assert!(home.engine().config().problems().is_empty(), "{:?}", home.engine().config().problems());
}

#[test]
fn doctor_reports_an_invalid_exclusion() {
    let home = TestHome::new();
    home.write(CONFIG, "[intake]\nexclude = [\"/srv/[\"]\n");
    let findings = home.engine().reports().doctor().unwrap().findings;
    let said = findings.iter().filter(|finding| finding.area == "config" && finding.message.contains("/srv/["));
    assert_eq!(said.count(), 1, "{findings:?}");
}
