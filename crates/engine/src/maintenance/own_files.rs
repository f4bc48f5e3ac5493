//! Knows which files Rethread writes into its directory, by their place and name. Other files in it are not ours, also
//! in folders that we use: the directory may be one that the user had before.

use std::fs;
use std::path::Path;

use rethread_model::thread::ThreadId;
use rethread_model::{Agent, Space};

use crate::config::has_only_known_sections;
use crate::server::is_token;

/// Names of the database and of the files that SQLite puts beside it.
const DATABASE: [&str; 4] = ["memory.db", "memory.db-wal", "memory.db-shm", "memory.db-journal"];
const TOP_FILES: [&str; 8] = [
    "open.html",
    "serve.sock",
    "serve.lock",
    "watch.lock",
    "enrich.lock",
    "notes.lock",
    "set-aside.lock",
    "index.lock",
];
const FOLDERS: [&str; 9] = ["index", "threads", "archive", "cards", "spool", "logs", "set-aside", "install", "bin"];
/// End of the names of files that were not renamed to their final names.
const TEMPORARY_SUFFIX: &str = ".rethread-tmp";
/// Lengths of names that are random or hashes, in hexadecimal digits.
const SEGMENT_DIGITS: usize = 32;
const HASH_DIGITS: usize = 16;

/// Whether a folder at this place of our directory is one that we use.
pub(super) fn is_own_folder(place: &[&str]) -> bool {
    match place {
        [name] => FOLDERS.contains(name) || *name == "stores" || is_space_index(name),
        ["threads", "deleted"] | ["set-aside", _] => true,
        ["threads", id] | ["threads", id, "turns"] => is_thread(id),
        ["stores", store] => is_hex(store, HASH_DIGITS),
        ["stores", store, space] => is_hex(store, HASH_DIGITS) && space.parse::<Space>().is_ok(),
        ["stores", store, space, inside @ ..] => is_own_folder(&["stores", store, space]) && is_own_folder(inside),
        _ => false,
    }
}

/// Whether a file at this place is one that we wrote. `path` is where to look into it, if the name does not decide it.
pub(super) fn is_own_file(place: &[&str], path: &Path) -> bool {
    let Some((name, folder)) = place.split_last() else { return false };
    if name.starts_with('.') && name.ends_with(TEMPORARY_SUFFIX) {
        return true;
    }
    match folder {
        [] => is_own_top_file(name, path),
        ["index"] => is_index_file(name),
        [index] if is_space_index(index) => is_index_file(name),
        ["logs"] => name.strip_suffix(".jsonl").is_some_and(is_date),
        ["threads", "deleted"] => is_thread(name),
        ["threads", _] => ["session.jsonl", "metadata.json", "metadata.json.damaged"].contains(name),
        ["threads", _, "turns"] => *name == "lock" || is_number(name),
        ["archive"] => has_extension(name, "json") && name.split_once('_').is_some_and(|(date, _)| is_date(date)),
        ["cards"] => name.ends_with(".meta.json") || has_extension(name, "lock"),
        ["spool"] => *name == "lock" || is_spooled_event(name),
        ["set-aside", _] => DATABASE.contains(name) || *name == "carried-over.json",
        ["install"] => is_install_record(name),
        ["bin"] => *name == "rethread" || name.starts_with("rethread.tmp-"),
        ["stores", _] => ["token", "serve.lock", "serve.sock"].contains(name),
        ["stores", _, _, inside @ ..] => is_own_file(&[inside, &[*name]].concat(), path),
        _ => false,
    }
}

fn is_own_top_file(name: &str, path: &Path) -> bool {
    match name {
        "config.toml" => fs::read_to_string(path).is_ok_and(|text| has_only_known_sections(&text)),
        "token" => fs::read_to_string(path).is_ok_and(|text| is_token(text.trim())),
        _ => {
            let is_index_lock = name.strip_suffix(".lock").is_some_and(is_space_index);
            DATABASE.contains(&name) || TOP_FILES.contains(&name) || is_index_lock
        }
    }
}

/// The index of a space other than that of this machine.
fn is_space_index(name: &str) -> bool {
    name.strip_prefix("index-").is_some_and(|space| space.parse::<Space>().is_ok())
}

fn is_index_file(name: &str) -> bool {
    let is_segment = name.split_once('.').is_some_and(|(segment, _)| is_hex(segment, SEGMENT_DIGITS));
    is_segment || name == "meta.json" || name == ".managed.json" || name.starts_with(".tantivy-")
}

fn is_thread(name: &str) -> bool {
    name.strip_prefix(".new-").unwrap_or(name).parse::<ThreadId>().is_ok()
}

/// `NANOSECONDS-RANDOM.json`, or `.part` while it is written.
fn is_spooled_event(name: &str) -> bool {
    let stem = name.strip_suffix(".json").or_else(|| name.strip_suffix(".part"));
    let parts = stem.and_then(|stem| stem.split_once('-'));
    parts.is_some_and(|(nanos, random)| is_number(nanos) && is_hex(random, HASH_DIGITS))
}

/// `AGENT-HASH.json`.
fn is_install_record(name: &str) -> bool {
    let parts = name.strip_suffix(".json").and_then(|stem| stem.rsplit_once('-'));
    parts.is_some_and(|(agent, hash)| agent.parse::<Agent>().is_ok() && is_hex(hash, HASH_DIGITS))
}

/// `2026-03-14`.
fn is_date(text: &str) -> bool {
    let digits = text
        .bytes()
        .enumerate()
        .all(|(at, byte)| if at == 4 || at == 7 { byte == b'-' } else { byte.is_ascii_digit() });
    text.len() == 10 && digits
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn has_extension(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_not_ours_in_folders_of_ours() {
        let is_ours = |path: &str| is_own_file(&path.split('/').collect::<Vec<_>>(), Path::new("/none"));
        for path in [
            "Cargo.lock",
            "README.md",
            "config.toml",
            "token",
            "bin/mytool",
            "logs/app.log",
            "logs/2026-03-14.log",
            "index/index.html",
            "threads/notes.txt",
            "archive/old.json",
            "install/setup.json",
            "set-aside/mine.db",
            "stores/list.txt",
            "spool/job.json",
        ] {
            assert!(!is_ours(path), "{path}");
        }
        for path in [
            "memory.db-wal",
            "index.lock",
            "index-acme.lock",
            "logs/2026-03-14.jsonl",
            "index/0123456789abcdef0123456789abcdef.store",
            "index-acme/meta.json",
            "threads/01M7V0QE1FPWN4J7CY04XACF8Y/session.jsonl",
            "threads/01M7V0QE1FPWN4J7CY04XACF8Y/turns/12",
            "archive/2026-03-14_10-20_abc.json",
            "cards/abc.meta.json",
            "spool/01234567890123456789-0123456789abcdef.json",
            "set-aside/20260314T102000Z/memory.db",
            "install/claude-code-99e94ba5140066d8.json",
            "stores/0123456789abcdef/serve.lock",
            "stores/0123456789abcdef/acme/index/meta.json",
            "bin/rethread",
            "cards/.abc.meta.json.0123456789abcdef.rethread-tmp",
        ] {
            assert!(is_ours(path), "{path}");
        }
        assert!(!is_own_folder(&["vendor.lock"]) && !is_own_folder(&["bin", "tools"]));
        assert!(is_own_folder(&["stores", "0123456789abcdef", "acme", "index"]));
    }
}
