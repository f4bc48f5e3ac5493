//! Recognizes changes and commands that only switch a check off. They are never offered as a fix.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// What code contains that skips a test or silences a check.
const MARKERS: &[&str] = &[
    "it.skip",
    "test.skip",
    "describe.skip",
    "suite.skip",
    "it.todo(",
    "test.todo(",
    "it.fails(",
    "test.fails(",
    "xit(",
    "xdescribe(",
    "xtest(",
    "#[ignore",
    "mark.skip",
    "pytest.skip(",
    "mark.xfail",
    "pytest.xfail(",
    "unittest.skip",
    "self.skipTest(",
    "t.Skip(",
    "t.Skipf(",
    "t.SkipNow(",
    "@Disabled",
    "@Ignore",
    "eslint-disable",
    "oxlint-disable",
    "tslint:disable",
    "biome-ignore",
    "stylelint-disable",
    "@ts-ignore",
    "@ts-expect-error",
    "@ts-nocheck",
    "type: ignore",
    "type:ignore",
    "pyright: ignore",
    "ty: ignore",
    "mypy: ignore",
    "# noqa",
    "#noqa",
    "nosec",
    "nolint",
    "pylint: disable",
    "rubocop:disable",
    "shellcheck disable",
    "#[allow(",
    "#![allow(",
    "@SuppressWarnings",
    "istanbul ignore",
    "c8 ignore",
    "v8 ignore",
    "pragma: no cover",
    "|| true",
    "|| exit 0",
    "--no-verify",
    "--passWithNoTests",
    "passWithNoTests: true",
    "--legacy-peer-deps",
    "legacy-peer-deps=true",
    "continue-on-error: true",
    "ignoreBuildErrors: true",
    "ignoreDuringBuilds: true",
    "allow_failure: true",
    "chmod 777",
    "-DskipTests",
    "verify=False",
    "rejectUnauthorized: false",
];

/// Flags that skip a check, whatever the program.
const FLAGS: &[&str] = &[
    "--no-verify",
    "--force",
    "--force-with-lease",
    "--no-check",
    "--no-strict",
    "--no-gpg-sign",
    "--passWithNoTests",
    "--legacy-peer-deps",
    "--allow-empty",
    "--allow-dirty",
    "--deselect",
    "--ignore",
    "--exclude",
    "--insecure",
    "--no-sandbox",
    "--break-system-packages",
];

/// What `--force` only answers a prompt of: removing what can be made again.
const CLEANUPS: [&str; 11] =
    ["prune", "clean", "cache", "purge", "gc", "rm", "rmi", "remove", "uninstall", "delete", "unlink"];

/// Words of settings that a lower number makes easier to pass, and a higher one.
const MINIMUMS: [&str; 5] = ["threshold", "coverage", "fail_under", "fail-under", "min_score"];
const MAXIMUMS: [&str; 2] = ["max-warnings", "max_warnings"];

/// The marker of a skipped test or a silenced check that a text has, and the text before it had not.
pub(crate) fn bypass_marker(before: &str, text: &str) -> Option<&'static str> {
    static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
        #[expect(clippy::expect_used, reason = "the markers are constants")]
        AhoCorasick::new(MARKERS).expect("valid markers")
    });
    let mut found = FINDER.find_iter(text).map(|found| (MARKERS[found.pattern().as_usize()], &text[..found.start()]));
    found
        .find(|(marker, preceding)| !before.contains(marker) && !is_tolerated(marker, preceding))
        .map(|(marker, _)| marker)
}

/// Whether `|| true` only tolerates that there is nothing to remove or to stop.
fn is_tolerated(marker: &str, preceding: &str) -> bool {
    const TOLERANT: [&str; 10] =
        ["rm", "rmdir", "unlink", "kill", "pkill", "killall", "umount", "popd", "wait", "deactivate"];
    let command = preceding.rsplit([';', '&', '|', '\n', '{', '(']).next().unwrap_or_default();
    // The lines of an edit are joined, so that another command may come before it.
    marker.starts_with("||") && command.split_whitespace().rev().take(4).any(|word| TOLERANT.contains(&word))
}

/// Whether the description of a fix only switches a check off: parts joined by `; `, each `PATH: PIECE`, a command, or a
/// sentence.
pub fn is_bypass(detail: &str) -> bool {
    detail.split("; ").any(|part| {
        let (path, change) = part.split_once(": ").filter(|(path, _)| !path.contains(' ')).unwrap_or(("", part));
        let command = part.trim_start_matches("ran ").trim_matches('`');
        is_bypass_edit(path, change) || is_bypass_command(command)
    })
}

/// Whether a described change only switches a check off: `PIECE`, one on each line, for the file at `path`.
pub(super) fn is_bypass_edit(path: &str, change: &str) -> bool {
    change.lines().any(|piece| {
        let (old, new) = sides(piece);
        let is_silenced = bypass_marker(old, new).is_some();
        let is_removed_test = new.is_empty() && is_test_file(path) && is_test_code(old);
        is_silenced || is_removed_test || lowers_threshold(old, new)
    })
}

/// The text before and after of a piece: `OLD → NEW`, `+ NEW` or `- OLD`.
pub(super) fn sides(piece: &str) -> (&str, &str) {
    if let Some(new) = piece.strip_prefix("+ ") {
        return ("", new);
    }
    if let Some(old) = piece.strip_prefix("- ") {
        return (old, "");
    }
    piece.split_once(" → ").unwrap_or(("", piece))
}

/// Whether a command only gets past a check.
pub(in crate::facts) fn is_bypass_command(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_push = words.windows(2).any(|pair| pair == ["git", "push"]);
    let is_cleanup = !is_push && words.iter().any(|word| CLEANUPS.contains(word));
    let skips = |word: &&str| {
        let flag = word.split('=').next().unwrap_or_default();
        (FLAGS.contains(&flag) && !(is_cleanup && flag == "--force"))
            || flag.starts_with("--skip")
            || flag.starts_with("-DskipTests")
            || matches!(*word, "HUSKY=0" | "SKIP_CHECKS=1" | "NODE_TLS_REJECT_UNAUTHORIZED=0")
            || word.starts_with("SKIP=")
            || (is_push && *word == "-f")
    };
    let removes_test = matches!(words.first(), Some(&"rm" | &"unlink")) && words.iter().any(|word| is_test_file(word));
    words.iter().any(skips)
        || removes_test
        || ["|| true", "|| :", "|| exit 0", "chmod 777", "chmod -R 777", "set +e"]
            .iter()
            .any(|part| command.contains(part))
}

/// Whether a path is a file of tests.
pub(super) fn is_test_file(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_code = name.rsplit_once('.').is_some_and(|(_, extension)| extension != "md");
    let in_folder = path.split('/').rev().skip(1).any(|part| matches!(part, "test" | "tests" | "__tests__" | "spec"));
    is_code && (in_folder || ["_test.", ".test.", ".spec.", "test_", "_spec."].iter().any(|part| name.contains(part)))
}

fn is_test_code(text: &str) -> bool {
    text == "file"
        || ["assert", "expect(", "def test_", "func Test", "#[test]", "it(", "test("]
            .iter()
            .any(|part| text.contains(part))
}

fn lowers_threshold(old: &str, new: &str) -> bool {
    let number = |text: &str| -> Option<f64> {
        let start = text.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        text[start..].parse().ok()
    };
    let lower = |text: &str| text.trim_end_matches(['"', '\'', ',', ')', '%']).to_ascii_lowercase();
    let (old, new) = (lower(old), lower(new));
    let (Some(before), Some(after)) = (number(&old), number(&new)) else { return false };
    let has = |words: &[&str]| words.iter().any(|word| new.contains(word));
    (has(&MINIMUMS) && after < before) || (has(&MAXIMUMS) && after > before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switched_off_checks_are_recognized() {
        // D36
        for (path, change) in [
            ("a.test.ts", "it('adds', → it.skip('adds',"),
            ("a.rs", "+ #[ignore]"),
            ("a.py", "x = f() → x = f() # type: ignore"),
            ("a.py", "+ @pytest.mark.xfail"),
            ("a.ts", "+ // eslint-disable-next-line"),
            ("a.rs", "fn a() {}\n+ #[allow(dead_code)]"),
            ("tests/a.py", "- def test_sum(): assert sum([1]) == 1"),
            ("tests/a.py", "- file"),
            ("jest.config.js", "branches threshold: 80 → branches threshold: 60"),
            ("package.json", "--max-warnings 0 → --max-warnings 10"),
            ("run.sh", "+ npm test || true"),
        ] {
            assert!(is_bypass_edit(path, change), "{change}");
        }
        for (path, change) in [
            ("a.test.ts", "it.skip('adds', → it('adds',"),
            ("src/a.py", "- assert x"),
            ("a.ts", "max: 5 → max: 20"),
            ("jest.config.js", "threshold: 60 → threshold: 80"),
            ("run.sh", "+ if [[ $KEEP == no ]]; then info \"Removing $TEMP\" rm -rf \"$TEMP\" || true fi"),
        ] {
            assert!(!is_bypass_edit(path, change), "{change}");
        }
    }

    #[test]
    fn commands_that_get_past_a_check_are_recognized() {
        for command in [
            "git commit -m x --no-verify",
            "git push -f",
            "git push --force origin main",
            "npm install --legacy-peer-deps",
            "npm install --force",
            "npm test || true",
            "mvn package -DskipTests",
            "npx jest --passWithNoTests",
            "chmod 777 data",
            "SKIP=lint git commit -m x",
            "terraform plan --skip-checks",
            "rm tests/a_test.go",
        ] {
            assert!(is_bypass_command(command), "{command}");
        }
        for command in
            ["rm -f build.lock", "docker rm -f db", "git commit -m x", "chmod +x run.sh", "rm -rf node_modules"]
                .into_iter()
                .chain(["docker builder prune -f", "docker system prune --force", "npm cache clean --force"])
                .chain(["apt-get install -y jq", "git worktree remove --force ../b"])
        {
            assert!(!is_bypass_command(command), "{command}");
        }
    }

    #[test]
    fn descriptions_of_a_bypass_are_recognized() {
        for detail in [
            "a.ts: + // eslint-disable-next-line",
            "src/a.ts: x → y; ran `git commit --no-verify -m x`",
            "tests/a.py: - def test_sum(): assert sum([1]) == 1",
            "Committed with --no-verify",
            "Marked the test with @pytest.mark.skip",
        ] {
            assert!(is_bypass(detail), "{detail}");
        }
        for detail in ["src/db.ts: max: 5 → max: 20", "ran `npm install yaml`", "Use port 5433: the other is taken"] {
            assert!(!is_bypass(detail), "{detail}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_change_is_accepted(text in "(?s)[a-z0-9 .…→\n+-]{0,60}") {
            is_bypass_edit("tests/a.py", &text);
            is_bypass_edit("a", &format!("threshold {text} → threshold {text}"));
            is_bypass_command(&text);
            is_bypass(&text);
        }
    }
}
