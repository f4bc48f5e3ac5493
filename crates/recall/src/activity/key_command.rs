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

/// The command that changed most, the latest of equals. `None` if all of them only looked at something.
pub(super) fn key_command<'a>(commands: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let parts = commands.flat_map(|command| command.split([';', '|', '\n'])).flat_map(|part| part.split("&&"));
    let ranked = parts.map(str::trim).filter_map(|part| Some((rank(part)?, without_redirection(part))));
    ranked.max_by_key(|(rank, _)| *rank).map(|(_, part)| part)
}

/// 2 for a change that others notice, 1 for any other work, `None` for a look.
fn rank(part: &str) -> Option<u8> {
    let mut words = part.split_whitespace().skip_while(|word| is_assignment(word) || *word == "sudo");
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

/// `NAME=value` before a command.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

/// The command without pipes and redirections: `make test 2>&1 | tail` is another attempt at `make test`.
pub(super) fn without_redirection(command: &str) -> &str {
    let end = command.find(['|', '>']).unwrap_or(command.len());
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
            (&["cargo fmt", "RUST_LOG=debug cargo test"], Some("RUST_LOG=debug cargo test")),
            (&["git add -A && git commit -m x && git push"], Some("git push")),
            (&["./deploy.sh staging", "make"], Some("./deploy.sh staging")),
            (&["git status", "cat a.rs", "sed -n 1,9p a.rs", "cd x"], None),
            (&["kubectl apply -f app.yaml", "sleep 5"], Some("kubectl apply -f app.yaml")),
            (&[], None),
        ] {
            assert_eq!(key_command(commands.iter().copied()), expect, "{commands:?}");
        }
    }

    #[test]
    fn digits_belong_to_a_redirection_only_before_one() {
        assert_eq!(without_redirection("make test 2>&1 | tail"), "make test");
        assert_eq!(without_redirection("sleep 10"), "sleep 10");
    }
}
