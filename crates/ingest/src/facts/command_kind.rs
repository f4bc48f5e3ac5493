//! What a command is for: a test, a build, an installation, a server that never ends, or moving files around.

use super::command::{CommandClass, CommandLine, ShellCommand};
use super::tables::{
    BUILD_WORDS, FILE_UTILITIES, FORMAT_WORDS, INSTALL_COMMANDS, INSTALLING_SUBCOMMANDS, LINT_WORDS, PROGRAM_RUNNERS,
    SEARCH_PROGRAMS, SERVER_NAMES, SERVER_WORDS, TEST_WORDS,
};

/// The purpose of a command, as steps of a sequence name it.
pub(super) fn command_kind(command: &ShellCommand) -> Option<&'static str> {
    let name = command.name.as_str();
    if name == "git commit" {
        return Some("commit");
    }
    if INSTALL_COMMANDS.contains(name) || INSTALLING_SUBCOMMANDS.contains(name) {
        return Some("install");
    }
    if command.class == CommandClass::ReadOnly || name.starts_with("git ") || name.starts_with("gh ") {
        return None;
    }
    let runs_tests = name == "node" && command.arguments.iter().any(|word| word == "--test");
    let words: Vec<&str> = name.split([' ', ':', '-', '/', '.', '_']).collect();
    let is_any = |table: &super::tables::WordTable| words.iter().any(|word| table.contains(word));
    if runs_tests || is_any(&TEST_WORDS) {
        Some("test")
    } else if is_any(&FORMAT_WORDS) {
        Some("format")
    } else if is_any(&LINT_WORDS) {
        Some("check")
    } else {
        is_any(&BUILD_WORDS).then_some("build")
    }
}

/// Whether a command only moves files or text around or is a script for one use, which says nothing about how work is
/// done.
pub(super) fn is_file_utility(command: &ShellCommand) -> bool {
    FILE_UTILITIES.contains(&command.name) || command.name.contains(" /tmp/")
}

/// Whether a read-only command searches; the others read.
pub(super) fn is_search(command: &ShellCommand) -> bool {
    SEARCH_PROGRAMS.contains(&command.name)
}

/// Whether a line runs a program of the project that may be a server: nothing says whether it should end.
pub(super) fn may_run_forever(line: &CommandLine) -> bool {
    let main = line.main();
    let is_program = PROGRAM_RUNNERS.contains(&main.name);
    let is_script =
        ["npm run ", "pnpm run ", "yarn run ", "bun run "].iter().any(|runner| main.name.starts_with(runner));
    runs_forever(line) || ((is_program || is_script) && command_kind(main).is_none())
}

/// Whether a line is meant to run until it is stopped, such as a development server.
fn runs_forever(line: &CommandLine) -> bool {
    line.commands.iter().any(|command| {
        let has = |flag: &str| command.arguments.iter().any(|word| word == flag);
        let follows = (has("-f") || has("-F") || has("--follow"))
            && ["tail", "logs", "journalctl"].iter().any(|name| command.name.ends_with(name));
        let stays_attached = command.name == "docker compose up" && !has("-d") && !has("--detach");
        let is_script = command.name.split([' ', ':', '-', '/', '.', '_']).any(|word| SERVER_WORDS.contains(word));
        let watches = has("--watch") || has("-w") && command.name == "tsc";
        SERVER_NAMES.contains(&command.name) || is_script || follows || stays_attached || watches
    })
}

#[cfg(test)]
mod tests {
    use super::super::command::parse_command_line;
    use super::*;

    #[test]
    fn purpose_of_a_command_is_recognized() {
        for (line, kind) in [
            ("cargo test -p a", Some("test")),
            ("npm run test:unit", Some("test")),
            ("npx vitest run", Some("test")),
            ("node --test", Some("test")),
            ("bash scripts/run_tests.sh", Some("test")),
            ("cargo clippy", Some("check")),
            ("ruff check .", Some("check")),
            ("ruff format .", Some("format")),
            ("npm run build", Some("build")),
            ("npm ci", Some("install")),
            ("git commit -m 'add tests'", Some("commit")),
            ("git push", None),
            ("git checkout test", None),
            ("python3 migrate.py", None),
            ("cat test.txt", None),
        ] {
            assert_eq!(command_kind(parse_command_line(line).unwrap().main()), kind, "{line}");
        }
    }

    #[test]
    fn servers_and_watchers_run_forever() {
        for line in [
            "npm run dev",
            "pnpm --filter web dev",
            "npx vite --port 3000",
            "next dev",
            "bin/rails s",
            "uvicorn app:main --reload",
            "tail -f log/dev.log",
            "watch ls",
            "docker compose up",
            "docker compose logs -f web",
            "npx tsc --watch",
            "node server.js",
            "python3 -m http.server",
            "npm start",
        ] {
            assert!(runs_forever(&parse_command_line(line).unwrap()), "{line}");
        }
        assert!(may_run_forever(&parse_command_line("node dist/index").unwrap()));
        assert!(!may_run_forever(&parse_command_line("node --test").unwrap()));
        for line in ["npm test", "vite build", "docker compose up -d", "tail -5 a", "cargo run", "npm run build"] {
            assert!(!runs_forever(&parse_command_line(line).unwrap()), "{line}");
        }
    }
}
