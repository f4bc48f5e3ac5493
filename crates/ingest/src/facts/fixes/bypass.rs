//! Recognizes changes and commands that only switch a check off. They are never offered as a fix.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::bypass_marks::{FLAGS, MARKERS, SKIPPING_VARIABLES, STRICT_SETTINGS, WEAK_SETTINGS};

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
        .find(|(marker, preceding)| {
            !before.contains(marker) && !is_tolerated(marker, preceding) && !is_inside_word(marker, preceding)
        })
        .map(|(marker, _)| marker)
}

/// Whether a marker is only the end of another word: `xit(` in `exit(`.
fn is_inside_word(marker: &str, preceding: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    marker.starts_with(is_word) && preceding.ends_with(is_word)
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
        let is_removed_test = gives_up(new) && is_test_file(path) && is_test_code(old);
        is_silenced || is_removed_test || lowers_threshold(old, new) || weakens_setting(old, new)
    })
}

/// Whether nothing, a comment or an empty statement replaces something.
fn gives_up(new: &str) -> bool {
    let new = new.trim();
    new.is_empty()
        || matches!(new, "pass" | "return" | "return;")
        || ["#", "//", "/*"].iter().any(|mark| new.starts_with(mark))
}

/// Whether a setting of a check is switched off: a rule, or a flag that makes it stricter.
fn weakens_setting(old: &str, new: &str) -> bool {
    let bare = |text: &str| -> String {
        text.chars().filter(|c| !matches!(c, '"' | '\'' | ' ' | '`')).collect::<String>().to_ascii_lowercase()
    };
    let ends = |text: &str, value: &str| {
        [":", "="]
            .iter()
            .any(|sign| text.split([',', '}', ';', ')']).any(|part| part.ends_with(&format!("{sign}{value}"))))
    };
    let (old, new) = (bare(old), bare(new));
    let has = |words: &[&str]| words.iter().any(|word| new.contains(word));
    // A rule of a linter is quoted, and is an error or a warning before.
    let is_rule_off =
        ends(&new, "off") && !ends(&old, "off") && (new.contains('/') || ends(&old, "error") || ends(&old, "warn"));
    is_rule_off
        || (has(&STRICT_SETTINGS) && ends(&new, "false") && !ends(&old, "false"))
        || (has(&WEAK_SETTINGS) && ends(&new, "true") && !ends(&old, "true"))
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

/// Words in the name of a variable that is about a check.
const CHECK_WORDS: [&str; 5] = ["TEST", "CHECK", "LINT", "VALID", "TYPE"];

/// Whether a command only gets past a check.
pub(in crate::facts) fn is_bypass_command(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let is_push = words.windows(2).any(|pair| pair == ["git", "push"]);
    let is_commit = words.windows(2).any(|pair| pair == ["git", "commit"]);
    let is_request = words.first() == Some(&"curl");
    let is_cleanup = !is_push && words.iter().any(|word| CLEANUPS.contains(word));
    let skips = |word: &&str| {
        let flag = word.split('=').next().unwrap_or_default();
        (FLAGS.contains(&flag) && !(is_cleanup && flag == "--force"))
            || flag.starts_with("--skip")
            || (word.contains('=') && FLAGS.contains(word))
            || flag.starts_with("-DskipTests")
            || (flag.starts_with("-D") && flag.rsplit('.').next() == Some("skip"))
            || SKIPPING_VARIABLES.iter().any(|variable| word.starts_with(variable))
            || word.starts_with("SKIP=")
            || (word.starts_with("SKIP_") && CHECK_WORDS.iter().any(|check| word.contains(check)))
            || (is_push && *word == "-f")
            || (is_commit && *word == "-n")
            || (is_request && matches!(*word, "-k" | "-sk" | "-ks" | "-kL" | "-Lk" | "-skL"))
    };
    let skips_pair = |pair: &[&str]| {
        matches!(pair, ["-x", task] if task.contains("test") || task.contains("check") || task.contains("lint"))
            || matches!(pair, ["-A", lint] if lint.contains("warnings") || lint.contains("clippy"))
            || matches!(pair, ["strict-ssl" | "http.sslVerify" | "frozen", "false"])
            || matches!(pair, ["rebase", "--skip"] | ["-W", "ignore"])
    };
    let removes_test = matches!(words.first(), Some(&"rm" | &"unlink")) && words.iter().any(|word| is_test_file(word));
    words.iter().any(skips)
        || words.windows(2).any(skips_pair)
        || removes_test
        || [
            "|| true",
            "|| :",
            "|| exit 0",
            "; exit 0",
            "; true",
            "sslVerify=false",
            "chmod 777",
            "chmod -R 777",
            "set +e",
        ]
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
            ("tsconfig.json", "\"strict\": true → \"strict\": false"),
            ("tsconfig.json", "+ \"skipLibCheck\": true,"),
            ("pyproject.toml", "+ ignore_missing_imports = true"),
            (".eslintrc.json", "\"no-unused-vars\": \"error\" → \"no-unused-vars\": \"off\""),
            ("tests/a.py", "assert total == 3 → # assert total == 3"),
            ("tests/a.py", "self.assertEqual(total, 3) → pass"),
            ("src/a.test.ts", "expect(total).toBe(3) → expect(true).toBe(true)"),
            ("src/a.ts", "load(id) → load(id as any)"),
            ("a.test.ts", "it('adds', → it.only('adds',"),
            ("a.py", "+ except Exception: pass"),
            ("a.go", "+ TLSClientConfig: &tls.Config{InsecureSkipVerify: true}"),
            ("build.sh", "set -e → set +e"),
        ] {
            assert!(is_bypass_edit(path, change), "{change}");
        }
        for (path, change) in [
            ("a.test.ts", "it.skip('adds', → it('adds',"),
            ("src/a.py", "- assert x"),
            ("a.ts", "max: 5 → max: 20"),
            ("jest.config.js", "threshold: 60 → threshold: 80"),
            ("tsconfig.json", "\"strict\": false → \"strict\": true"),
            ("src/a.ts", "cache: true → cache: false"),
            ("src/a.py", "raise ValueError(x) → return"),
            ("src/a.py", "+ sys.exit(1)"),
            ("tests/a.py", "assert total == 3 → assert total == 4"),
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
            "git commit -n -m x",
            "git -c http.sslVerify=false clone https://a/b",
            "npm config set strict-ssl false",
            "curl -k https://localhost",
            "wget --no-check-certificate https://a/b",
            "pip install --trusted-host pypi.org yaml",
            "pnpm install --no-frozen-lockfile",
            "yarn install --ignore-engines",
            "composer install --ignore-platform-reqs",
            "gradle build -x test",
            "mvn package -Dmaven.test.skip=true",
            "go test -vet=off ./...",
            "kubectl apply --validate=false -f a.yaml",
            "cargo clippy -- -A warnings",
            "flake8 --exit-zero src",
            "CI=false npm run build",
            "SKIP_ENV_VALIDATION=1 npm run build",
            "next build --no-lint",
            "mypy --ignore-missing-imports src",
            "make test; true",
            "terraform apply -lock=false",
        ] {
            assert!(is_bypass_command(command), "{command}");
        }
        for command in
            ["rm -f build.lock", "docker rm -f db", "git commit -m x", "chmod +x run.sh", "rm -rf node_modules"]
                .into_iter()
                .chain(["docker builder prune -f", "docker system prune --force", "npm cache clean --force"])
                .chain(["apt-get install -y jq", "git worktree remove --force ../b"])
                .chain([
                    "grep -n x a",
                    "git add -A",
                    "curl -s https://a/b",
                    "git commit -m 'no -n'",
                    "CI=true npm test",
                ])
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
