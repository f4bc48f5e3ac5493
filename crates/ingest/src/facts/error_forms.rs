//! Forms of an error line that recognize the same error again: its signature, its concrete form and its exact form.

use std::sync::LazyLock;

use regex::Regex;
use rethread_model::clip;

use super::error_codes::{CodeMarks, mark_codes, without_appended_code};
use super::errors::{compile, compile_regex, strip_colors, strip_decoration, truncate_line};
use super::pattern::CuePattern;

/// Maximum length of a signature, in characters.
const MAX_SIGNATURE_CHARS: usize = 160;
/// Maximum length of an exact form, in characters.
const MAX_EXACT_CHARS: usize = 600;
/// What follows this many characters of a line does not count, because stored lines are cut.
const MAX_COMPARED_CHARS: usize = 480;
/// The beginnings of two lines must have this length, in bytes, to show that they are equal.
const MIN_BEGINNING_BYTES: usize = 100;

/// Patterns for values, each with its replacement.
static VALUES: LazyLock<[(Regex, &str); 6]> = LazyLock::new(|| {
    [
        (compile_regex(r"\b[a-z][a-z0-9+.-]*://[^\s'\x22)>]+"), "<url>"),
        (compile_regex(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b|\b0x[0-9a-fA-F]+\b"), "<id>"),
        (compile_regex(r"(?:~|\.{1,2}|\b[A-Za-z]:)?[\w@.+-]*[/\\][\w@./\\+*-]*"), "<path>"),
        (
            compile_regex(
                r"\b[\w-]+\.(?:rs|py|ts|tsx|js|jsx|mjs|cjs|go|java|kt|rb|php|c|h|cc|cpp|hpp|cs|swift|toml|json|ya?ml|lock|md|sql|sh|txt|html|css|xml|csv|env)\b(?::\d+)*",
            ),
            "<path>",
        ),
        (compile_regex(r"\b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}\b"), "<id>"),
        (compile_regex(r"(?:\[::1?\]|::1\b|\b\d+(?:[.,]\d+)*)(?::\d+)*"), "N"),
    ]
});

/// Quoted names. An apostrophe inside a word does not begin one; the end of a long line may be missing.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(r#"(^|[^A-Za-z0-9])(?:'[^'\n]+(?:'|…$)|"[^"\n]+(?:"|…$)|`[^`\n]+(?:`|…$)|‘[^’\n]+(?:’|…$))"#)
});
/// Words that are names rather than values: `DATABASE_URL`, `X509`.
static NAMES: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"\b(?:[A-Z]{1,6}\d{2,5}|[A-Z]+_[A-Z_]+)\b"));

/// The signature of an error: its identifying line with values, paths and numbers replaced. `None` for lines that would
/// match any error. Codes such as `E0308` are preserved.
pub fn signature(line: &str) -> Option<String> {
    let line = strip_colors(truncate_line(without_appended_code(line)));
    let bare = clip(strip_decoration(&line), MAX_COMPARED_CHARS);
    // Codes must survive, so they are replaced by marks first.
    let mut marks = CodeMarks::default();
    let text = mark_codes(&bare, &mut marks);
    let mut text = QUOTED.replace_all(&text, "${1}<value>").into_owned();
    text = NAMES.replace_all(&text, |found: &regex::Captures<'_>| marks.add(&found[0])).into_owned();
    for (values, name) in VALUES.iter() {
        text = values.replace_all(&text, *name).into_owned();
    }
    let signature = normalize_text(&marks.restore(text), MAX_SIGNATURE_CHARS);
    is_specific(&signature).then_some(signature)
}

/// The concrete form of an error: like its signature, but with names and paths.
pub fn concrete_form(line: &str) -> String {
    // The path of a test depends on where it is run.
    static TEST_FOLDERS: LazyLock<Regex> = LazyLock::new(|| compile_regex(r"[\w@./-]*/([\w.-]+::)"));
    let line = truncate_line(without_appended_code(line));
    let mut text = TEST_FOLDERS.replace_all(&strip_colors(line), "${1}").into_owned();
    for (values, name) in VALUES.iter().filter(|(_, name)| !matches!(*name, "<path>" | "<url>")) {
        text = values.replace_all(strip_decoration(&text), *name).into_owned();
    }
    normalize_text(&text, 2 * MAX_SIGNATURE_CHARS)
}

/// Whether a stored error line, which may be cut, and a printed one are the same error: names are equal, and only what
/// differs between two runs may differ.
pub fn is_same_error(stored: &str, printed: &str) -> bool {
    let (stored, printed) = (exact_form(stored), exact_form(printed));
    match stored.strip_suffix('…').and_then(|begin| begin.rsplit_once(' ')) {
        Some((begin, _)) => begin.len() >= MIN_BEGINNING_BYTES && printed.starts_with(begin),
        None => stored == printed,
    }
}

/// What an error line says about its cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorContent {
    /// Only a symptom that many places in the code may have: a nil pointer, a timeout of a test.
    Symptom,
    /// A message without a name of its own: it means the same only for the same command.
    Message,
    /// A quoted value, a path, a name or a code of its own.
    Names,
}

/// How much an error line says about its cause.
pub fn error_content(line: &str) -> ErrorContent {
    static SYMPTOMS: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?ix)\btimeout\ (?:of\ )?[\d.]+\ ?m?s(?:ec(?:onds?)?)?\ exceeded|\btimed\ out\ (?:in|after)\ [\d.]+\ ?m?s|nil\ pointer|null\ ?pointer
            |segmentation\ fault|core\ dumped|stack\ (?:size\ exceeded|overflow)|call\ stack|unexpected\ (?:end\ of|eof)|index\ out\ of\ (?:range|bounds)
            |internal\ server\ error|bad\ gateway|status\ (?:code\ )?5\d\d|operation\ was\ aborted|unhandled\ (?:promise\ )?rejection|division\ by\ zero
            |invalid\ syntax|unexpected\ (?:token|indent)|mismatched\ types|unreachable\ code|test\ (?:run\ )?failed|assertion\ failed",
        )
    });
    static OWN_NAMES: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r#"(?x)'[^'\s][^'\n]*'|"[^"\n]+"|`[^`\n]+`|‘[^’\n]+’ | [\w@.-]+[/\\][\w@.-]+ | \b\w+_\w+\b | \b[a-z]+[A-Z]\w*\b | \b[\w-]+@[\w.^~-]+
            | \b[\w-]+\.(?:[a-z]{1,4}|local|internal)\b | :\ (?:[a-z]\w*[.:])+\w+\s*$ | \b(?:named?|module|package|crate|table|column|script|service|function|method|variable):?\ \w{3,}"#,
        )
    });
    // What precedes the message, such as the name of an exception or of the failed call, does not count.
    static LEAD: LazyLock<CuePattern> = LazyLock::new(|| compile(r"^(?:[\w.$\[\]]+:\s+)+"));
    // The same test may fail for any reason.
    static FAILED_TEST: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?x)^(?:---\s*)?(?:FAIL(?:ED|URE)?|✗|✕|×|●|not\ ok\ \d+\ -)[:\ ]\s*\S+(?:\ \([\d.]+\ ?m?s\))?$ | ^test\ \S+\ \.\.\.\ FAILED$",
        )
    });
    let line = strip_colors(truncate_line(line));
    if FAILED_TEST.is_match(line.trim()) {
        return ErrorContent::Symptom;
    }
    let text = strip_decoration(&line);
    let message = LEAD.find(text).map_or(text, |lead| &text[lead.end()..]);
    if OWN_NAMES.is_match(message) {
        ErrorContent::Names
    } else if SYMPTOMS.is_match(message) {
        ErrorContent::Symptom
    } else {
        ErrorContent::Message
    }
}

/// The exact form of an error: only what differs between two runs is replaced, such as positions, durations, addresses,
/// ports, hashes, temporary folders and counts.
pub(super) fn exact_form(line: &str) -> String {
    static FLEETING: LazyLock<Regex> = LazyLock::new(|| {
        compile_regex(
            r"(?x)\b\d{4}-\d\d-\d\d[T\ ]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)?
            | \b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b | \b0x[0-9a-fA-F]+
            | \b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b | (?:\[::1?\]|::1\b)(?::\d+)?
            | (?::\d+)+\b | \(\d+,\d+\) | \bline\ \d+
            | \b\d+(?:\.\d+)?\s?(?:ms|s|sec|secs|seconds|m|min|minutes|h|%|[KMG]i?B|bytes|B)\b(?:\ ?\d+(?:\.\d+)?s\b)?
            | \b(?:[0-9]+[a-f]|[a-f]+[0-9])[0-9a-f]{5,}\b | \b\d{7,}\b",
        )
    });
    static TEMPORARY: LazyLock<Regex> = LazyLock::new(|| {
        compile_regex(
            r"(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)/[\w@.+/-]*?(/[\w-]+\.[A-Za-z]{1,5}\b|(?:[^\w@.+/-]|$))",
        )
    });
    let line = strip_colors(truncate_line(without_appended_code(line)));
    let mut marks = CodeMarks::default();
    let text = mark_codes(strip_decoration(&line), &mut marks);
    let text = TEMPORARY.replace_all(&text, "<tmp>${1}");
    let text = FLEETING.replace_all(&text, "N");
    let text = if compares_values(&text) { text.into_owned() } else { replace_counts(&text) };
    normalize_text(&marks.restore(text), MAX_EXACT_CHARS)
}

/// Whether the numbers of a line are what it is about, as in a failed assertion.
pub(super) fn compares_values(text: &str) -> bool {
    ["assert", "expect", "Expect", "Assert", "==", "left:", "toBe", "to equal"].iter().any(|cue| text.contains(cue))
}

/// Replaces numbers that stand alone. Versions and numbers within names stay.
fn replace_counts(text: &str) -> String {
    const VERSIONED: [&str; 14] = [
        "node",
        "node.js",
        "python",
        "java",
        "jdk",
        "go",
        "ruby",
        "php",
        "version",
        "level",
        "postgres",
        "postgresql",
        "api",
        "level:",
    ];
    let is_count = |word: &str| {
        let bare = word.trim_start_matches(['(', '[', '#', '\'', '"', '`', '{']);
        let bare = bare.trim_end_matches([')', ']', ',', ';', ':', '.', '\'', '"', '`', '}', '!']);
        let value = bare
            .rsplit_once('=')
            .map_or(bare, |(name, value)| if name.ends_with(['=', '>', '<', '~']) { bare } else { value });
        !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit())
    };
    let mut words: Vec<String> = Vec::new();
    let mut previous = String::new();
    for word in text.split_whitespace() {
        let replaces = is_count(word) && !VERSIONED.contains(&previous.as_str());
        previous = word.to_lowercase();
        words.push(if replaces { replace_digits(word) } else { word.to_owned() });
    }
    words.join(" ")
}

/// The word with its digits replaced by one `N`.
fn replace_digits(word: &str) -> String {
    let start = word.find(|c: char| c.is_ascii_digit()).unwrap_or(word.len());
    let end = word.rfind(|c: char| c.is_ascii_digit()).map_or(start, |at| at + 1);
    format!("{}N{}", &word[..start], &word[end..])
}

fn normalize_text(text: &str, chars: usize) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    clip(words.trim_end_matches(['.', '!', ',', ';', ':']), chars).into_owned()
}

/// Whether a signature is specific enough to identify one error.
fn is_specific(signature: &str) -> bool {
    static EMPTY: LazyLock<Regex> = LazyLock::new(|| {
        compile_regex(
            r"(?i)<\w+>|\bN\b|\b(error|errors|failed|failure|fail|exit|code|status|command|exited|with|fatal|the|a|an|of|in|at|to|process|completed|terminated|killed|aborted|test|tests|running|session|starts|elifecycle|undefined|null|none|true|false|warning|warnings|see|above|below|log|output)\b",
        )
    });
    static PROGRESS: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?i)\.\.\.$|…$|^(checking|running|compiling|building|linting|downloading|installing|starting|loading|environment variables|rebasing)\b|^[$>] ",
        )
    });
    if signature.chars().count() < MAX_SIGNATURE_CHARS && PROGRESS.is_match(signature) {
        return false;
    }
    let rest = EMPTY.replace_all(signature, "");
    // The bare name of an exception matches every other one of its kind.
    signature.contains(' ') && rest.chars().filter(|c| c.is_alphabetic()).count() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("connect ECONNREFUSED ::1:5432", "connect ECONNREFUSED 127.0.0.1:5433"),
            ("can't open file 'a b': denied", "can't open file 'c': denied"),
            ("error: relation \"a\" does not exist (code: '42P01')", "error: relation \"b\" does not exist"),
        ] {
            assert!(signature(one).is_some());
            assert_eq!(signature(one), signature(other));
        }
        assert_ne!(signature("error[E0308]: mismatched types"), signature("error[E0309]: mismatched types"));
        assert_ne!(concrete_form("No module named 'a'"), concrete_form("No module named 'b'"));
        assert_eq!(concrete_form("FAILED tests/test_a.py::test_b"), concrete_form("FAILED test_a.py::test_b"));
        assert_eq!(concrete_form("took 3.1s for 'a'"), concrete_form("took 9s for 'a'"));
    }

    #[test]
    fn codes_are_part_of_the_signature() {
        // D38
        for (line, expected) in [
            ("Request failed with status code 404", "Request failed with status code 404"),
            ("ORA-00942: table \"a\" does not exist", "ORA-00942: table <value> does not exist"),
            (
                "ERROR: relation \"a\" does not exist (SQLSTATE 42P01)",
                "ERROR: relation <value> does not exist (SQLSTATE 42P01)",
            ),
        ] {
            assert_eq!(signature(line).as_deref(), Some(expected));
        }
    }

    #[test]
    fn long_quotes_and_cut_lines_have_the_same_signature() {
        // D38
        let line = |name: &str, length: usize| {
            format!("error TS2322: Type '{{ {name}: {}; }}' is not assignable to type 'B'.", "string | ".repeat(length))
        };
        assert_eq!(signature(&line("a", 1)), signature(&line("b", 30)));
        let long = line("a", 200);
        assert_eq!(signature(&long), signature(&clip(&long, 500)));
        assert!(is_same_error(&clip(&long, 240), &long));
        assert!(!is_same_error(&clip(&long, 240), &line("b", 200)));
    }

    #[test]
    fn only_what_differs_between_runs_is_ignored() {
        // D38
        for (one, other) in [
            ("connect ECONNREFUSED 10.0.0.5:5432", "connect ECONNREFUSED 10.0.0.6:5432"),
            ("connect ECONNREFUSED 127.0.0.1:5432", "connect ECONNREFUSED 127.0.0.1:6543"),
            ("Error: Port 3000 is already in use", "Error: Port 3001 is already in use"),
            ("fatal: bad object 1a2b3c4d5e", "fatal: bad object 9f8e7d6c5b"),
            ("job 5b0c1d2e-1111-4222-8333-444455556666 failed", "job 6c0c1d2e-1111-4222-8333-444455556667 failed"),
            ("cannot open /tmp/tmpa1b2/config.json", "cannot open /tmp/tmpz9/config.json"),
            ("cannot open /tmp/abc: denied", "cannot open /var/folders/x/y: denied"),
            ("TimeoutError: upload took 10.1s", "TimeoutError: upload took 9.8s"),
            ("killed process 4121 (node)", "killed process 97 (node)"),
            ("limit=5 reached", "limit=6 reached"),
            ("relation \"a\" does not exist (code: '42P01')", "relation \"a\" does not exist"),
            ("2026-01-02T03:04:05Z lost connection to 'a'", "2026-02-03 04:05:06 lost connection to 'a'"),
        ] {
            assert!(is_same_error(one, other), "{} | {}", exact_form(one), exact_form(other));
        }
        for (one, other) in [
            ("No module named 'a'", "No module named 'b'"),
            ("No module named 'a1'", "No module named 'a2'"),
            ("error TS2345: x", "error TS2346: x"),
            ("Request failed with status code 404", "Request failed with status code 500"),
            ("[Errno 2] cannot open", "[Errno 13] cannot open"),
            ("assert 404 == 200", "assert 500 == 200"),
            ("expected 3 arguments, got 4", "expected 3 arguments, got 5"),
            ("no version satisfies numpy==1.26", "no version satisfies numpy==2.0"),
            ("requires node 18", "requires node 20"),
            ("left-pad@1.0.0 not found", "left-pad@2.0.0 not found"),
            ("cannot open /tmp/a/config.json", "cannot open /tmp/a/schema.json"),
            ("relation table_2 is missing", "relation table_3 is missing"),
        ] {
            assert!(!is_same_error(one, other), "{one} | {other}");
        }
    }

    #[test]
    fn content_of_an_error_is_recognized() {
        for (line, expected) in [
            ("Error: socket hang up", ErrorContent::Message),
            ("panic: runtime error: invalid memory address or nil pointer dereference", ErrorContent::Symptom),
            ("TimeoutError: page.waitForSelector: Timeout 5000ms exceeded.", ErrorContent::Symptom),
            ("Error: Connection timeout to database after 5000ms", ErrorContent::Message),
            ("TokenExpiredError: jwt expired", ErrorContent::Message),
            ("ModuleNotFoundError: No module named 'yaml'", ErrorContent::Names),
            ("OperationalError: no such table: shop_cart", ErrorContent::Names),
            ("fatal error: zlib.h: No such file or directory", ErrorContent::Names),
            ("error[E0308]: mismatched types", ErrorContent::Symptom),
            ("error[E0277]: the trait bound `A: Serialize` is not satisfied", ErrorContent::Names),
            ("Error: listen EADDRINUSE: address already in use :::3000", ErrorContent::Message),
            ("AssertionError: expected 3 to be 4", ErrorContent::Message),
            ("undefined: unix.SYS_X", ErrorContent::Names),
            ("--- FAIL: TestLogin_ExpiredToken (0.02s)", ErrorContent::Symptom),
            ("FAILED tests/test_cart.py::test_total", ErrorContent::Symptom),
            ("FAILED tests/test_cart.py::test_total - KeyError: 'tax_rate'", ErrorContent::Names),
        ] {
            assert_eq!(error_content(line), expected, "{line}");
        }
    }

    #[test]
    fn unspecific_errors_have_no_signature() {
        for line in ["Error", "Exit code 1", "Command exited with code 2", "error: 3", "", "FAILED", "====="] {
            assert_eq!(signature(line), None, "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_line_has_forms(text in "(?s).{0,200}") {
            signature(&text);
            concrete_form(&text);
            is_same_error(&text, &text);
        }
    }
}
