//! Extracts facts about packages that commands added or removed.

use rethread_model::{Entity, EntityKind, Entry, Predicate};

use super::command::{ShellCommand, parse_command_line};
use super::sink::{FactSink, observed_fact};
use super::tables::{INSTALL_COMMANDS, INSTALLER_FLAGS_WITH_VALUE, UNINSTALL_COMMANDS};

/// Extracts the facts of a package command that succeeded.
pub(super) fn extract(command: &ShellCommand, entry: &Entry, sink: &mut FactSink) {
    let Some((predicate, packages)) = packages_of(command) else { return };
    for package in packages {
        sink.count(observed_fact(entry, predicate, Entity::new(EntityKind::Package, package)));
    }
}

/// The packages that a command line is about to install.
pub fn installed_packages(line: &str) -> Vec<String> {
    let commands = parse_command_line(line).map(|line| line.commands).unwrap_or_default();
    let packages = commands.iter().filter_map(packages_of).filter(|(predicate, _)| *predicate == Predicate::Added);
    packages.flat_map(|(_, packages)| packages).map(str::to_owned).collect()
}

/// The packages that a command names, and whether it adds or removes them.
fn packages_of(command: &ShellCommand) -> Option<(Predicate, Vec<&str>)> {
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
        return None;
    };
    let mut packages = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if INSTALLER_FLAGS_WITH_VALUE.contains(word) {
            words.next();
        } else {
            packages.extend(package_name(word));
        }
    }
    Some((predicate, packages))
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
    use super::{installed_packages, package_name};

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

    #[test]
    fn packages_are_known_before_a_command_runs() {
        // D41
        for (line, packages) in [
            ("npm install axios", vec!["axios"]),
            ("cd web && pnpm add -D axios@1.7 ky", vec!["axios", "ky"]),
            ("pip install 'requests>=2' -r dev.txt", vec!["requests"]),
            ("cargo add serde --features derive", vec!["serde"]),
            ("npm uninstall axios", vec![]),
            ("echo npm install axios", vec![]),
            ("npm install", vec![]),
        ] {
            assert_eq!(installed_packages(line), packages, "{line}");
        }
    }
}
