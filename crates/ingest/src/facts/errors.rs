//! Errors: which line of an output names the failure, and the signature by which the same error is known again.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;
use rethread_model::clip;

/// The longest signature, in characters.
const SIGNATURE_CHARS: usize = 160;
/// Longer lines are data, not messages.
const LINE_BYTES: usize = 2000;

/// How plainly a line says that something failed; the smaller, the plainer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Plainness {
    /// It names an error: `error[E0308]: …`, `ValueError: …`, `fatal: …`.
    Names,
    /// It says which part failed: `FAILED tests/a.py::b`, `--- FAIL: TestX`.
    Points,
    /// It has a word of failure.
    Mentions,
    /// It only counts or passes on a failure named elsewhere.
    PassesOn,
}

static PASSES_ON: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?ix)^(error:\ )?(could\ not\ compile|test\ failed,\ to\ rerun|aborting\ due\ to|recipe\ |build\ failed|process\ didn't\ exit|\d+\ (targets?|errors?)\ )
        |^(make|gmake)(\[\d+\])?:\ \*\*\* | ELIFECYCLE | ^error:?\ command\ failed | ^found\ \d+\ error | ^error:\ script\ | exited?\ with\ (exit\ )?code
        | ^npm\ (err!|error)\ (code|syscall|path|errno|command|cwd|workspace|location|lifecycle|a\ complete\ log|\s*$) | ^error:?\ process\ completed
        | ^[\s=]*\d+\ (failed|errors?|problems?|failures?)\b | ^failed\ \(|^error\ occurred\ while\ running | ^error:?\s*$ | ^traceback\ \( | ^exit\ (code|status)\ \d
        | ^FAIL\s*$ | ^\#\ \S+$ | ^error\ Command\ failed | ^test\ result:\ FAILED | ^failed\ to\ compile | failed\ to\ push\ some\ refs | \b[1-9]\d*\ (failed|failures?)\b | \bexit(ed)?(=|:|\ code:?|\ status:?)\s*[1-9] | ^fail(ed)?:?$ | ^tests?\ failed\.?$",
    )
});

static NAMES: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?x)^(error|Error|ERROR|fatal|FATAL|panic|Fatal\ error|fatal\ error|E)(\[\w+\])?(:\ |\s{2,})\S
        | ^[\w.:/\\@-]*[A-Za-z](Error|Exception|NotEstablished|NotFound|Failure)(\ \[\w+\])?:\ \S
        | ^[\w.:]+(Error|Exception)$
        | ^E\ {2,}\S
        | (^|[\ :)])(error|Error)(\ TS\d+|\[[\w-]+\])?:\ \S
        | ^\S+[.]\w{1,5}(:\d+){1,2}:\ (?i:error|undefined|cannot|syntax|expected|undeclared|unexpected|missing|invalid|too\ many|not\ enough|no\ required|could\ not|undefined|imported\ and|declared\ and|assignment|unknown|got\ |want|redeclared|E\d{3}\ |F\d{3}\ ) 
        | ^\S+[.]\w{1,5}:\d+:\d+:\s+\S
        | ^\s*\d+:\d+\s+error\s+\S
        | ^npm\ (error|ERR!)\ \S | ^Failure/Error: | ^ld:\ |undefined\ reference\ to | ^\s*!\s*\[rejected\] | ^assertion\b | ^AssertionError | ^\(eval\):\d+: 
        | :\ (command\ not\ found|No\ such\ file\ or\ directory|Permission\ denied|not\ found)\b | ^curl:\ \(\d+\) | ^psql:\ | ^Permission\ denied
        | ^(bash|zsh|sh|/bin/\w+):\ ",
    )
});

static POINTS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(FAILED|FAIL|ERROR|ERRO)\s+\S|^--- FAIL: |^\s*[✗×✕✖●]\s+\S|\.\.\. FAILED|^> Task \S+ FAILED|^not ok \d|^CONFLICT |^ERROR: ",
    )
});

static MENTIONS: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?ix)\b(fail(ed|ure|s)?|error|cannot|can't|couldn't|could\ not|unable\ to|not\ found|denied|refused|missing|invalid|undefined|
        unexpected|no\ such|already\ (exists|in\ use|used)|mismatch(ed)?|rejected|conflict|unrecognized|unknown|unsupported|does\ not|doesn't|
        not\ (a|an|set|installed|recognized|supported|allowed|found|exist|contain)|required|must\ be|no\ space|is\ not|nothing\ to|no\ matches|no\ module|has\ no)\b",
    )
});

static COLOURS: LazyLock<Regex> = LazyLock::new(|| regex(r"\x1b\[[0-9;?]*[A-Za-z]|\[\d{1,2}(;\d{1,2})*m"));

/// The line of an output that plainly says that something failed.
pub fn names_failure(output: &str) -> Option<String> {
    let (plainness, line) = plainest(output)?;
    (plainness != Plainness::Mentions).then_some(line)
}

/// The line of an output, known to be that of a failure, that tells most; nothing if there is no text at all.
pub fn telling_line(output: &str) -> Option<String> {
    let first = || output.lines().map(str::trim).find(|line| !line.is_empty());
    let first = || first().map(|line| without_colours(bounded(line)).into_owned());
    plainest(output).map(|(_, line)| line).or_else(first)
}

/// Words without which no line is worth a closer look; looking closely is what costs.
static CUES: LazyLock<AhoCorasick> = LazyLock::new(|| {
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
        "equired",
        "must be",
        "no ",
        "No ",
        "required",
        "E  ",
        "eval",
        "NotEst",
        "ld: ",
        "expected",
        "command",
        "LIFECYCLE",
        "n't",
        "hing to",
        "exit",
    ];
    #[expect(clippy::expect_used, reason = "the words are constants")]
    AhoCorasick::new(cues).expect("a list of words")
});

/// `a.go:31:2: …`: a place in a file may be all that marks a message.
fn has_place(line: &str) -> bool {
    line.as_bytes().windows(2).any(|pair| pair[0] == b':' && pair[1].is_ascii_digit())
}

fn plainest(output: &str) -> Option<(Plainness, String)> {
    let mut best: Option<(Plainness, String)> = None;
    let mut lines = output.lines().peekable();
    while let Some(line) = lines.next() {
        if line.len() > LINE_BYTES || !(CUES.is_match(line) || has_place(line)) {
            continue;
        }
        let line = without_colours(line.trim());
        let Some((plainness, telling)) = weigh(&line, lines.peek().copied()) else { continue };
        if best.as_ref().is_none_or(|(known, _)| plainness < *known) {
            best = Some((plainness, telling));
        }
        if plainness == Plainness::Names {
            break;
        }
    }
    best
}

fn weigh(line: &str, next: Option<&str>) -> Option<(Plainness, String)> {
    let bare = undecorated(line);
    // What the agent says of the exit code tells nothing.
    if bare.is_empty() || bare.starts_with("Command exited with code ") || bare.starts_with("Exit code ") {
        return None;
    }
    let keep = |plainness| Some((plainness, bare.to_owned()));
    // Since Rust 1.73 the message stands on the next line.
    if line.contains("' panicked at ") || line.contains(") panicked at ") {
        let message = next.map(str::trim).filter(|next| !next.is_empty() && line.ends_with(':'));
        return Some((Plainness::Names, message.unwrap_or(bare).to_owned()));
    }
    if is_calm(line) {
        return None;
    }
    if PASSES_ON.is_match(line) || PASSES_ON.is_match(bare) {
        return keep(Plainness::PassesOn);
    }
    if NAMES.is_match(line) || NAMES.is_match(bare) {
        return keep(Plainness::Names);
    }
    if POINTS.is_match(line) {
        return keep(Plainness::Points);
    }
    MENTIONS.is_match(line).then(|| (Plainness::Mentions, bare.to_owned()))
}

/// Whether a line with a word of failure says that all is well, or only warns.
fn is_calm(line: &str) -> bool {
    static CALM: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?ix)^(warning|warn|note|info|debug|hint|help|deprecated)\b | \bwarning:\ |\bnote:\ | \.\.\.\ ok$ | \b0\ (errors?|failed|failures?)\b | \bno\ (errors|problems|issues)\b | ^\s*(ok|pass|✓|✔)\s
            | ^\(node:\d+\)\ \w*Warning | ^\$\ | ^>\ \S+@ | \bWARN\b",
        )
    });
    static COUNTED: LazyLock<Regex> = LazyLock::new(|| regex(r"\b[1-9]\d* (failed|failures?|errors?)\b"));
    CALM.is_match(line) && !COUNTED.is_match(line)
}

fn without_colours(line: &str) -> Cow<'_, str> {
    COLOURS.replace_all(line, "")
}

/// The message without what stands before it: bullets, `E   `, `npm error`, times, the place in a file.
fn undecorated(line: &str) -> &str {
    static BEFORE: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?x)^( [│|✗×✕✖●•>*\s-]+ | E\s{2,} | npm\ (error|ERR!)\s | \#\d+\s+[\d.]+\s+ | \[?\d{4}-\d\d-\d\d[T\ ][\d:.,]+(Z|[+-]\d\d:?\d\d)?\]?\s+
            | ([A-Za-z]:)?[\w@./\\-]+[.]\w{1,5}(:\d+){1,2}:\s+ | [\w@./\\-]+[.]\w{1,5}\(\d+(,\d+)?\):\s+ | [\w@./\\-]+[.]\w{1,5}:\d+(:\d+)?\s+-\s+ | \d+:\d+\s{2,} )",
        )
    });
    let mut rest = line.trim();
    while let Some(found) = BEFORE.find(rest).filter(|found| found.end() > 0 && found.end() < rest.len()) {
        rest = rest[found.end()..].trim_start();
    }
    rest
}

/// What replaces each kind of value.
static VALUES: LazyLock<[(Regex, &str); 6]> = LazyLock::new(|| {
    [
        (regex(r"\b[a-z][a-z0-9+.-]*://[^\s'\x22)>]+"), "<url>"),
        (regex(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]+\b"), "<id>"),
        (regex(r"(?:~|\.{1,2}|\b[A-Za-z]:)?[\w@.+-]*[/\\][\w@./\\+*-]*"), "<path>"),
        (
            regex(
                r"\b[\w-]+\.(?:rs|py|ts|tsx|js|jsx|mjs|cjs|go|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|toml|json|ya?ml|lock|md|sql|sh|txt|html|css|xml|csv|env)\b(?::\d+)*",
            ),
            "<path>",
        ),
        (regex(r"\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}\b"), "<id>"),
        (regex(r"\b\d+(?:[.,:]\d+)*"), "N"),
    ]
});

static QUOTED: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"'[^'\n]{1,120}'|"[^"\n]{1,120}"|`[^`\n]{1,120}`|‘[^’\n]{1,120}’"#));
static CODES: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(?:[A-Z]{1,6}\d{2,5}|TS\d{4}|[A-Z]+_[A-Z_]+|Errno \d+)\b"));

/// The signature of an error: its telling line with values, paths and numbers left out. Nothing for lines that would
/// fit any error. Codes such as `E0308` stay.
pub fn signature(line: &str) -> Option<String> {
    let line = without_colours(bounded(line));
    let bare = undecorated(&line);
    let named = QUOTED.replace_all(bare, "<value>");
    let signature = abstracted(&named);
    is_telling(&signature).then_some(signature)
}

/// The error itself: like its signature, with the names and paths it tells.
pub fn concrete(line: &str) -> String {
    let line = bounded(line);
    let mut text = without_colours(line).into_owned();
    for (values, name) in VALUES.iter().filter(|(_, name)| !matches!(*name, "<path>" | "<url>")) {
        text = values.replace_all(undecorated(&text), *name).into_owned();
    }
    squeezed(&text, 2 * SIGNATURE_CHARS)
}

/// The error with everything but what differs between two runs: places in files, durations, addresses.
pub fn exact(line: &str) -> String {
    static FLEETING: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(:\d+)+|\(\d+,\d+\)|\bline \d+|\b\d+(\.\d+)?\s?(ms|s|sec|secs|seconds|m|min)\b|\b0x[0-9a-fA-F]+|\b[0-9a-f]{7,40}\b",
        )
    });
    let line = without_colours(bounded(line));
    squeezed(&FLEETING.replace_all(undecorated(&line), "N"), 2 * SIGNATURE_CHARS)
}

/// The beginning of a line: what is longer is data.
fn bounded(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES)]
}

fn squeezed(text: &str, chars: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    clip(words.trim_end_matches(['.', '!', ',', ';', ':']), chars).into_owned()
}

fn abstracted(text: &str) -> String {
    // What must survive is set aside first.
    let mut codes = Vec::new();
    let mut text = CODES
        .replace_all(text, |found: &regex::Captures<'_>| {
            codes.push(found[0].to_owned());
            format!("\u{1}{}\u{2}", char::from_u32(0xE000 + codes.len() as u32).unwrap_or(' '))
        })
        .into_owned();
    for (values, name) in VALUES.iter() {
        text = values.replace_all(&text, *name).into_owned();
    }
    for (at, code) in codes.iter().enumerate() {
        let mark = format!("\u{1}{}\u{2}", char::from_u32(0xE001 + at as u32).unwrap_or(' '));
        text = text.replacen(&mark, code, 1);
    }
    squeezed(&text, SIGNATURE_CHARS)
}

/// Whether so much of a signature is left that it means one error and not any.
fn is_telling(signature: &str) -> bool {
    static EMPTY: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?i)<\w+>|\bN\b|\b(error|errors|failed|failure|fail|exit|code|status|command|exited|with|fatal|the|a|an|of|in|at|to|process|completed|terminated|killed|aborted|test|tests|running|session|starts|elifecycle|undefined|null|none|true|false|warning|warnings|see|above|below|log|output)\b",
        )
    });
    static PROGRESS: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?i)\.\.\.$|…$|^(checking|running|compiling|building|linting|downloading|installing|starting|loading|environment variables|rebasing)\b|^[$>] ",
        )
    });
    if PROGRESS.is_match(signature) {
        return false;
    }
    let rest = EMPTY.replace_all(signature, "");
    // The bare name of an exception fits every other one of its kind.
    signature.contains(' ') && rest.chars().filter(|c| c.is_alphabetic()).count() >= 4
}

/// Whether the outcome says nothing about the command itself: the agent or the user stopped it, or never ran it.
pub(crate) fn is_of_the_agent(error: &str, exit_code: Option<i32>) -> bool {
    static OF_THE_AGENT: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?i)^(command timed out|timed out after|\[?request interrupted|command (was )?aborted|aborted|cancelled|tool execution|user rejected|operation (aborted|cancelled)|permission to use|claude requested|background command)|hook error|\bblocked:|^this command requires approval|^sibling tool call errored|requires approval|was blocked\. for security",
        )
    });
    matches!(exit_code, Some(124 | 130 | 137 | 143)) || OF_THE_AGENT.is_match(error.trim())
}

/// Whether the error is about how the command was called, so that calling it otherwise mends it.
pub(super) fn is_of_the_call(signature: &str) -> bool {
    static OF_THE_CALL: LazyLock<Regex> = LazyLock::new(|| {
        regex(
            r"(?ix)command\ not\ found|no\ such\ (file|command|option|subcommand|service|target)|not\ found|unknown\ (option|command|subcommand|flag|argument|target)|unrecognized|
            missing\ script|invalid\ (option|choice|argument|flag)|not\ recognized|unexpected\ argument|no\ rule\ to\ make|could\ not\ (read|find)|cannot\ find|can't\ (open|find)|does\ not\ (contain|exist)|
            no\ upstream|permission\ denied|authentication\ required|requires?\ |required|must\ (be|specify|provide)|not\ set|is\ not\ set|enoent|eresolve|usage:|no\ module\ named|
            no\ matches|not\ a\ (git|directory)|outside\ repository|externally.managed|ambiguous|did\ you\ mean|already\ (exists|used|in\ use)|needs?\ |use\ --|denied|no\ tests\ (ran|found)|no\ test\ files|unable\ to\ resolve|unsupported|EACCES",
        )
    });
    OF_THE_CALL.is_match(signature)
}

/// Words and digits of ASCII are enough here, and building a pattern for all of Unicode would cost a hook milliseconds.
fn regex(pattern: &str) -> Regex {
    let pattern = pattern.replace(r"\d", "[0-9]").replace(r"\w", "[A-Za-z0-9_]").replace(r"\b", r"(?-u:\b)");
    #[expect(clippy::expect_used, reason = "the patterns are constants, and every test of this file builds them")]
    Regex::new(&pattern).expect("a pattern of this file")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_telling_line_is_found_among_noise() {
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
        ] {
            assert_eq!(telling_line(output).as_deref(), Some(expected), "{output}");
        }
        assert_eq!(telling_line(" \n"), None);
    }

    #[test]
    fn an_output_that_went_well_names_no_failure() {
        for output in [
            "running 3 tests\ntest errors::display_error_failed ... ok\ntest result: ok. 3 passed; 0 failed",
            "warning: unused variable: `err`\n    Finished",
            "0 errors, 0 warnings",
            "All checks passed!",
            "eslint: no problems",
            "12 examples, 0 failures, 1 pending",
        ] {
            assert_eq!(names_failure(output), None, "{output}");
        }
        for output in
            ["test result: FAILED\nFAILED a.py::b - ValueError: x", "E   assert 1 == 2", "fatal: not a git repository"]
        {
            assert!(names_failure(output).is_some(), "{output}");
        }
    }

    #[test]
    fn equal_errors_have_equal_signatures() {
        for (one, other) in [
            ("src/a.rs:1:2: error: cannot find `x`", "src/long/b.rs:10:20: error: cannot find `y`"),
            ("Error: Port 5173 is already in use", "Error: Port 80 is already in use"),
            (
                "ENOENT: no such file or directory, open '/a/b.json'",
                "ENOENT: no such file or directory, open '/c.json'",
            ),
            ("E   TimeoutError: upload took 10.1s", "TimeoutError: upload took 9.8s"),
            ("\u{1b}[31merror\u{1b}[0m: bad thing", "error: bad thing"),
        ] {
            assert!(signature(one).is_some());
            assert_eq!(signature(one), signature(other));
        }
        assert_ne!(signature("error[E0308]: mismatched types"), signature("error[E0309]: mismatched types"));
        assert_ne!(concrete("No module named 'a'"), concrete("No module named 'b'"));
        assert_eq!(concrete("took 3.1s for 'a'"), concrete("took 9s for 'a'"));
    }

    #[test]
    fn what_fits_any_error_has_no_signature() {
        for line in ["Error", "Exit code 1", "Command exited with code 2", "error: 3", "", "FAILED", "====="] {
            assert_eq!(signature(line), None, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_can_be_looked_at(text in "(?s).{0,200}") {
            telling_line(&text);
            signature(&text);
            concrete(&text);
        }
    }
}
