//! Compile errors: any later command that compiles the same code shows that they are gone.

use std::sync::LazyLock;

use super::super::command::ShellCommand;
use super::super::errors::compile;
use super::super::pattern::CuePattern;
use super::partial_run::is_about;

/// A toolchain whose commands compile before they do anything else.
struct Toolchain {
    program: &'static str,
    /// How its compile errors look.
    error: LazyLock<CuePattern>,
    /// Subcommands that compile the code itself, and those that compile its tests too.
    builds: &'static [&'static str],
    tests: &'static [&'static str],
    /// Flags that select a part of the code, with a value.
    selectors: &'static [&'static str],
    /// Whether arguments without a flag select packages; else they select tests, which does not matter here.
    has_package_arguments: bool,
}

static TOOLCHAINS: [Toolchain; 2] = [
    Toolchain {
        program: "cargo",
        error: LazyLock::new(|| compile(r"^error\[E\d{4}\]")),
        builds: &["check", "build", "run"],
        tests: &["test", "nextest", "clippy"],
        selectors: &["-p", "--package", "--lib", "--bin", "--test", "--example", "--manifest-path", "--exclude"],
        has_package_arguments: false,
    },
    Toolchain {
        program: "go",
        error: LazyLock::new(|| {
            compile(
                r"\bundefined: |imported and not used|declared and not used|cannot use .* as |missing return|arguments in call to |redeclared in this block|has no field or method|does not implement|unknown field|\.go:\d+:\d+: syntax error",
            )
        }),
        builds: &["build", "run", "install"],
        tests: &["test", "vet"],
        selectors: &["-tags", "-C", "-modfile"],
        has_package_arguments: true,
    },
];

/// Whether an error line is one of a compiler.
pub(super) fn is_compile_error(message: &str) -> bool {
    static TYPESCRIPT: LazyLock<CuePattern> = LazyLock::new(|| compile(r"\berror TS\d{4,5}\b"));
    TYPESCRIPT.is_match(message) || TOOLCHAINS.iter().any(|toolchain| toolchain.error.is_match(message))
}

/// Whether a later command compiles at least what the failed one could not compile, or what was changed.
pub(super) fn compiles_same(
    message: &str,
    failed: &ShellCommand,
    later: &ShellCommand,
    changed_files: &[String],
) -> bool {
    TOOLCHAINS.iter().any(|toolchain| {
        let stage = |command: &ShellCommand| -> Option<u8> {
            let subcommand = command.name.strip_prefix(toolchain.program)?.trim_start();
            let is_in = |names: &[&str]| names.contains(&subcommand);
            if is_in(toolchain.builds) { Some(0) } else { is_in(toolchain.tests).then_some(1) }
        };
        let covers = |word: &String| {
            let flag = word.split('=').next().unwrap_or_default();
            let is_selector = toolchain.selectors.contains(&flag)
                || (toolchain.has_package_arguments && !flag.starts_with('-') && flag.contains(['/', '.']));
            let is_value = follows_selector(later, word, toolchain.selectors);
            !(is_selector || is_value)
                || failed.arguments.contains(word)
                || word == "./..."
                || (toolchain.has_package_arguments && changed_files.iter().any(|file| is_about(word, file)))
        };
        toolchain.error.is_match(message)
            && stage(failed).is_some_and(|before| stage(later).is_some_and(|after| after >= before))
            && later.arguments.iter().all(covers)
    })
}

/// Whether a word is the value of a flag that selects a part of the code.
fn follows_selector(command: &ShellCommand, word: &String, selectors: &[&str]) -> bool {
    command.arguments.windows(2).any(|pair| pair[1] == *word && selectors.contains(&pair[0].as_str()))
}

#[cfg(test)]
mod tests {
    use super::super::super::command::parse_command_line;
    use super::*;

    fn compiles(message: &str, failed: &str, later: &str) -> bool {
        let command = |text: &str| parse_command_line(text).unwrap().main().clone();
        compiles_same(message, &command(failed), &command(later), &["lease/lease.go".to_owned()])
    }

    #[test]
    fn what_compiles_the_same_code_settles_a_compile_error() {
        let (rust, go) = ("error[E0308]: mismatched types", "undefined: clockNow");
        for (message, failed, later) in [
            (rust, "cargo build", "cargo test expires"),
            (rust, "cargo check -p a", "cargo clippy -p a"),
            (rust, "cargo test", "cargo test -- --nocapture expires"),
            (go, "go build ./...", "go test ./..."),
            (go, "go build ./...", "go test ./lease -run TestEnd"),
            (go, "go test ./lease", "go vet ./lease"),
        ] {
            assert!(compiles(message, failed, later), "{failed} {later}");
        }
        for (message, failed, later) in [
            (rust, "cargo test", "cargo build"),
            (rust, "cargo build", "cargo test -p other"),
            (rust, "cargo build", "cargo fmt"),
            ("error: test failed", "cargo build", "cargo test"),
            (go, "go test ./...", "go build ./..."),
            (go, "go build ./...", "go test ./other"),
        ] {
            assert!(!compiles(message, failed, later), "{failed} {later}");
        }
    }
}
