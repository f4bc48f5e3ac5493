//! Extracts facts about packages that commands added or removed.

use rethread_model::{Entity, EntityKind, Entry, Predicate};

use super::command::ShellCommand;
use super::sink::{FactSink, observed_fact};
use super::tables::{INSTALL_COMMANDS, INSTALLER_FLAGS_WITH_VALUE, UNINSTALL_COMMANDS};

/// Extracts the facts of a package command that succeeded.
pub(super) fn extract(command: &ShellCommand, entry: &Entry, sink: &mut FactSink) {
    // `uv pip install` has its verb among the arguments.
    let (name, arguments) = match (command.name.as_str(), command.arguments.split_first()) {
        ("uv pip", Some((verb, rest))) => (format!("uv pip {verb}"), rest),
        (name, _) => (name.to_owned(), command.arguments.as_slice()),
    };
    let predicate = if INSTALL_COMMANDS.contains(&name) {
        Predicate::Added
    } else if UNINSTALL_COMMANDS.contains(&name) {
        Predicate::Removed
    } else {
        return;
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if INSTALLER_FLAGS_WITH_VALUE.contains(word) {
            words.next();
        } else if let Some(package) = package_name(word) {
            sink.count(observed_fact(entry, predicate, Entity::new(EntityKind::Package, package)));
        }
    }
}

/// The package name without version and extras; `None` for flags, paths and URLs.
fn package_name(word: &str) -> Option<&str> {
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
    use super::package_name;

    #[test]
    fn package_name_has_no_version() {
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
            assert_eq!(package_name(word), name, "{word}");
        }
    }
}
