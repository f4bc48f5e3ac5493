//! What a command line does: the command that matters in it, what kind it is, and whether its exit code can be believed.

use super::shell::{Joint, Simple, split};
use super::tables::{
    CHANGES, CHANGES_TOO, FORMATTING, INTERPRETERS, LOOKS, LOOKS_TOO, NAMES_MORE, SHOWS_LITTLE, VALUED, WITH_SUBCOMMAND,
};

/// What a command is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    /// It only looks at things, and its failure says that nothing was found.
    Looks,
    /// It changes things: files, packages, services.
    Changes,
    /// It builds, tests, runs: its success or failure says something about the work.
    Checks,
}

/// Whether the outcome of a line tells how its main command went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// Its exit code is the line's.
    Shown,
    /// Its exit code is lost, but most of its output is shown.
    Hidden,
    /// Exit code and output are lost.
    Lost,
}

/// One command: program and subcommand, and the words after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    /// What stands before it: variables set for it, `sudo`, `uv run`.
    pub(super) before: Vec<String>,
    pub(super) class: Class,
    /// The file its output goes to.
    pub(super) output: Option<String>,
    /// The folder it is told to work in.
    pub(super) folder: Option<String>,
    /// Whether the line's success is its own: only what is joined by `&&` to the end is sure to have run and gone well.
    pub(super) is_sure: bool,
}

/// A command line as far as facts need it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    /// The commands that stand at the head of a pipe, in order.
    pub(super) commands: Vec<Command>,
    /// Which of them matters most: the last that does more than look.
    pub(super) main: usize,
    /// Where it runs, if the line says so.
    pub(super) folder: Option<String>,
    /// Whether the outcome can be believed.
    pub(super) exit: Exit,
}

impl Line {
    /// The command that matters.
    pub(super) fn main(&self) -> &Command {
        &self.commands[self.main]
    }
}

/// Takes a command line apart; nothing if it holds no command.
pub(super) fn read(line: &str) -> Option<Line> {
    let simples = split(line);
    let mut commands = Vec::new();
    let mut places = Vec::new();
    let mut folder = None;
    for (place, simple) in simples.iter().enumerate() {
        if simple.joint == Joint::Pipe {
            continue;
        }
        if simple.words.first().is_some_and(|word| word == "cd" || word == "pushd") {
            folder = simple.words.get(1).cloned();
            continue;
        }
        if let Some(command) = command(simple) {
            commands.push(command);
            places.push(place);
        }
    }
    let main =
        commands.iter().rposition(|command| command.class != Class::Looks).unwrap_or(commands.len().checked_sub(1)?);
    let exit = exit(&simples, places[main], line);
    let sure_from = simples.iter().rposition(|simple| matches!(simple.joint, Joint::Then | Joint::Or)).unwrap_or(0);
    let may_not_have_run = |place: usize| simples[place].joint == Joint::Or;
    for (command, place) in commands.iter_mut().zip(&places) {
        command.is_sure = *place >= sure_from && !may_not_have_run(*place) && !simples[*place].is_left_running;
    }
    commands[main].is_sure |= exit == Exit::Hidden && !may_not_have_run(places[main]);
    let folder = commands[main].folder.take().or(folder);
    Some(Line { commands, main, folder, exit })
}

/// The name of the command that matters in a line.
pub fn command_name(line: &str) -> Option<String> {
    read(line).map(|line| line.main().name.clone())
}

/// Whether a line only looks at things.
pub fn only_looks(line: &str) -> bool {
    read(line).is_some_and(|line| line.main().class == Class::Looks)
}

fn exit(simples: &[Simple], main: usize, line: &str) -> Exit {
    let has_pipefail = line.contains("pipefail");
    if simples[main].is_left_running || simples[main].joint == Joint::Or {
        return Exit::Lost;
    }
    let mut exit = Exit::Shown;
    let mut is_silent = simples[main].output.is_some() || simples[main].hides_errors;
    let mut piped = true;
    for simple in &simples[main + 1..] {
        let program = simple.words.first().map_or("", String::as_str);
        match simple.joint {
            Joint::Pipe if piped => {
                is_silent |= SHOWS_LITTLE.has(program) || simple.output.is_some();
                if !has_pipefail {
                    exit = Exit::Hidden;
                }
            }
            Joint::And => piped = false,
            _ => {
                piped = false;
                exit = Exit::Hidden;
            }
        }
    }
    if exit == Exit::Hidden && is_silent { Exit::Lost } else { exit }
}

/// Words that run another command, with how many of their own words follow.
const WRAPPERS: &[(&[&str], usize)] = &[
    (&["uv", "run"], 0),
    (&["poetry", "run"], 0),
    (&["pipenv", "run"], 0),
    (&["hatch", "run"], 0),
    (&["rye", "run"], 0),
    (&["bundle", "exec"], 0),
    (&["pnpm", "exec"], 0),
    (&["pnpm", "dlx"], 0),
    (&["yarn", "dlx"], 0),
    (&["npm", "exec"], 0),
    (&["npx"], 0),
    (&["bunx"], 0),
    (&["sudo"], 0),
    (&["time"], 0),
    (&["timeout"], 1),
    (&["gtimeout"], 1),
    (&["nice"], 0),
    (&["nohup"], 0),
    (&["env"], 0),
    (&["command"], 0),
    (&["exec"], 0),
    (&["xvfb-run"], 0),
    (&["rtk"], 0),
    (&["direnv", "exec"], 1),
];

fn command(simple: &Simple) -> Option<Command> {
    let words = unwrap(&simple.words);
    let wrappers = &simple.words[..simple.words.len() - words.len()];
    let before = simple.variables.iter().chain(wrappers).cloned().collect();
    let program = words.first()?.rsplit('/').next().unwrap_or_default().to_owned();
    let program = program.trim_start_matches('$').to_owned();
    if program.is_empty()
        || matches!(program.as_str(), "set" | "export" | "source" | "." | "then" | "do" | "fi" | "done" | "else")
    {
        return None;
    }
    let rest = &words[1..];
    let (subcommand, arguments) = subcommand(&program, rest);
    let name = if subcommand.is_empty() { program.clone() } else { format!("{program} {}", subcommand.join(" ")) };
    let class = class(&program, &subcommand, &arguments);
    let folder = folder_flag(rest);
    Some(Command { name, arguments, before, class, output: simple.output.clone(), folder, is_sure: false })
}

/// The folder that a flag such as `-C` or `--prefix` names.
fn folder_flag(words: &[String]) -> Option<String> {
    const FLAGS: [&str; 6] = ["-C", "--prefix", "--cwd", "--dir", "--manifest-path", "--directory"];
    let at = words.iter().position(|word| FLAGS.contains(&word.split('=').next().unwrap_or_default()))?;
    match words[at].split_once('=') {
        Some((_, folder)) => Some(folder.to_owned()),
        None => words.get(at + 1).cloned(),
    }
}

/// Leaves out what only runs the command: `sudo`, `uv run`, `npx -y`, `python -m`.
fn unwrap(words: &[String]) -> &[String] {
    let mut words = words;
    'again: loop {
        for (wrapper, own) in WRAPPERS {
            let begins = words.len() > wrapper.len() && words.iter().zip(*wrapper).all(|(word, known)| word == known);
            if !begins {
                continue;
            }
            let mut rest = skip_flags(&words[wrapper.len()..]);
            rest = rest.get(*own..).unwrap_or_default();
            while rest.first().is_some_and(|word| word.contains('=') && !word.starts_with('-')) {
                rest = &rest[1..];
            }
            if rest.is_empty() {
                return words;
            }
            words = rest;
            continue 'again;
        }
        let is_python =
            words.first().is_some_and(|word| word.rsplit('/').next().unwrap_or_default().starts_with("python"));
        if is_python && words.len() > 2 && words[1] == "-m" {
            words = &words[2..];
            continue;
        }
        return words;
    }
}

fn skip_flags(words: &[String]) -> &[String] {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') || word.starts_with('+')) {
        at += 1 + usize::from(VALUED.has(word));
    }
    words.get(at..).unwrap_or_default()
}

fn subcommand(program: &str, rest: &[String]) -> (Vec<String>, Vec<String>) {
    let words = skip_flags(rest);
    let Some(first) = words.first() else { return (Vec::new(), rest.to_vec()) };
    let is_script = first.contains('.') && !first.contains(char::is_whitespace) && first.len() < 120;
    if INTERPRETERS.has(program) && is_script && words.len() == rest.len() {
        return (vec![first.clone()], words[1..].to_vec());
    }
    // A command that needs none, such as `make`, may have a target; paths are arguments.
    let is_word = first.chars().all(|c| c.is_alphanumeric() || "-_:.@".contains(c)) && !first.contains("..");
    if !WITH_SUBCOMMAND.has(program) || !is_word {
        return (Vec::new(), rest.to_vec());
    }
    let mut taken = vec![first.clone()];
    let mut after = &words[1..];
    if NAMES_MORE.has(&format!("{program} {first}")) {
        let more = skip_flags(after);
        if let Some(second) = more.first() {
            taken.push(second.clone());
            after = &more[1..];
        }
    }
    (taken, after.to_vec())
}

fn class(program: &str, subcommand: &[String], arguments: &[String]) -> Class {
    let full = format!("{program} {}", subcommand.join(" "));
    let full = full.trim_end();
    let only_tells = |word: &String| matches!(word.as_str(), "--version" | "--help");
    let is_short = arguments.len() == 1 && matches!(arguments[0].as_str(), "-V" | "-h" | "-v");
    if arguments.iter().chain(subcommand).any(only_tells) || is_short {
        return Class::Looks;
    }
    let in_place = arguments.iter().any(|word| word.starts_with("-i") || word == "--in-place");
    match program {
        "sed" | "perl" if in_place => return Class::Changes,
        "sed" => return Class::Looks,
        "git"
            if full == "git branch"
                && arguments.iter().any(|word| matches!(word.as_str(), "-d" | "-D" | "-m" | "-M")) =>
        {
            return Class::Changes;
        }
        _ => {}
    }
    if LOOKS.has(program) || LOOKS_TOO.has(full) {
        Class::Looks
    } else if CHANGES.has(program) || CHANGES_TOO.has(full) {
        Class::Changes
    } else {
        Class::Checks
    }
}

/// Whether two runs of the same command ask the same: their arguments are equal, flags that only format aside.
pub(super) fn asks_the_same(one: &Command, other: &Command) -> bool {
    one.name == other.name && telling(&one.arguments) == telling(&other.arguments)
}

fn telling(arguments: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> = arguments.iter().map(String::as_str).filter(|word| !FORMATTING.has(word)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// How much two command lines have in common: the share of their words that stand in both.
pub(super) fn likeness(one: &Command, other: &Command) -> f64 {
    let words = |command: &Command| -> Vec<String> {
        command.name.split([' ', '-']).map(str::to_owned).chain(command.arguments.iter().cloned()).collect()
    };
    let (one, other) = (words(one), words(other));
    let common = one.iter().filter(|word| other.contains(word)).count();
    let all = one.len() + other.len() - common;
    if all == 0 { 0.0 } else { common as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_named_by_program_and_subcommand() {
        for (line, name) in [
            ("cargo test -p x", "cargo test"),
            ("cargo +nightly clippy --all", "cargo clippy"),
            ("cd x && cargo build 2>&1 | tail -5", "cargo build"),
            ("uv run pytest tests/ -v", "pytest"),
            ("python3 -m pytest", "pytest"),
            ("npx -y vitest run", "vitest"),
            ("npm run build", "npm run build"),
            ("npm test", "npm test"),
            ("git -C /x commit -m 'y'", "git commit"),
            ("FOO=1 sudo timeout 60 make check", "make check"),
            ("docker compose -f x.yml up -d", "docker compose up"),
            ("python3 scripts/go.py --x", "python3 scripts/go.py"),
            ("/usr/bin/go test ./...", "go test"),
            ("./gradlew test", "gradlew test"),
            ("ls -la | head", "ls"),
            ("cat a && echo b", "echo"),
            ("make && ls", "make"),
            ("npm ci && npm test; echo $?", "npm test"),
            ("mypy .", "mypy"),
        ] {
            assert_eq!(command_name(line).as_deref(), Some(name), "{line}");
        }
        assert_eq!(command_name("export A=1"), None);
        assert_eq!(command_name(""), None);
    }

    #[test]
    fn a_lost_exit_code_is_noticed() {
        for (line, exit) in [
            ("cargo test", Exit::Shown),
            ("cd x && cargo test", Exit::Shown),
            ("cargo test | tail -5", Exit::Hidden),
            ("set -o pipefail; cargo test | tail -5", Exit::Shown),
            ("cargo test || true", Exit::Hidden),
            ("cargo test; echo done", Exit::Hidden),
            ("cargo test | grep FAILED", Exit::Lost),
            ("cargo test > log; tail log", Exit::Lost),
            ("cargo build && ./run", Exit::Shown),
        ] {
            assert_eq!(read(line).unwrap().exit, exit, "{line}");
        }
    }

    #[test]
    fn runs_with_the_same_question_are_known() {
        let main = |line: &str| read(line).unwrap().main().clone();
        assert!(asks_the_same(&main("pytest -v tests"), &main("uv run pytest tests | tail -3")));
        assert!(!asks_the_same(&main("pytest tests/a.py"), &main("pytest tests")));
        assert!(likeness(&main("python x.py --a"), &main("python3 x.py --a")) < 1.0);
    }

    #[test]
    fn looking_around_is_told_from_work() {
        for (line, class) in [
            ("grep -r x .", Class::Looks),
            ("git status", Class::Looks),
            ("node --version", Class::Looks),
            ("sed -n 1,5p a", Class::Looks),
            ("sed -i s/a/b/ a", Class::Changes),
            ("npm install", Class::Changes),
            ("git commit -m x", Class::Checks),
            ("go vet ./...", Class::Checks),
            ("gh pr checks 19", Class::Looks),
        ] {
            assert_eq!(read(line).unwrap().main().class, class, "{line}");
        }
    }
}
