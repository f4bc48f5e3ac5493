//! Whether Codex runs our hooks: it does only after the user has trusted each of them.

use std::path::Path;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::doctor_checks::AREA;
use super::entry::{Owner, handlers, value_at};
use super::host::HostPlace;
use super::settings::Syntax;
use super::settings_plan::ParsedSettings;
use crate::reports::{Diagnosis, FindingLevel};

/// What Codex waits for a hook that has no timeout, in seconds.
const DEFAULT_TIMEOUT: u64 = 600;

/// Reports hooks that Codex holds back. It stores what the user trusted in `config.toml`.
pub(super) fn check(place: &HostPlace<'_>, settings: &ParsedSettings, diagnosis: &mut Diagnosis) {
    let Ok(config) = ParsedSettings::read(place.home().join("config.toml"), Syntax::Toml) else { return };
    let trusted = value_at(&config.value, &["hooks", "state"]).cloned().unwrap_or_default();
    let paths = [settings.file.path.as_path(), settings.file.target.as_path()];
    let held: Vec<String> = our_hooks(&settings.value, &place.owner())
        .into_iter()
        .filter(|hook| !paths.iter().any(|path| hook.is_trusted(&trusted, path)))
        .map(|hook| hook.event)
        .collect();
    if !held.is_empty() {
        let message = format!("Codex does not run hooks that you have not trusted: {}", held.join(", "));
        diagnosis.add(AREA, FindingLevel::Problem, message, Some("start codex and run /hooks"));
    }
}

/// A hook of ours and its place in the file.
struct PlacedHook {
    event: String,
    group: usize,
    handler: usize,
    /// SHA-256 of what Codex asks the user to trust.
    hash: String,
}

impl PlacedHook {
    fn is_trusted(&self, trusted: &Value, path: &Path) -> bool {
        let key = format!("{}:{}:{}:{}", path.display(), snake_case(&self.event), self.group, self.handler);
        let state = trusted.get(key);
        let is_enabled = |state: &Value| state.get("enabled").is_none_or(|enabled| *enabled != false);
        state.is_some_and(|state| state.get("trusted_hash").is_some_and(|hash| *hash == self.hash) && is_enabled(state))
    }
}

fn our_hooks(settings: &Value, owner: &Owner<'_>) -> Vec<PlacedHook> {
    let mut hooks = Vec::new();
    for (event, groups) in settings.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        for (at, group) in groups.as_array().into_iter().flatten().enumerate() {
            for (handler, hook) in handlers(group).into_iter().flatten().enumerate() {
                if owner.hook_program(hook).is_some() {
                    let hash = hash(event, group.get("matcher"), hook);
                    hooks.push(PlacedHook { event: event.clone(), group: at, handler, hash });
                }
            }
        }
    }
    hooks
}

/// Codex hashes a hook as JSON with sorted keys and with its defaults filled in.
fn hash(event: &str, matcher: Option<&Value>, hook: &Value) -> String {
    let handler = json!({
        "async": false,
        "command": hook.get("command"),
        "timeout": hook.get("timeout").cloned().unwrap_or_else(|| json!(DEFAULT_TIMEOUT)),
        "type": "command",
    });
    let mut identity =
        Map::from_iter([("event_name".to_owned(), json!(snake_case(event))), ("hooks".to_owned(), json!([handler]))]);
    if let Some(matcher) = matcher {
        identity.insert("matcher".to_owned(), matcher.clone());
    }
    format!("sha256:{:x}", Sha256::digest(Value::Object(identity).to_string()))
}

/// `SessionStart` as `session_start`.
fn snake_case(event: &str) -> String {
    let mut name = String::new();
    for letter in event.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_the_one_codex_stores() {
        let hook = |command: &str, timeout| json!({"type": "command", "command": command, "timeout": timeout});
        let ours = hook("test ! -x /opt/rethread || exec /opt/rethread hook codex", 5);
        assert_eq!(
            hash("SessionStart", None, &ours),
            "sha256:49b43b0d0f4525fdc254418950357034da7a19f54f4a5550a47165e71be77d85"
        );
        assert_eq!(snake_case("UserPromptSubmit"), "user_prompt_submit");
    }
}
