//! Claude Code's registry of running sessions: what each one does now, and the name its user sees. Never reads the key
//! files in the same folder.

use std::fs;
use std::path::Path;

use rethread_model::{clip, one_line};
use serde::Deserialize;
use serde_json::Value;

use super::files::roots;
use crate::source::{LiveSession, LiveStatus, SourceConfig, read_text};

/// Size limit of a file in the registry.
const MAX_FILE_BYTES: u64 = 64 << 10;
/// Maximum number of files read; entries of dead processes remain.
const MAX_FILES: usize = 200;
/// Characters that are kept of what a session waits for.
const MAX_REASON_CHARS: usize = 80;

/// An entry of the registry. Fields are optional and differ between versions.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegisteredSession {
    session_id: String,
    #[serde(default)]
    pid: Value,
    #[serde(default)]
    name: Value,
    #[serde(default)]
    name_source: Value,
    #[serde(default)]
    status: Value,
    #[serde(default)]
    waiting_for: Value,
}

/// The sessions in `sessions/<pid>.json`, next to the transcripts.
pub(super) fn live_sessions(source_config: &SourceConfig) -> Vec<LiveSession> {
    let roots = roots(source_config);
    let folders = roots.iter().filter_map(|(root, _)| root.parent()).map(|config| config.join("sessions"));
    folders.filter_map(|folder| fs::read_dir(folder).ok()).flat_map(registered_sessions).collect()
}

fn registered_sessions(entries: fs::ReadDir) -> Vec<LiveSession> {
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let paths = paths.filter(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.take(MAX_FILES).filter_map(|path| read_entry(&path)).collect()
}

fn read_entry(path: &Path) -> Option<LiveSession> {
    let entry: RegisteredSession = serde_json::from_str(&read_text(path, MAX_FILE_BYTES).ok()?).ok()?;
    let text = |value: &Value| value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let in_file_name = || path.file_stem()?.to_str()?.parse().ok();
    let pid = entry.pid.as_i64().or_else(in_file_name);
    let status = match entry.status.as_str() {
        Some("busy") => Some(LiveStatus::Busy),
        Some("idle") => Some(LiveStatus::Idle),
        Some("waiting") => Some(LiveStatus::Waiting),
        _ => None,
    };
    Some(LiveSession {
        external_id: entry.session_id,
        name: text(&entry.name),
        is_named_by_user: entry.name_source == "user",
        is_running: pid.is_some_and(is_running),
        status,
        waiting_for: text(&entry.waiting_for).map(|reason| clip(&one_line(&reason), MAX_REASON_CHARS).into_owned()),
    })
}

/// Whether a process exists, of any user.
fn is_running(pid: i64) -> bool {
    let pid = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw);
    pid.is_some_and(|pid| {
        !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH | rustix::io::Errno::INVAL))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_sessions_are_read_and_damaged_files_and_keys_skipped() {
        // D14
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".claude/sessions");
        fs::create_dir_all(&folder).unwrap();
        let own = std::process::id();
        let named =
            r#""sessionId":"a-1","name":"api-work","nameSource":"user","status":"waiting","waitingFor":"permission""#;
        fs::write(folder.join(format!("{own}.json")), format!("{{{named}}}")).unwrap();
        fs::write(folder.join("2.json"), "{").unwrap();
        fs::write(folder.join("999999999.json"), r#"{"sessionId":"b-2","status":"busy"}"#).unwrap();
        fs::write(folder.join("1.key"), format!("{{{named}}}")).unwrap();
        let config = SourceConfig { home: home.path().to_owned(), ..SourceConfig::default() };
        let mut found = live_sessions(&config);
        found.sort_by(|a, b| a.external_id.cmp(&b.external_id));
        let [first, second] = &found[..] else { panic!("{found:?}") };
        assert_eq!((first.external_id.as_str(), first.name.as_deref()), ("a-1", Some("api-work")));
        assert!(first.is_running && first.is_named_by_user);
        assert_eq!((first.status, first.waiting_for.as_deref()), (Some(LiveStatus::Waiting), Some("permission")));
        assert!(!second.is_running && second.name.is_none());
    }
}
