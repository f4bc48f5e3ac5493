//! Packages that commands added to a project or took out of it.

use rethread_model::{Entity, EntityKind, Entry, Predicate};

use super::command::Command;
use super::sink::{Sink, seen};
use super::tables::{ADDS, REMOVES, VALUED_BY_INSTALLERS};

/// What a command that went well did to the packages.
pub(super) fn tell(done: &Command, entry: &Entry, sink: &mut Sink) {
    // `uv pip install` has its verb among the words.
    let (name, arguments) = match (done.name.as_str(), done.arguments.split_first()) {
        ("uv pip", Some((verb, rest))) => (format!("uv pip {verb}"), rest),
        (name, _) => (name.to_owned(), done.arguments.as_slice()),
    };
    let predicate = if ADDS.has(&name) {
        Predicate::Added
    } else if REMOVES.has(&name) {
        Predicate::Removed
    } else {
        return;
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if VALUED_BY_INSTALLERS.has(word) {
            words.next();
        } else if let Some(package) = package(word) {
            sink.count(seen(entry, predicate, Entity::new(EntityKind::Package, package)));
        }
    }
}

/// The name without version and extras; nothing for flags, paths and addresses.
fn package(word: &str) -> Option<&str> {
    let is_path = word.starts_with(['-', '.', '/', '~', '$', '<', '>'])
        || word.contains("://")
        || word.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "whl" | "tgz" | "txt"));
    if is_path || word.is_empty() || word == "package" {
        return None;
    }
    let scoped = usize::from(word.starts_with('@'));
    let end = word[scoped..].find(['@', '=', '<', '>', '~', '!', '^', '[', ';']).map_or(word.len(), |at| at + scoped);
    let name = &word[..end];
    (!name.is_empty() && name.chars().any(char::is_alphanumeric)).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn a_package_is_named_without_its_version() {
        for (word, name) in [
            ("serde@1.0", Some("serde")),
            ("@types/node@20", Some("@types/node")),
            ("requests>=2.0", Some("requests")),
            ("uvicorn[standard]", Some("uvicorn")),
            ("github.com/x/y@latest", Some("github.com/x/y")),
            ("./local", None),
            ("--save-dev", None),
            ("git+https://x/y", None),
        ] {
            assert_eq!(package(word), name, "{word}");
        }
    }
}
