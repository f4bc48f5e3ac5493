//! A running process applies changed settings, and keeps the last valid ones.

use rethread_engine::{ConfigReload, Engine};
use rethread_testing::TestHome;

const CONFIG: &str = ".rethread/config.toml";

fn model(engine: &Engine) -> String {
    engine.config().text("model.name").to_owned()
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
    for invalid in
        ["[model]\nname = \"bigger\nprovider = 1", "[model]\nprovider = \"carrier pigeon\"\nname = \"large\"\n"]
    {
        home.write(CONFIG, invalid);
        assert!(matches!(engine.reload_config(), ConfigReload::Rejected(_)), "{invalid}");
        assert_eq!(model(&engine), "small", "the last valid configuration");
        assert_eq!(engine.reload_config(), ConfigReload::Unchanged, "reported once");
    }
    home.write(CONFIG, "[model]\nprovider = \"openai\"\nname = \"other\"\n");
    assert_eq!((engine.reload_config(), model(&engine)), (ConfigReload::Reloaded, "other".to_owned()));
    let events: Vec<String> = home.log_events().iter().map(|event| event["event"].to_string()).collect();
    assert_eq!(events.iter().filter(|event| event.contains("config_rejected")).count(), 2, "{events:?}");
}
