//! Which check printed an error, so that a later run of that check shows whether the error is gone.
//!
//! A command or a hook that runs several checks fails with the error of one of them.

use std::sync::LazyLock;

use super::super::command::ShellCommand;
use super::super::command_kind::command_kind;
use super::super::pattern::CuePattern;
use super::verifies;

/// A kind of check: how its errors look, and the words in the names of commands that run it.
struct InnerCheck {
    error: LazyLock<Option<CuePattern>>,
    names: &'static [&'static str],
}

static CHECKS: [InnerCheck; 3] = [
    InnerCheck {
        error: LazyLock::new(|| CuePattern::new(r"\berror TS[0-9]{4,5}\b")),
        names: &["tsc", "tsgo", "vue-tsc", "typecheck", "type-check", "types", "check"],
    },
    InnerCheck {
        error: LazyLock::new(|| {
            CuePattern::new(
                r"\b[a-z-]+\([a-z/-]+\): |\([a-z]+lint\)$|\(errcheck\)$|^error\s.*\s(@?[a-z-]+/)?[a-z]+(-[a-z]+)+$",
            )
        }),
        names: &["lint", "eslint", "oxlint", "biome", "golangci-lint", "check"],
    },
    InnerCheck {
        error: LazyLock::new(|| CuePattern::new(r"^[EFWBIN][0-9]{3,4} ")),
        names: &["ruff", "flake8", "lint", "check"],
    },
];

/// Whether a later command, which checks everything, runs the check that printed the error.
/// `others` are commands that ran in the same line as the failed one.
pub(super) fn runs_same_check(message: &str, failed: &ShellCommand, others: &[String], later: &ShellCommand) -> bool {
    // A part of the files, another package or another kind of output shows nothing.
    let is_whole = later.arguments.iter().all(|word| matches!(word.as_str(), "." | "./..." | "--noEmit" | "-s"));
    let is_run_by = |check: &InnerCheck, name: &str| {
        check.names.iter().any(|known| name == *known || name.split([' ', ':', '/']).any(|word| word == *known))
    };
    // A hook or a build that prints the errors of a check has run it.
    let may_run_it = |check: &InnerCheck| {
        is_run_by(check, &failed.name)
            || failed.name.starts_with("git ")
            || command_kind(failed) == Some("build")
            || others.iter().any(|other| is_run_by(check, other))
    };
    let mut printed = CHECKS.iter().filter(|check| check.error.as_ref().is_some_and(|error| error.is_match(message)));
    is_whole && printed.any(|check| may_run_it(check) && is_run_by(check, &later.name))
}

/// Whether a later command runs a check that is called the same, by itself or through a script of the project:
/// `ultracite check` and `pnpm check`.
pub(super) fn runs_check_of_same_name(failed: &ShellCommand, later: &ShellCommand) -> bool {
    let last = |command: &ShellCommand| {
        let named = command.arguments.iter().rfind(|word| !word.starts_with('-')).unwrap_or(&command.name);
        named.rsplit(' ').next().unwrap_or_default().to_owned()
    };
    verifies(later) && last(failed) == last(later) && later.arguments.iter().all(|word| failed.arguments.contains(word))
}

#[cfg(test)]
mod tests {
    use super::super::super::command::parse_command_line;
    use super::*;

    fn is_same(message: &str, failed: &str, later: &str) -> bool {
        let command = |text: &str| parse_command_line(text).unwrap().main().clone();
        runs_same_check(message, &command(failed), &[], &command(later))
    }

    #[test]
    fn the_check_that_printed_an_error_verifies_it() {
        for (message, failed, later) in [
            ("error TS2717: Subsequent property declarations", "git push", "npm run typecheck"),
            ("error TS2322: Type 'a'", "npx tsc --noEmit", "npm run check"),
            ("error TS2322: Type 'a'", "npm run build", "npx tsc --noEmit"),
            ("error eslint(no-unused-vars): 'x' is unused", "pnpm check", "pnpm lint"),
            ("error  'x' is never used  no-unused-vars", "npm run lint", "npx eslint ."),
            ("Error return value of `f` is not checked (errcheck)", "mise run lint", "make lint"),
        ] {
            assert!(is_same(message, failed, later), "{message} {failed} {later}");
        }
    }

    #[test]
    fn another_check_or_a_part_verifies_nothing() {
        for (message, failed, later) in [
            ("error TS2322: Type 'a'", "npm run build", "npm run lint"),
            ("error TS2322: Type 'a'", "npm run check", "npx tsc --noEmit src/a.ts"),
            ("AssertionError: 1 == 2", "git push", "npm run typecheck"),
        ] {
            assert!(!is_same(message, failed, later), "{message} {failed} {later}");
        }
    }
}
