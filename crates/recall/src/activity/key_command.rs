//! Chooses the command that says most about what a session did.

/// Commands that only look at something or move around.
const READ_ONLY: [&str; 29] = [
    "ls", "cat", "cd", "pwd", "echo", "head", "tail", "grep", "rg", "find", "fd", "wc", "which", "sleep", "true",
    "sort", "uniq", "cut", "awk", "jq", "less", "file", "stat", "du", "df", "ps", "date", "env", "printf",
];
/// Subcommands of git that change nothing.
const READ_ONLY_GIT: [&str; 8] = ["status", "log", "diff", "show", "branch", "remote", "rev-parse", "blame"];
/// Words that change what others share: the history, a server, a package registry.
const SHARED: [&str; 14] = [
    "commit", "push", "merge", "rebase", "revert", "deploy", "publish", "release", "migrate", "apply", "rollback",
    "restart", "upgrade", "tag",
];

/// Words that keep a command from doing what it says.
const HARMLESS: [&str; 4] = ["help", "--help", "--version", "--dry-run"];

/// The command that changed most, the latest of equals. `None` if all of them only looked at something.
pub(super) fn key_command<'a>(commands: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let parts = commands.flat_map(steps);
    let ranked = parts.map(str::trim).filter_map(|part| Some((rank(part)?, short_form(part))));
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, part)| part)
}

/// The steps of a command line: split at `;`, `|`, `&&` and newlines, but not inside quotes.
fn steps(command: &str) -> Vec<&str> {
    let (mut steps, mut start) = (Vec::new(), 0);
    for (at, c) in unquoted(command) {
        let is_and = c == '&' && (command[..at].ends_with('&') || command[at + 1..].starts_with('&'));
        if matches!(c, ';' | '|' | '\n') || is_and {
            steps.push(&command[start..at]);
            start = at + 1;
        }
    }
    steps.push(&command[start..]);
    steps
}

/// The characters of a command line outside quotes, and where they are.
fn unquoted(command: &str) -> impl Iterator<Item = (usize, char)> {
    let (mut quote, mut is_escaped) = (None, false);
    command.char_indices().filter(move |(_, c)| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        match (quote, *c) {
            (None | Some('"'), '\\') => is_escaped = true,
            (None, '\'' | '"') => quote = Some(*c),
            (Some(open), c) if c == open => quote = None,
            (None, _) => return true,
            _ => {}
        }
        false
    })
}

/// 2 for a change that others notice, 1 for any other work, `None` for a look.
fn rank(part: &str) -> Option<u8> {
    if part.split_whitespace().any(|word| HARMLESS.contains(&word)) {
        return None;
    }
    let mut words = part.split_whitespace().skip_while(|word| is_prefix(word));
    let program = words.next()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    let verb = words.find(|word| !word.starts_with('-')).unwrap_or_default();
    match program {
        program if !program.starts_with(|c: char| c.is_alphanumeric() || c == '.') => None,
        program if READ_ONLY.contains(&program) => None,
        "sed" if part.contains(" -n") => None,
        "git" if READ_ONLY_GIT.contains(&verb) => None,
        _ if SHARED.iter().any(|shared| verb == *shared || words.clone().take(2).any(|word| word == *shared)) => {
            Some(2)
        }
        program if SHARED.iter().any(|shared| program.contains(shared)) => Some(2),
        _ => Some(1),
    }
}

/// `sudo`, or `NAME=value` before a command.
fn is_prefix(word: &str) -> bool {
    let is_name = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    word == "sudo" || word.split_once('=').is_some_and(|(name, _)| is_name(name))
}

/// Whether a command does more than look at something.
pub(super) fn does_something(command: &str) -> bool {
    key_command(std::iter::once(command)).is_some()
}

/// A command without what only frames it: a change of directory, variables, redirections, a text from the shell.
pub(super) fn short_form(command: &str) -> &str {
    let mut rest = command.trim_start();
    while let Some((_, after)) = rest.split_once("&&").filter(|(step, _)| step.starts_with("cd ")) {
        rest = after.trim_start();
    }
    while let Some((_, after)) = rest.split_once(' ').filter(|(word, _)| is_prefix(word)) {
        rest = after.trim_start();
    }
    match rest.find("$(").or(rest.find("<<")) {
        // `git commit -m "$(cat <<EOF` is a commit.
        Some(at) if at > 0 => rest[..at].trim_end_matches(['"', '\'', ' ']).trim_end_matches(" -m"),
        _ => without_redirection(rest),
    }
}

/// The command without pipes and redirections: `make test 2>&1 | tail` is another attempt at `make test`.
pub(super) fn without_redirection(command: &str) -> &str {
    let end = unquoted(command).find(|(_, c)| matches!(c, '|' | '>')).map_or(command.len(), |(at, _)| at);
    let is_redirected = end < command.len();
    let kept = &command[..end];
    if is_redirected {
        kept.trim_end_matches(|c: char| c.is_whitespace() || c.is_ascii_digit() || c == '&')
    } else {
        kept.trim_end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_that_changed_most_is_chosen() {
        // D25
        for (commands, expect) in [
            (&["cargo build", "git commit -m 'fix it'", "ls -la"][..], Some("git commit -m 'fix it'")),
            (&["cd app && npm run deploy 2>&1 | tail -3", "npm test"], Some("npm run deploy")),
            (&["cargo fmt", "RUST_LOG=debug cargo test"], Some("cargo test")),
            (&["git help push", "npm publish --dry-run", "npm test"], Some("npm test")),
            (&["git commit -m \"$(cat <<'EOF' Rename it EOF )\""], Some("git commit")),
            (&["git add -A && git commit -m x && git push"], Some("git push")),
            (&["./deploy.sh staging", "make"], Some("./deploy.sh staging")),
            (&["git status", "cat a.rs", "sed -n 1,9p a.rs", "cd x"], None),
            (&["kubectl apply -f app.yaml", "sleep 5"], Some("kubectl apply -f app.yaml")),
            (&["cargo test", "rg \"migrate && deploy prod\" src"], Some("cargo test")),
            (&["cargo test", "psql -c \"select 1; drop table users\""], Some("psql -c \"select 1; drop table users\"")),
            (&["git commit -m 'Fix a -> b; deploy later'", "ls"], Some("git commit -m 'Fix a -> b; deploy later'")),
            (&["sed -i 's|a|b|' x.txt", "echo it\\'s; ls"], Some("sed -i 's|a|b|' x.txt")),
            (&[], None),
        ] {
            assert_eq!(key_command(commands.iter().copied()), expect, "{commands:?}");
        }
    }

    #[test]
    fn a_command_is_shown_without_its_frame() {
        // D25
        for (command, expect) in [
            ("cd /app && cd b && go vet ./... && go test ./... 2>&1", "go vet ./... && go test ./..."),
            ("CI=1 sudo make all | tail -3", "make all"),
            ("cargo test", "cargo test"),
            ("cd /app", "cd /app"),
        ] {
            assert_eq!(short_form(command), expect);
        }
        assert!(!does_something("rg -n 'x' src") && does_something("cd a && make"));
    }

    #[test]
    fn digits_belong_to_a_redirection_only_before_one() {
        assert_eq!(without_redirection("make test 2>&1 | tail"), "make test");
        assert_eq!(without_redirection("sleep 10"), "sleep 10");
    }
}
