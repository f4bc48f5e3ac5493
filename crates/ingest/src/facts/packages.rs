//! Packages that commands added to a project or took out of it.

use rethread_model::{Entity, EntityKind, Entry, Predicate};

use super::command::Command;
use super::sink::{Sink, seen};

/// Commands that add the packages they name.
const ADDS: &[&str] = &[
    "cargo add",
    "npm install",
    "npm i",
    "npm add",
    "pnpm add",
    "pnpm install",
    "pnpm i",
    "yarn add",
    "bun add",
    "bun install",
    "pip install",
    "pip3 install",
    "uv add",
    "uv pip install",
    "poetry add",
    "pipenv install",
    "conda install",
    "go get",
    "gem install",
    "bundle add",
    "composer require",
    "apt install",
    "apt-get install",
    "apk add",
    "brew install",
    "dnf install",
    "dotnet add",
    "mix deps.add",
    "cargo install",
    "go install",
];
/// Commands that take out the packages they name.
const REMOVES: &[&str] = &[
    "cargo remove",
    "cargo rm",
    "npm uninstall",
    "npm remove",
    "npm rm",
    "pnpm remove",
    "pnpm rm",
    "yarn remove",
    "bun remove",
    "pip uninstall",
    "pip3 uninstall",
    "uv remove",
    "poetry remove",
    "pipenv uninstall",
    "gem uninstall",
    "composer remove",
    "apt remove",
    "apt-get remove",
    "brew uninstall",
];
/// Flags that are followed by a value of their own.
const VALUED: &[&str] = &[
    "-r",
    "--requirement",
    "-c",
    "--constraint",
    "--features",
    "-F",
    "--group",
    "--prefix",
    "--filter",
    "-C",
    "--dir",
    "-i",
    "--index-url",
    "--extra",
    "-p",
    "--package",
    "--version",
    "-v",
    "--tag",
    "--rename",
    "--optional-group",
    "-E",
    "-e",
    "--registry",
    "-w",
    "--workspace",
    "--git",
    "--branch",
    "--path",
    "-n",
    "--target",
    "-t",
];

/// What a command that went well did to the packages.
pub(super) fn tell(done: &Command, entry: &Entry, sink: &mut Sink) {
    // `uv pip install` has its verb among the words.
    let (name, arguments) = match (done.name.as_str(), done.arguments.split_first()) {
        ("uv pip", Some((verb, rest))) => (format!("uv pip {verb}"), rest),
        (name, _) => (name.to_owned(), done.arguments.as_slice()),
    };
    let predicate = if ADDS.contains(&name.as_str()) {
        Predicate::Added
    } else if REMOVES.contains(&name.as_str()) {
        Predicate::Removed
    } else {
        return;
    };
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if VALUED.contains(&word.as_str()) {
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
        || word.ends_with(".whl")
        || word.ends_with(".tgz")
        || word.ends_with(".txt");
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
