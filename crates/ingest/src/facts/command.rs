//! Parses a command line: its main command, the class of that command, and whether its exit code is reliable.

use std::borrow::Cow;

use super::command_kind::command_kind;
use super::script::is_interpreter;
use super::shell::{ShellOperator, SimpleCommand};
use super::tables::{
    FLAGS_WITH_VALUE, FORMATTING_FLAGS, INTERPRETERS, MUTATING_PROGRAMS, MUTATING_SUBCOMMANDS, PARTIAL_OUTPUT_PROGRAMS,
    READ_ONLY_PROGRAMS, READ_ONLY_SUBCOMMANDS, SUBCOMMAND_PROGRAMS, TWO_WORD_SUBCOMMANDS,
};
use super::wrappers::{failed_wrapper, split_peeled, wrapper_names};

/// The effect of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CommandClass {
    /// Only reads; a failure means that nothing was found.
    ReadOnly,
    /// Changes files, packages or services.
    Mutating,
    /// Builds, tests or runs: success or failure says something about the work.
    Check,
}

/// Whether the outcome of a line shows how its main command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitVisibility {
    /// The exit code of the command is the exit code of the line.
    Visible,
    /// The exit code is lost, but most of the output is shown.
    Hidden,
    /// Exit code and output are lost.
    Lost,
}

/// One command: program with subcommand, and its arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellCommand {
    pub(super) name: String,
    pub(super) arguments: Vec<String>,
    /// Words before the command: variables set for it, `sudo`, `uv run`.
    pub(super) prefix_words: Vec<String>,
    pub(super) class: CommandClass,
    /// The file its output is redirected to.
    pub(super) output: Option<String>,
    /// The directory set with a flag such as `-C`.
    pub(super) folder: Option<String>,
    /// Whether the success of the line implies its success: only commands joined by `&&` up to the end surely ran and
    /// succeeded.
    pub(super) is_certain: bool,
    /// As written, without pipes and redirections.
    pub(super) text: String,
    /// Whether it ran only because the command before it failed.
    pub(super) is_alternative: bool,
}

/// A parsed command line, as far as fact extraction needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommandLine {
    /// The first command of each pipeline, in order.
    pub(super) commands: Vec<ShellCommand>,
    /// Index of the main command: the last one that is not read-only.
    pub(super) main: usize,
    /// The directory it runs in, if the line sets one.
    pub(super) folder: Option<String>,
    /// Whether the outcome is reliable.
    pub(super) exit: ExitVisibility,
    /// Whether only lines about failures and successes are shown: without any, the outcome is unknown.
    pub(super) is_filtered: bool,
}

impl CommandLine {
    /// The main command.
    pub(super) fn main(&self) -> &ShellCommand {
        &self.commands[self.main]
    }

    /// The call of a tool that runs code. `mark` is put before it, so that it is not taken for a program.
    pub(super) fn of_code(tool: &str, code: &str, mark: &str) -> Self {
        let name = tool.trim_start_matches("mcp__").replace("__", " ");
        let command = ShellCommand {
            text: name.clone(),
            name,
            arguments: vec!["-c".to_owned(), code.to_owned()],
            prefix_words: vec![mark.to_owned()],
            class: CommandClass::Check,
            output: None,
            folder: None,
            is_certain: true,
            is_alternative: false,
        };
        Self { commands: vec![command], main: 0, folder: None, exit: ExitVisibility::Visible, is_filtered: false }
    }

    /// The same line with the wrapper as its main command, if this message is a failure of the wrapper itself.
    pub(super) fn charged_to_wrapper(&self, message: &str) -> Option<Self> {
        failed_wrapper(&self.main().prefix_words, message).map(|wrapper| self.with_main_wrapper(wrapper))
    }

    /// The same line for each wrapper of its main command.
    pub(super) fn wrapper_forms(&self) -> impl Iterator<Item = Self> + '_ {
        wrapper_names(&self.main().prefix_words).map(|wrapper| self.with_main_wrapper(wrapper))
    }

    /// The same line, with a wrapper of its main command as the main command.
    fn with_main_wrapper(&self, wrapper: String) -> Self {
        let mut line = self.clone();
        let main = &mut line.commands[line.main];
        let inner = main.name.split(' ').map(str::to_owned).collect::<Vec<_>>();
        main.arguments = [std::mem::take(&mut main.prefix_words), inner, std::mem::take(&mut main.arguments)].concat();
        main.name = wrapper;
        main.class = CommandClass::Check;
        line
    }
}

/// Parses a command line; `None` if it contains no command.
pub(super) fn parse_command_line(line: &str) -> Option<CommandLine> {
    let simples = split_peeled(line);
    let mut commands = Vec::new();
    let mut indexes = Vec::new();
    let mut folder = None;
    for (index, simple) in simples.iter().enumerate() {
        if simple.operator == ShellOperator::Pipe && !runs_piped_script(commands.last(), simple) {
            stop_found_processes(commands.last_mut(), simple);
            continue;
        }
        if simple.words.first().is_some_and(|word| word == "cd" || word == "pushd") {
            folder = simple.words.get(1).cloned();
            continue;
        }
        if let Some(command) = parse_command(simple) {
            commands.push(command);
            indexes.push(index);
        }
    }
    let main = commands
        .iter()
        .rposition(|command| command.class != CommandClass::ReadOnly)
        .unwrap_or(commands.len().checked_sub(1)?);
    let is_check = command_kind(&commands[main]).is_some();
    let is_filtered = is_check && simples[indexes[main] + 1..].iter().any(shows_failures);
    let exit = exit_visibility(&simples, indexes[main], line, is_check);
    let sure_from = simples
        .iter()
        .rposition(|simple| matches!(simple.operator, ShellOperator::Then | ShellOperator::Or))
        .unwrap_or(0);
    let is_conditional = |index: usize| simples[index].operator == ShellOperator::Or || simples[index].is_conditional;
    for (command, index) in commands.iter_mut().zip(&indexes) {
        command.is_certain = *index >= sure_from && !is_conditional(*index) && !simples[*index].is_background;
    }
    commands[main].is_certain |= exit == ExitVisibility::Hidden && !is_conditional(indexes[main]);
    let folder = commands[main].folder.take().or(folder);
    Some(CommandLine { commands, main, folder, exit, is_filtered })
}

/// Whether a script processes what a command before it only reads: `cat a.json | python3 -c '…'`. The script is what
/// fails.
fn runs_piped_script(before: Option<&ShellCommand>, simple: &SimpleCommand) -> bool {
    let is_read = before.is_some_and(|before| {
        before.class == CommandClass::ReadOnly || matches!(before.name.as_str(), "curl" | "wget" | "git show")
    });
    let (program, flag) = (simple.words.first(), simple.words.get(1));
    is_read
        && program.is_some_and(|program| is_interpreter(program.rsplit('/').next().unwrap_or(program)))
        && flag.is_some_and(|flag| matches!(flag.as_str(), "-c" | "-e"))
}

/// `lsof -ti:3000 | xargs kill` stops processes, though its first command only reads.
fn stop_found_processes(command: Option<&mut ShellCommand>, simple: &SimpleCommand) {
    let stops = simple.words.iter().any(|word| word == "xargs") && simple.words.iter().any(|word| word == "kill");
    if let Some(command) = command.filter(|_| stops) {
        "kill".clone_into(&mut command.name);
        command.text = format!("{} | {}", command.text, written(simple));
    }
}

/// The name of the main command of a line.
pub fn command_name(line: &str) -> Option<String> {
    parse_command_line(line).map(|line| line.main().name.clone())
}

/// Whether a line runs the command of this name, or a wrapper of it.
pub fn runs_command(line: &str, name: &str) -> bool {
    parse_command_line(line).is_some_and(|line| {
        line.commands.iter().any(|one| is_same_name(&one.name, name))
            || line.wrapper_forms().any(|wrapper| is_same_name(&wrapper.main().name, name))
    })
}

/// Whether two names mean the same: `npm test` is `npm run test`.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    let short = |name: &str| match name.split_once(" run ") {
        Some((program @ ("npm" | "pnpm" | "yarn" | "bun"), script)) => format!("{program} {script}"),
        _ => name.to_owned(),
    };
    one == other || short(one) == short(other)
}

/// Whether the main command of a line only reads.
pub fn is_read_only(line: &str) -> bool {
    parse_command_line(line).is_some_and(|line| line.main().class == CommandClass::ReadOnly)
}

/// Whether a filter lets lines through that report a failure.
fn shows_failures(simple: &SimpleCommand) -> bool {
    let (program, words) = simple.words.split_first().map_or(("", &[][..]), |(first, rest)| (first.as_str(), rest));
    let is_other_output = |word: &String| {
        word.starts_with("--invert")
            || (word.starts_with('-') && !word.starts_with("--") && word.contains(['v', 'c', 'q', 'l', 'o']))
    };
    simple.operator == ShellOperator::Pipe
        && matches!(program, "grep" | "egrep" | "rg")
        && !words.iter().any(is_other_output)
        && words.iter().any(|word| {
            let word = word.to_ascii_lowercase();
            word.contains("fail") || word.contains("error")
        })
}

/// The output of a check shows how it ended even if it is filtered for failures.
fn exit_visibility(simples: &[SimpleCommand], main: usize, line: &str, is_check: bool) -> ExitVisibility {
    let has_pipefail = line.contains("pipefail");
    if simples[main].is_background || simples[main].is_conditional || simples[main].operator == ShellOperator::Or {
        return ExitVisibility::Lost;
    }
    let mut exit = ExitVisibility::Visible;
    let mut is_silent = simples[main].output.is_some() || simples[main].hides_stderr;
    let mut piped = true;
    for simple in &simples[main + 1..] {
        let program = simple.words.first().map_or("", String::as_str);
        match simple.operator {
            ShellOperator::Pipe if piped => {
                let is_partial = PARTIAL_OUTPUT_PROGRAMS.contains(program) && !(is_check && shows_failures(simple));
                is_silent |= is_partial || simple.output.is_some();
                if !has_pipefail {
                    exit = ExitVisibility::Hidden;
                }
            }
            ShellOperator::And => piped = false,
            _ => {
                piped = false;
                exit = ExitVisibility::Hidden;
            }
        }
    }
    if exit == ExitVisibility::Hidden && is_silent { ExitVisibility::Lost } else { exit }
}

fn parse_command(simple: &SimpleCommand) -> Option<ShellCommand> {
    let words = &simple.words;
    let prefix_words = simple.variables.iter().chain(&simple.wrappers).cloned().collect();
    let program = words.first()?.rsplit('/').next().unwrap_or_default().to_owned();
    let program = program.trim_start_matches('$');
    // `npx vercel@latest` runs `vercel`.
    let program = program.split_once('@').map_or(program, |(name, _)| if name.is_empty() { program } else { name });
    let program = program.to_owned();
    let is_setting = matches!(program.as_str(), "set" | "export" | "source" | ".");
    if is_setting || !is_program_name(&program) {
        return None;
    }
    let rest = &words[1..];
    let (subcommand, arguments) = split_subcommand(&program, rest);
    let name = if subcommand.is_empty() { program.clone() } else { format!("{program} {}", subcommand.join(" ")) };
    let class = classify(&program, &subcommand, &arguments);
    let folder = folder_flag(rest);
    Some(ShellCommand {
        name,
        arguments,
        prefix_words,
        class,
        output: simple.output.clone(),
        folder,
        is_certain: false,
        text: written(simple),
        is_alternative: simple.operator == ShellOperator::Or,
    })
}

/// A command as it could be typed.
fn written(simple: &SimpleCommand) -> String {
    let is_special = |c: char| c.is_whitespace() || ";|&><()#".contains(c);
    let words = simple.variables.iter().chain(&simple.wrappers).chain(&simple.words);
    let quoted = words.map(|word| match word {
        word if word.starts_with("<<") || !word.contains(is_special) => Cow::Borrowed(word.as_str()),
        word => Cow::Owned(format!("'{}'", word.replace('\'', "’"))),
    });
    quoted.collect::<Vec<_>>().join(" ")
}

/// Whether a word can be the name of a program; anything else is a part of a script that was not understood.
fn is_program_name(word: &str) -> bool {
    let is_test = matches!(word, "[" | "[[");
    let is_name = word.chars().all(|c| c.is_alphanumeric() || "-_.+:@~".contains(c))
        && word.starts_with(|c: char| c.is_alphabetic() || "_.~@".contains(c));
    word.len() <= 80 && (is_test || is_name) && word.contains(|c: char| c.is_alphabetic() || c == '[')
}

/// The directory set by a flag such as `-C` or `--prefix`.
fn folder_flag(words: &[String]) -> Option<String> {
    const FLAGS: [&str; 6] = ["-C", "--prefix", "--cwd", "--dir", "--manifest-path", "--directory"];
    let at = words.iter().position(|word| FLAGS.contains(&word.split('=').next().unwrap_or_default()))?;
    match words[at].split_once('=') {
        Some((_, folder)) => Some(folder.to_owned()),
        None => words.get(at + 1).cloned(),
    }
}

fn skip_flags(words: &[String]) -> &[String] {
    let mut at = 0;
    while let Some(word) = words.get(at).filter(|word| word.starts_with('-') || word.starts_with('+')) {
        at += 1 + usize::from(FLAGS_WITH_VALUE.contains(word));
    }
    words.get(at..).unwrap_or_default()
}

fn split_subcommand(program: &str, rest: &[String]) -> (Vec<String>, Vec<String>) {
    let words = skip_flags(rest);
    let Some(first) = words.first() else { return (Vec::new(), rest.to_vec()) };
    let is_script = first.contains('.') && !first.contains(char::is_whitespace) && first.len() < 120;
    let unversioned = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_interpreter = INTERPRETERS.contains(program) || INTERPRETERS.contains(unversioned);
    if is_interpreter && is_script && words.len() == rest.len() {
        return (vec![first.clone()], words[1..].to_vec());
    }
    // A program such as `make` may have a target as its subcommand; paths are arguments.
    let is_word = first.chars().all(|c| c.is_alphanumeric() || "-_:.@".contains(c))
        && !first.contains("..")
        && !first.starts_with(|c: char| c.is_ascii_digit());
    if !SUBCOMMAND_PROGRAMS.contains(program) || !is_word {
        return (Vec::new(), rest.to_vec());
    }
    let mut taken = vec![first.clone()];
    let mut after = &words[1..];
    if TWO_WORD_SUBCOMMANDS.contains(&format!("{program} {first}")) {
        let more = skip_flags(after);
        if let Some(second) = more.first() {
            taken.push(second.clone());
            after = &more[1..];
        }
    }
    (taken, after.to_vec())
}

fn classify(program: &str, subcommand: &[String], arguments: &[String]) -> CommandClass {
    let full = format!("{program} {}", subcommand.join(" "));
    let full = full.trim_end();
    let only_prints_info = |word: &String| {
        matches!(word.as_str(), "--version" | "--help" | "--markers" | "--collect-only" | "--fixtures" | "--listTests")
    };
    let is_short = arguments.len() == 1 && matches!(arguments[0].as_str(), "-V" | "-h" | "-v");
    if arguments.iter().chain(subcommand).any(only_prints_info) || is_short {
        return CommandClass::ReadOnly;
    }
    let in_place = arguments.iter().any(|word| word.starts_with("-i") || word == "--in-place");
    match program {
        "sed" | "perl" if in_place => return CommandClass::Mutating,
        "sed" => return CommandClass::ReadOnly,
        "git"
            if full == "git branch"
                && arguments.iter().any(|word| matches!(word.as_str(), "-d" | "-D" | "-m" | "-M")) =>
        {
            return CommandClass::Mutating;
        }
        _ => {}
    }
    if READ_ONLY_PROGRAMS.contains(program) || READ_ONLY_SUBCOMMANDS.contains(full) {
        CommandClass::ReadOnly
    } else if MUTATING_PROGRAMS.contains(program) || MUTATING_SUBCOMMANDS.contains(full) {
        CommandClass::Mutating
    } else {
        CommandClass::Check
    }
}

/// Whether two commands are the same, ignoring flags that only change the output format.
pub(super) fn is_same_command(one: &ShellCommand, other: &ShellCommand) -> bool {
    one.name == other.name && significant_arguments(&one.arguments) == significant_arguments(&other.arguments)
}

fn significant_arguments(arguments: &[String]) -> Vec<&str> {
    let mut words: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|word| !FORMATTING_FLAGS.contains(word)).collect();
    words.sort_unstable();
    words.dedup();
    words
}

/// Similarity of two commands: the share of words they have in common, from 0 to 1.
pub(super) fn word_similarity(one: &ShellCommand, other: &ShellCommand) -> f64 {
    let words = |command: &ShellCommand| -> Vec<String> {
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
    fn command_name_is_program_and_subcommand() {
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
    fn lost_exit_codes_are_detected() {
        for (line, exit) in [
            ("cargo test", ExitVisibility::Visible),
            ("cd x && cargo test", ExitVisibility::Visible),
            ("cargo test | tail -5", ExitVisibility::Hidden),
            ("set -o pipefail; cargo test | tail -5", ExitVisibility::Visible),
            ("cargo test || true", ExitVisibility::Hidden),
            ("cargo test; echo done", ExitVisibility::Hidden),
            ("cargo test | grep FAILED", ExitVisibility::Hidden),
            ("cargo test | grep -v FAILED", ExitVisibility::Lost),
            ("cargo test | grep -c FAILED", ExitVisibility::Lost),
            ("cargo test | grep lease", ExitVisibility::Lost),
            ("./run.sh | grep -E 'ok|failed'", ExitVisibility::Lost),
            ("cargo test > log; tail log", ExitVisibility::Lost),
            ("cargo build && ./run", ExitVisibility::Visible),
        ] {
            assert_eq!(parse_command_line(line).unwrap().exit, exit, "{line}");
        }
    }

    #[test]
    fn same_commands_are_recognized() {
        let main = |line: &str| parse_command_line(line).unwrap().main().clone();
        assert!(is_same_command(&main("pytest -v tests"), &main("uv run pytest tests | tail -3")));
        assert!(!is_same_command(&main("pytest tests/a.py"), &main("pytest tests")));
        assert!(word_similarity(&main("python x.py --a"), &main("python3 x.py --a")) < 1.0);
    }

    #[test]
    fn read_only_commands_are_distinguished_from_work() {
        for (line, class) in [
            ("grep -r x .", CommandClass::ReadOnly),
            ("git status", CommandClass::ReadOnly),
            ("node --version", CommandClass::ReadOnly),
            ("pytest --markers", CommandClass::ReadOnly),
            ("sed -n 1,5p a", CommandClass::ReadOnly),
            ("sed -i s/a/b/ a", CommandClass::Mutating),
            ("npm install", CommandClass::Mutating),
            ("git commit -m x", CommandClass::Check),
            ("go vet ./...", CommandClass::Check),
            ("gh pr checks 19", CommandClass::ReadOnly),
            ("docker system df", CommandClass::ReadOnly),
            ("docker builder prune -f", CommandClass::Mutating),
            ("kubectl get pods", CommandClass::ReadOnly),
            ("kubectl rollout status deploy/a", CommandClass::ReadOnly),
            ("kubectl rollout restart deploy/a", CommandClass::Mutating),
            ("npm cache clean --force", CommandClass::Mutating),
            ("brew services list", CommandClass::ReadOnly),
            ("brew services restart redis", CommandClass::Mutating),
            ("systemctl is-active nginx", CommandClass::ReadOnly),
        ] {
            assert_eq!(parse_command_line(line).unwrap().main().class, class, "{line}");
        }
    }
}
