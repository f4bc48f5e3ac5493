//! Where Hermes stores sessions: in its own directory and in one per profile.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::agents::SessionIdentity;
use crate::source::{SourceConfig, TranscriptHead, TranscriptPeek, read_text};

/// How long Hermes keeps sessions if it deletes any and the user named no number.
const DEFAULT_DAYS: u64 = 90;
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Before the id in the name of a document.
const SNAPSHOT_PREFIX: &str = "session_";

/// Hermes' own directory.
pub(super) fn home(source_config: &SourceConfig) -> PathBuf {
    let named = source_config.env_var("HERMES_HOME");
    named.map_or_else(|| source_config.home.join(".hermes"), |folder| source_config.expand_home(folder))
}

/// The databases of Hermes and of its profiles.
pub(super) fn databases(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    in_every_home(source_config, "state.db")
}

/// The folders with files of older versions.
pub(super) fn session_folders(source_config: &SourceConfig) -> Vec<(PathBuf, &'static str)> {
    in_every_home(source_config, "sessions")
}

fn in_every_home(source_config: &SourceConfig, name: &str) -> Vec<(PathBuf, &'static str)> {
    let home = home(source_config);
    let profiles = fs::read_dir(home.join("profiles")).into_iter().flatten().filter_map(Result::ok);
    let mut profiles: Vec<PathBuf> = profiles.map(|profile| profile.path().join(name)).collect();
    profiles.retain(|path| path.exists());
    profiles.sort();
    let reason = if source_config.env_var("HERMES_HOME").is_some() { "HERMES_HOME" } else { "default location" };
    let profiles = profiles.into_iter().map(|path| (path, "profile"));
    std::iter::once((home.join(name), reason)).chain(profiles).collect()
}

/// Whether a file of lines begins like one of Hermes.
pub(super) fn is_session_file(head: &TranscriptHead) -> bool {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct SessionStart {
        role: Value,
        platform: Value,
        tools: Value,
    }
    let first: Option<SessionStart> = head.lines().next();
    first.is_some_and(|line| line.role == "session_meta" && (line.platform.is_string() || line.tools.is_array()))
}

pub(super) fn is_snapshot(path: &Path) -> bool {
    path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(SNAPSHOT_PREFIX))
}

/// The session of a file, by its name: `<id>.jsonl` or `session_<id>.json`.
pub(super) fn session_id_in_path(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?;
    let snapshot = || name.strip_suffix(".json")?.strip_prefix(SNAPSHOT_PREFIX);
    name.strip_suffix(".jsonl").or_else(snapshot).filter(|id| !id.is_empty())
}

pub(super) fn identify_snapshot(path: &Path, _: &TranscriptPeek) -> Option<SessionIdentity> {
    session_id_in_path(path.to_str()?).map(|id| SessionIdentity::main(id.to_owned()))
}

/// After how many days Hermes deletes a session, if the user turned that on.
pub(super) fn retention_days(source_config: &SourceConfig) -> Option<u64> {
    let config = read_text(&home(source_config).join("config.yaml"), MAX_CONFIG_BYTES).ok()?;
    let mut lines = config.lines().skip_while(|line| line.trim_end() != "sessions:").skip(1);
    let section: Vec<&str> =
        lines.by_ref().take_while(|line| line.starts_with([' ', '#']) || line.is_empty()).collect();
    let value = |key: &str| {
        let found = section.iter().find_map(|line| line.trim().strip_prefix(key)?.strip_prefix(':'))?;
        Some(found.split('#').next().unwrap_or(found).trim())
    };
    let days = value("retention_days").and_then(|days| days.parse().ok()).unwrap_or(DEFAULT_DAYS);
    (value("auto_prune") == Some("true")).then_some(days)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_deleted_only_if_the_user_says_so() {
        let folder = std::env::temp_dir().join(format!("rethread-hermes-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let env_vars = vec![("HERMES_HOME".to_owned(), folder.display().to_string())];
        let source_config = SourceConfig { env_vars, ..SourceConfig::default() };
        for (config, expect) in [
            ("model: x\n", None),
            ("sessions:\n  retention_days: 30\n", None),
            ("sessions:\n  auto_prune: true # yes\n  retention_days: 30\nmodel: x\n", Some(30)),
            ("sessions:\n  auto_prune: true\nother:\n  retention_days: 5\n", Some(DEFAULT_DAYS)),
        ] {
            fs::write(folder.join("config.yaml"), config).unwrap();
            assert_eq!(retention_days(&source_config), expect, "{config}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
