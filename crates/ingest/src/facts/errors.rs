//! Finds the line of an output that identifies an error, and recognizes messages of the agent itself.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;

use super::error_codes::{append_code, code_below};
use super::pattern::CuePattern;

/// Lines longer than this, in bytes, are data and not messages.
const MAX_LINE_BYTES: usize = 2000;

/// How clearly a line reports a failure; smaller is clearer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum ErrorClarity {
    /// Names an error: `error[E0308]: …`, `ValueError: …`, `fatal: …`.
    NamesError,
    /// Names what failed: `FAILED tests/a.py::b`, `--- FAIL: TestX`.
    NamesFailedPart,
    /// Only the kind of an error, which says less than the name of the test: `AssertionError`.
    NamesKind,
    /// Contains a word for failure.
    Mentions,
    /// Only counts or repeats a failure that is named elsewhere.
    RepeatsFailure,
}

static REPEATS_FAILURE: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r"(?ix)^(error:\ )?(could\ not\ compile|test\ failed,\ to\ rerun|aborting\ due\ to|recipe\ |build\ failed|process\ didn't\ exit|\d+\ (targets?|errors?)\ )
        |^(make|gmake)(\[\d+\])?:\ \*\*\* | ELIFECYCLE | ^error:?\ command\ failed | ^found\ \d+\ error | ^error:\ script\ | exited?\ with\ (exit\ )?code
        | ^npm\ (err!|error)\ (code|syscall|path|errno|command|cwd|workspace|location|lifecycle|a\ complete\ log|\s*$) | ^error:?\ process\ completed
        | ^[\s=]*\d+\ (failed|errors?|problems?|failures?)\b | ^failed\ \(|^error\ occurred\ while\ running | ^error:?\s*$ | ^traceback\ \( | ^exit\ (code|status)\ \d
        | ^FAIL\s*$ | ^\#\ \S+$ | ^error\ Command\ failed | ^test\ result:\ FAILED | ^failed\ to\ compile | failed\ to\ push\ some\ refs | \b[1-9]\d*\ (failed|failures?)\b | \bexit(ed)?(=|:|\ code:?|\ status:?)\s*[1-9] | ^fail(ed)?:?$ | ^tests?\ failed\.?$ | \bERROR\ task\ failed$ | \bwhen\ using\ sourcemap\b
        | ^failure:\ build\ failed | ^error:\ (subprocess-exited-with-error|metadata-generation-failed|legacy-install-failure|failed-wheel-build-for-install)",
    )
});

static NAMES_ERROR: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r"(?x)^(error|Error|ERROR|fatal|FATAL|panic|Fatal\ error|fatal\ error|E)(\[\w+\])?(:\ |\s{2,})\S
        | ^[\w.:/\\@-]*[A-Za-z](Error|Exception|NotEstablished|NotFound|Failure)(\ \[\w+\])?:\ \S
        | ^E\ {2,}\S
        | (^|[\ :)])(error|Error)(\ TS\d+|\[[\w-]+\])?:\ \S
        | ^\S+[.]\w{1,5}(:\d+){1,2}:\ (?i:error|undefined|cannot|syntax|expected|undeclared|unexpected|missing|invalid|too\ many|not\ enough|no\ required|could\ not|undefined|imported\ and|declared\ and|assignment|unknown|got\ |want|redeclared|E\d{3}\ |F\d{3}\ ) 
        | ^(\[[\w:./-]+\]\s+)?\S+[.]\w{1,5}:\d+:\d+:\s+\S
        | ^e:\ \S | python[\d.]*:\ No\ module\ named\ | ^\[?ERR_[A-Z_]+\]?\s+\S | ^\[(ERROR|FATAL|error|fatal)\]:?\s+\S
        | ^\s*\d+:\d+\s+error\s+\S
        | ^npm\ (error|ERR!)\ \S | ^Failure/Error: | ^ld:\ |undefined\ reference\ to | ^\s*!\s*\[rejected\] | ^assertion\b | ^AssertionError | ^\(eval\):\d+: 
        | :\ (command\ not\ found|No\ such\ file\ or\ directory|Permission\ denied|not\ found)\b | ^curl:\ \(\d+\) | ^psql:\ | ^Permission\ denied
        | ^(bash|zsh|sh|/bin/\w+):\ ",
    )
});

static NAMES_KIND: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"^[\w.:]+(Error|Exception)$"));

static NAMES_FAILED_PART: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r"^(FAILED|FAIL|ERROR|ERRO)\s+\S|^--- FAIL: |^\s*[✗×✕✖●]\s+\S|\.\.\. FAILED|^> Task \S+ FAILED|^not ok \d|^CONFLICT |^ERROR: |(?:[Ff]ormat|[Ss]tyle) issues found|^would reformat \S|^=+ \d+ deselected\b|^=+ no tests ran\b",
    )
});

static MENTIONS: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r"(?ix)\b(fail(ed|ure|s)?|error|cannot|can't|couldn't|could\ not|unable\ to|not\ found|denied|refused|missing|invalid|undefined|
        unexpected|no\ such|already\ (exists|in\ use|used)|mismatch(ed)?|rejected|conflict|unrecognized|unknown|unsupported|does\ not|doesn't|
        not\ (a|an|set|installed|recognized|supported|allowed|found|exist|contain)|required|must\ be|no\ space|is\ not|nothing\ to|no\ matches|no\ module|has\ no|requires)\b",
    )
});

static COLOR_CODES: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,2}(;\d{1,2})*m"));

/// The line of an output that clearly reports a failure, if there is one.
pub fn failure_line(output: &str) -> Option<String> {
    let (clarity, line) = clearest_line(output)?;
    (clarity != ErrorClarity::Mentions).then_some(line)
}

/// The line that identifies the error in the output of a failed command; `None` if there is no text at all.
pub fn identifying_line(output: &str) -> Option<String> {
    let first = || output.lines().map(str::trim).find(|line| !line.is_empty());
    let first = || first().map(|line| strip_colors(truncate_line(line)).into_owned());
    clearest_line(output).map(|(_, line)| line).or_else(first)
}

/// Words that a line must contain to be examined closely, because that is expensive.
static ERROR_CUES: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let cues = [
        "rror",
        "ERR",
        "fail",
        "FAIL",
        "Fail",
        "atal",
        "panic",
        "xception",
        "not found",
        "denied",
        "No such",
        "no such",
        "ndefined",
        "✗",
        "×",
        "✕",
        "✖",
        "●",
        "rejected",
        "CONFLICT",
        "not ok",
        "assert",
        "annot",
        "can't",
        "ould not",
        "nable to",
        "efused",
        "issing",
        "nvalid",
        "nexpected",
        "already",
        "ismatch",
        "onflict",
        "nrecognized",
        "nknown",
        "nsupported",
        "not ",
        "equire",
        "must be",
        "no ",
        "No ",
        "E  ",
        "eval",
        "NotEst",
        "ld: ",
        "expected",
        "command",
        "LIFECYCLE",
        "n't",
        "hing to",
        "issues found",
        "would reformat",
        "deselected",
        "exit",
    ];
    #[expect(clippy::expect_used, reason = "the words are constants")]
    AhoCorasick::new(cues).expect("valid cue words")
});

/// `a.go:31:2: …`: a file position can be the only sign of a message.
fn has_position(line: &str) -> bool {
    line.as_bytes().windows(2).any(|pair| pair[0] == b':' && pair[1].is_ascii_digit())
}

fn clearest_line(output: &str) -> Option<(ErrorClarity, String)> {
    let mut best: Option<(ErrorClarity, String)> = None;
    let mut lines = output.lines().peekable();
    let mut is_startup_noise = false;
    while let Some(line) = lines.next() {
        // Python cannot load a file of a package when it starts, prints a traceback, and goes on.
        is_startup_noise |= line.starts_with("Error processing line ") && line.ends_with(".pth:");
        if is_startup_noise || is_ignored_below(lines.clone()) {
            is_startup_noise &= !line.starts_with("Remainder of file ignored");
            continue;
        }
        if line.len() > MAX_LINE_BYTES || !(ERROR_CUES.is_match(line) || has_position(line)) {
            continue;
        }
        let line = strip_colors(line.trim());
        let Some((clarity, message)) = assess_line(&line, lines.peek().copied()) else { continue };
        if best.as_ref().is_none_or(|(known, _)| clarity < *known) {
            best = Some((clarity, message));
        }
        if clarity == ErrorClarity::NamesError {
            // The properties of an error are printed below it.
            if let (Some((_, message)), Some(code)) = (&mut best, code_below(lines.clone())) {
                append_code(message, &code);
            }
            break;
        }
    }
    best
}

/// Whether the next line with text says that the error was ignored.
fn is_ignored_below<'a>(mut lines: impl Iterator<Item = &'a str>) -> bool {
    let next = lines.find(|line| !line.trim().is_empty());
    next.is_some_and(|next| next.starts_with("Remainder of file ignored"))
}

/// How agents begin their own line about the exit code, some in brackets.
const EXIT_LINES: [&str; 4] =
    ["Command exited with code ", "Process exited with code ", "Command failed with exit code", "Exit code "];

fn assess_line(line: &str, next: Option<&str>) -> Option<(ErrorClarity, String)> {
    let bare = strip_decoration(line);
    // The agent's own line about the exit code does not identify the error.
    let unbracketed = bare.trim_start_matches(['(', '[']);
    if bare.is_empty() || EXIT_LINES.iter().any(|start| unbracketed.starts_with(start)) {
        return None;
    }
    let keep = |clarity| Some((clarity, bare.to_owned()));
    // Since Rust 1.73 the panic message is on the next line.
    if line.contains("' panicked at ") || line.contains(") panicked at ") {
        let message = next.map(str::trim).filter(|next| !next.is_empty() && line.ends_with(':'));
        return Some((ErrorClarity::NamesError, message.unwrap_or(bare).to_owned()));
    }
    if is_harmless(line) || is_quoted_code(line, next) {
        return None;
    }
    if REPEATS_FAILURE.is_match(line) || REPEATS_FAILURE.is_match(bare) {
        return keep(ErrorClarity::RepeatsFailure);
    }
    if NAMES_KIND.is_match(bare) {
        return keep(ErrorClarity::NamesKind);
    }
    if NAMES_ERROR.is_match(line) || NAMES_ERROR.is_match(bare) {
        return keep(ErrorClarity::NamesError);
    }
    if NAMES_FAILED_PART.is_match(line) {
        return keep(ErrorClarity::NamesFailedPart);
    }
    // A single word is a value.
    (bare.contains(' ') && MENTIONS.is_match(line)).then(|| (ErrorClarity::Mentions, bare.to_owned()))
}

/// Whether a line with a word for failure reports success, or is only a warning.
fn is_harmless(line: &str) -> bool {
    static CALM: LazyLock<Regex> = LazyLock::new(|| {
        compile_regex(
            r"(?ix)^(warning|warn|note|info|debug|hint|help|deprecated)\b | \w*warning:\ |\bnote:\ | \.\.\.\ ok$ | \b0\ (errors?|failed|failures?)\b | \bno\ (errors|problems|issues)\b | ^\s*(ok|pass|✓|✔)\s
            | ^\(node:\d+\)\ \w*Warning | dependency\ resolver\ does\ not\ currently | ^\$\ | ^>\ \S+@ | \bWARN\b",
        )
    });
    static COUNTED: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"\b[1-9]\d* (failed|failures?|errors?)\b"));
    CALM.is_match(line) && !COUNTED.is_match(line)
}

/// Whether a line only quotes code or the details of a comparison, which may contain words for failure.
fn is_quoted_code(line: &str, next: Option<&str>) -> bool {
    // pytest prints the difference below the assertion.
    static DETAIL: LazyLock<Regex> = LazyLock::new(|| {
        compile_regex(
            r"^E\s+(?:[-+?]\s|(?:and|nomatch|exact match|fnmatch|re\.match|with): |\+?\s*where\b|At index |Full diff|Use -v|Omitting |Differing items|\.\.\.)",
        )
    });
    // A marker below a line points at a place in it.
    let is_marked = next.map(str::trim).is_some_and(|next| {
        !next.is_empty() && next.contains('^') && next.chars().all(|c| matches!(c, '^' | '~' | ' ' | '│' | '|'))
    });
    is_marked || DETAIL.is_match(line)
}

pub(super) fn strip_colors(line: &str) -> Cow<'_, str> {
    if line.contains('[') { COLOR_CODES.replace_all(line, "") } else { Cow::Borrowed(line) }
}

/// The message without what precedes it: bullets, `E   `, `npm error`, times, the file position.
pub(super) fn strip_decoration(line: &str) -> &str {
    static BEFORE: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?x)^( [│|✗×✕✖●•>*\s-]+ | \[[\w-]+:[\w:.-]+\]\s+ | E\s{2,} | npm\ (error|ERR!)\s | \#\d+\s+[\d.]+\s+ | \[?\d{4}-\d\d-\d\d[T\ ][\d:.,]+(Z|[+-]\d\d:?\d\d)?\]?\s+
            | ([A-Za-z]:)?[\w@./\\-]+[.]\w{1,5}(:\d+){1,2}:\s+ | [\w@./\\-]+[.]\w{1,5}\(\d+(,\d+)?\):\s+ | [\w@./\\-]+[.]\w{1,5}:\d+(:\d+)?\s+-\s+ | \d+:\d+\s{2,} )",
        )
    });
    let mut rest = line.trim();
    while let Some(found) = BEFORE.find(rest).filter(|found| found.end() > 0 && found.end() < rest.len()) {
        rest = rest[found.end()..].trim_start();
    }
    rest
}

/// The beginning of a line: anything longer is data.
pub(super) fn truncate_line(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_LINE_BYTES)]
}

/// Whether the outcome says nothing about the command: the agent or the user stopped it, or it never ran.
pub(crate) fn is_agent_message(error: &str, exit_code: Option<i32>) -> bool {
    static OF_THE_AGENT: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?i)^(command timed out|timed out after|\[?request interrupted|command (was )?aborted|aborted|cancelled|tool execution|user rejected|operation (aborted|cancelled)|permission to use|claude requested|background command)|hook error|\bblocked:|^this command requires approval|^sibling tool call errored|requires approval|was blocked\. for security",
        )
    });
    matches!(exit_code, Some(124 | 130 | 137 | 143)) || OF_THE_AGENT.is_match(error.trim())
}

/// Whether a command was stopped because it took too long, by the agent or by `timeout`.
pub(super) fn is_timeout(error: &str, exit_code: Option<i32>) -> bool {
    static TOO_LONG: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?i)^[^A-Za-z]*(error: )?((the )?(command|process|execution|bash|shell|tool) )?timed out( after| \(|\.|$)|^command did not (finish|complete) (within|in) ",
        )
    });
    exit_code == Some(124) || TOO_LONG.is_match(error.trim())
}

/// Whether the shell could not change to the directory of a command, so that the command never ran.
pub(super) fn is_missing_folder(error: &str) -> bool {
    static OF_CD: LazyLock<CuePattern> = LazyLock::new(|| compile(r"(^|[:\s])(cd|pushd):(\d+:| line \d+:)? "));
    OF_CD.is_match(error.trim())
}

/// Whether the error is about how the command was called, so that a different call fixes it.
pub(super) fn is_usage_error(signature: &str) -> bool {
    static OF_THE_CALL: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?ix)command\ not\ found|no\ such\ (file|command|option|subcommand|service|target)|not\ found|unknown\ (option|command|subcommand|flag|argument|target)|unrecognized|
            missing\ script|invalid\ (option|choice|argument|flag)|not\ recognized|unexpected\ argument|no\ rule\ to\ make|could\ not\ (read|find)|cannot\ find|can't\ (open|find)|does\ not\ (contain|exist)|
            no\ upstream|permission\ denied|authentication\ required|requires?\ |required|must\ (be|specify|provide)|not\ set|is\ not\ set|enoent|eresolve|usage:|no\ module\ named|
            no\ matches|not\ a\ (git|directory)|outside\ repository|externally.managed|ambiguous|did\ you\ mean|already\ (exists|used|in\ use)|needs?\ |use\ --|denied|no\ tests\ (ran|found)|\d\ deselected|N\ deselected|not\ a\ valid\ (\w+\ )?(requirement|path|option|argument|command|url|repository|target|package)\b|no\ test\ files|unable\ to\ resolve|unsupported|EACCES",
        )
    });
    OF_THE_CALL.is_match(signature)
}

/// A pattern with ASCII classes, which are enough here.
pub(super) fn compile(pattern: &str) -> CuePattern {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and every test of this file builds them")]
    CuePattern::new(&with_ascii_classes(pattern)).expect("valid pattern")
}

/// A regular expression with ASCII classes, for what is matched with many lines or replaced. Unicode classes would cost a
/// hook milliseconds.
pub(super) fn compile_regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and every test of this file builds them")]
    Regex::new(&with_ascii_classes(pattern)).expect("valid pattern")
}

fn with_ascii_classes(pattern: &str) -> String {
    pattern.replace(r"\d", "[0-9]").replace(r"\w", "[A-Za-z0-9_]").replace(r"\b", r"(?-u:\b)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifying_line_is_found_among_noise() {
        for (output, expected) in [
            (
                "   Compiling x v0.1.0\nerror[E0433]: failed to resolve\n --> a.rs:1:1",
                "error[E0433]: failed to resolve",
            ),
            (
                "===== test session starts =====\nE   AssertionError: assert 1 == 2\nFAILED a.py::b",
                "AssertionError: assert 1 == 2",
            ),
            (
                "Traceback (most recent call last):\n  File \"a.py\", line 3\nModuleNotFoundError: No module named 'yaml'",
                "ModuleNotFoundError: No module named 'yaml'",
            ),
            (
                "> web@1 test\n\n FAIL  src/a.test.ts > x\nError: Snapshot `x` mismatched",
                "Error: Snapshot `x` mismatched",
            ),
            (
                "thread 'a' panicked at src/lib.rs:8:4:\nDATABASE_URL must be set\nnote: run with",
                "DATABASE_URL must be set",
            ),
            (
                "src/api.ts(41,7): error TS2322: Type 'a' is not assignable to type 'b'.",
                "error TS2322: Type 'a' is not assignable to type 'b'.",
            ),
            (
                "npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree",
                "ERESOLVE unable to resolve dependency tree",
            ),
            (
                "src/a.c:80:5: error: unknown type name 't'\nmake: *** [Makefile:9: a.o] Error 1",
                "error: unknown type name 't'",
            ),
            ("make: *** [all] Error 2", "make: *** [all] Error 2"),
            ("# x/y\na/b.go:40:16: undefined: unix.X", "undefined: unix.X"),
            ("just some text", "just some text"),
            ("[INFO] Building\n[ERROR] Source not found: ./agents", "[ERROR] Source not found: ./agents"),
            (
                "  File \"a.py\", line 3\n    print(f\"Save error: {e}\")\n                        ^\nSyntaxError: invalid syntax",
                "SyntaxError: invalid syntax",
            ),
            (
                "E     and: 'out'\nE     - old\nE   Failed: remains unmatched: 'x'\nFAILED a.py::b",
                "Failed: remains unmatched: 'x'",
            ),
            (
                "  error: subprocess-exited-with-error\n  × did not run successfully.\n      ModuleNotFoundError: No module named 'numpy'",
                "ModuleNotFoundError: No module named 'numpy'",
            ),
            ("===== test session starts =====\n===== 4 deselected in 0.10s =====", "===== 4 deselected in 0.10s ====="),
            (
                "error: relation \"a\" does not exist\n    at parse (a.js:1:2) {\n  length: 106,\n  code: '42P01',",
                "error: relation \"a\" does not exist (code: '42P01')",
            ),
            (
                "Error: connect ECONNREFUSED 127.0.0.1:5432\n  code: 'ECONNREFUSED',",
                "Error: connect ECONNREFUSED 127.0.0.1:5432",
            ),
        ] {
            assert_eq!(identifying_line(output).as_deref(), Some(expected), "{output}");
        }
        assert_eq!(identifying_line(" \n"), None);
    }

    #[test]
    fn successful_output_has_no_failure_line() {
        for output in [
            "running 3 tests\ntest errors::display_error_failed ... ok\ntest result: ok. 3 passed; 0 failed",
            "warning: unused variable: `err`\n    Finished",
            "0 errors, 0 warnings",
            "All checks passed!",
            "eslint: no problems",
            "12 examples, 0 failures, 1 pending",
            "a.py:3: SyntaxWarning: \"is\" with a literal. Did you mean \"==\"?",
            "ERROR: pip's dependency resolver does not currently take into account all the packages that are installed.",
            "===== 3 passed, 4 deselected in 0.10s =====",
        ] {
            assert_eq!(failure_line(output), None, "{output}");
        }
        for output in
            ["test result: FAILED\nFAILED a.py::b - ValueError: x", "E   assert 1 == 2", "fatal: not a git repository"]
        {
            assert!(failure_line(output).is_some(), "{output}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_accepted(text in "(?s).{0,200}") {
            identifying_line(&text);
            failure_line(&text);
        }
    }
}
