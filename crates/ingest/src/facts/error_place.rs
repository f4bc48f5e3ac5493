//! Where an error is, and whether a fix that changes a particular place is about it.
//!
//! Type errors and failed assertions look alike everywhere: the fix of one place says nothing about another. A package, a
//! command or a setting helps wherever the error appears.

use std::sync::LazyLock;

use regex::Regex;

use super::errors::{compile, compile_regex, strip_colors, strip_decoration};
use super::pattern::CuePattern;

/// The position below a message is at most this many lines away.
const MAX_LINES_BELOW: usize = 3;
/// Shorter names occur in any code.
const MIN_NAME_CHARS: usize = 4;

static POSITION: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r#"([\w@./\\+-]*[\w-]\.[A-Za-z]\w{0,4})(?:", line \d+|:\d+(?::\d+)?|\(\d+(?:,\d+)?\)|", line|\[\d+, ?\d+\])"#,
    )
});

/// The files at which an output reports this error: at the message, below it, or in its stack trace.
pub fn error_places(output: &str, message: &str) -> Vec<String> {
    let lines: Vec<_> = output.lines().map(strip_colors).collect();
    let begin: String = message.chars().take(120).collect();
    let Some(at) = lines.iter().position(|line| strip_decoration(line).starts_with(&begin) || line.contains(&begin))
    else {
        return Vec::new();
    };
    let own = lines[at].find(&begin).map_or("", |found| &lines[at][..found]);
    let own = files_in(own);
    if !own.is_empty() {
        return own;
    }
    if is_listed_below_its_file(&lines[at]) {
        let header = lines[..at].iter().rev().map(|line| line.trim()).find(|line| is_path(line));
        return header.into_iter().map(str::to_owned).collect();
    }
    let below = lines[at + 1..].iter().take(MAX_LINES_BELOW).find(|line| line.trim_start().starts_with("--> "));
    if let Some(below) = below {
        return files_in(below);
    }
    let mut all: Vec<String> = lines.iter().flat_map(|line| files_in(line)).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Whether a fix may be about this error, which is at these places. `fix` describes it: `PATH: OLD → NEW`, commands.
pub fn may_fix(fix: &str, message: &str, places: &[String]) -> bool {
    let changed: Vec<&str> = fix.split("; ").filter_map(changed_file).collect();
    if changed.is_empty() || changed.iter().any(|file| is_setting(file)) || !is_bound_to_place(message) {
        return true;
    }
    changed.iter().any(|file| places.iter().any(|place| is_about_file(place, file))) || defines_missing(fix, message)
}

/// The file that a part of a description changes.
fn changed_file(part: &str) -> Option<&str> {
    let written = part.strip_prefix("edited ").or_else(|| part.strip_prefix("wrote "));
    let path = written.or_else(|| part.split_once(": ").map(|(path, _)| path))?;
    (!path.contains(char::is_whitespace) && path.contains(['.', '/'])).then_some(path)
}

/// Whether a file configures a whole project.
fn is_setting(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    matches!(extension, "toml" | "json" | "jsonc" | "yml" | "yaml" | "ini" | "cfg" | "conf" | "env" | "lock" | "mod")
        || matches!(name, "Dockerfile" | "Makefile" | "CMakeLists.txt" | "conftest.py" | "Gemfile" | "Justfile")
        || name.starts_with(".env")
        || name.starts_with("requirements")
        || name.contains(".config.")
        || name.starts_with("build.gradle")
}

/// Whether an error line looks the same wherever it appears.
fn is_bound_to_place(message: &str) -> bool {
    static CODE: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?x)\berror\ TS\d{4,5}\b | ^error\[E\d{4}\] | \b(?:CS|C|BC)\d{4}\b | \s\[[a-z]+(?:-[a-z]+)*\]$
            | ^[A-Z]{1,4}\d{3,4}\ | \([a-z]+lint\)$ | \b[a-z-]+\([a-z/-]+\):\  | \s(?:@?[\w-]+/)?[a-z]+(?:-[a-z]+)+$
            | ^(?:undefined:|cannot\ use\ |missing\ return|not\ enough\ arguments|too\ many\ arguments|declared\ and\ not)
            | \b(?:imported|declared)\ and\ not\ used | \bhas\ no\ (?:field|member|attribute|property)\b | \bno\ member\ named\b
            | incompatible\ (?:types?|pointer)|invalid\ conversion|cannot\ convert|cannot\ be\ (?:converted|assigned)|not\ assignable",
        )
    });
    static RUNTIME: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?x)^(?:\w+:\ )?(?:TypeError|AttributeError|NameError|ReferenceError|UnboundLocalError|IndexError|KeyError|NoMethodError|SyntaxError|IndentationError)\b
            | Cannot\ read\ propert | \bis\ not\ (?:a\ function|iterable|defined|callable|subscriptable)\b | undefined\ method
            | Unexpected\ (?:token|identifier|end) | NullPointerException | ClassCastException",
        )
    });
    // A comparison of mere values.
    static VALUES: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?xi)^(?:AssertionError:?\ ?)?(?:
                assert\ (?:not\ )?[\w.()\[\]'-]{1,12}(?:\ (?:==|!=|is|is\ not|in|not\ in|<|>|<=|>=)\ [\w.()\[\]'-]{1,12})?
                | expected:?\ [\w.'()\[\]-]{1,12}\ (?:to|but|got|received)\ .{0,60}
                | [\w.'-]{1,12}\ (?:!=|==)\ [\w.'-]{1,12}
                | got\ [\w.-]{1,12},?\ want\ [\w.-]{1,12}
                | left:\ .{0,12})$",
        )
    });
    let bare = message.trim();
    [&CODE, &RUNTIME, &VALUES].into_iter().any(|pattern| pattern.is_match(bare))
}

/// Whether an error says that a name is missing, and the fix names it.
fn defines_missing(fix: &str, message: &str) -> bool {
    static MISSING: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r#"(?x)(?i:(?:cannot|could\ not|can't)\ (?:find|resolve|import)|not\ found|undeclared|unresolved|undefined|no\ exported\ member|does\ not\ exist|is\ not\ defined|no\ (?:name|member|field|attribute))
            (?:[^'"`‘]{0,40}['"`‘]([\w$]+)['"`’]|:\ (?:\w+\.)?(\w+)\b)"#,
        )
    });
    static NAME_FIRST: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r#"(?:Property|name|Module) ['"`‘]([\w$]+)['"`’] (?:does not exist|is not defined)|['"`‘]([\w$]+)['"`’] is not defined|has no (?:exported member|attribute) (?:named )?['"`‘]([\w$]+)['"`’]"#,
        )
    });
    // What is missing from nothing is not a name.
    if ["NoneType", "of undefined", "of null", "nil:NilClass"].iter().any(|value| message.contains(value)) {
        return false;
    }
    let names = [&MISSING, &NAME_FIRST].into_iter().flat_map(|pattern| {
        pattern
            .captures(message)
            .into_iter()
            .flat_map(|found| found.groups().map(|name| name.as_str().to_owned()).collect::<Vec<_>>())
    });
    let is_word = |name: &String| {
        fix.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').any(|word| word == name.as_str())
    };
    names.into_iter().any(|name| name.chars().count() >= MIN_NAME_CHARS && is_word(&name))
}

/// Whether a place is in this file, or in its test.
fn is_about_file(place: &str, file: &str) -> bool {
    let place = place.replace('\\', "/");
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short.trim_start_matches("./")).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
    };
    let stem = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path).split('.').next().unwrap_or_default().to_lowercase();
        let name = name.trim_start_matches("test_").trim_end_matches("_test").trim_end_matches("_spec");
        name.chars().filter(|c| c.is_alphanumeric()).collect::<String>()
    };
    let is_generic = |stem: &str| {
        stem.chars().count() < MIN_NAME_CHARS || matches!(stem, "index" | "main" | "utils" | "types" | "test" | "tests")
    };
    let is_test = |path: &str| path.to_lowercase().contains("test") || path.to_lowercase().contains("spec");
    let is_named_after = stem(&place) == stem(file) && !is_generic(&stem(file)) && is_test(&place) != is_test(file);
    ends(&place, file) || ends(file, &place) || is_named_after
}

/// The files with a position that a text names, without those of libraries.
fn files_in(text: &str) -> Vec<String> {
    let is_own = |path: &&str| {
        !["node_modules/", "site-packages/", "/lib/python", "/usr/", "/rustc/", "node:"]
            .iter()
            .any(|part| path.contains(part))
    };
    POSITION
        .captures_iter(text)
        .filter_map(|found| found.get(1))
        .map(|file| file.as_str())
        .filter(is_own)
        .map(str::to_owned)
        .collect()
}

/// `  3:5  error  'x' is never used`: the file is named above.
fn is_listed_below_its_file(line: &str) -> bool {
    static LISTED: LazyLock<CuePattern> = LazyLock::new(|| compile(r"^\s*\d+:\d+\s+(?:error|warning)\s"));
    LISTED.is_match(line)
}

fn is_path(line: &str) -> bool {
    !line.contains(char::is_whitespace) && line.contains('.') && line.contains(['/', '\\'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_of_an_error_is_found() {
        for (output, message, expected) in [
            ("src/a.ts(3,5): error TS2345: bad\nsrc/b.ts(9,1): error TS2322: x", "error TS2345: bad", "src/a.ts"),
            (
                "error[E0308]: mismatched types\n  --> src/a.rs:3:5\n  --> src/b.rs:1:1",
                "error[E0308]: mismatched types",
                "src/a.rs",
            ),
            ("app/a.py:7: error: Bad [arg-type]\napp/b.py:9: error: x", "error: Bad [arg-type]", "app/a.py"),
            (
                "/app/src/a.ts\n  3:5  error  'x' is never used  no-unused-vars",
                "'x' is never used  no-unused-vars",
                "/app/src/a.ts",
            ),
            (
                "Traceback (most recent call last):\n  File \"/app/a.py\", line 3, in f\nTypeError: bad",
                "TypeError: bad",
                "/app/a.py",
            ),
            (
                "TypeError: bad\n    at f (/app/src/a.ts:3:5)\n    at g (/app/node_modules/x/i.js:1:1)",
                "TypeError: bad",
                "/app/src/a.ts",
            ),
            ("AssertionError: 1\n ❯ src/a.test.ts:9:3", "AssertionError: 1", "src/a.test.ts"),
        ] {
            assert_eq!(error_places(output, message), [expected], "{output}");
        }
        assert!(error_places("nothing here", "Error: x").is_empty());
    }

    #[test]
    fn a_fix_of_one_place_is_not_about_another() {
        let assign = "error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.";
        for (fix, message, place) in [
            ("src/a.ts: id → Number(id)", assign, "src/b.ts"),
            ("src/a.ts: id → Number(id)", assign, ""),
            (
                "src/a.py: x → x or ''",
                "error: Argument 1 to \"f\" has incompatible type \"None\"  [arg-type]",
                "src/b.py",
            ),
            ("src/a.py: x.get → (x or {}).get", "AttributeError: 'NoneType' object has no attribute 'get'", "src/b.py"),
            (
                "src/a.ts: list.map → (list ?? []).map",
                "TypeError: Cannot read properties of undefined (reading 'map')",
                "src/b.ts",
            ),
            ("src/a.ts: - const size = 1", "'size' is assigned a value but never used  no-unused-vars", "src/b.ts"),
            ("src/a.ts: 1 → 2", "AssertionError: expected false to be true", "src/b.test.ts"),
            (
                "src/a.go: x → int(x)",
                "cannot use x (variable of type string) as int value in argument to f",
                "src/b.go",
            ),
            ("wrote src/a.py", "SyntaxError: invalid syntax", "src/b.py"),
        ] {
            assert!(!may_fix(fix, message, &[place.to_owned()]), "{fix} {message}");
        }
        for (fix, message, place) in [
            ("src/a.ts: id → Number(id)", assign, "/app/src/a.ts"),
            ("ran `npm install -D @types/node`", assign, "src/b.ts"),
            ("tsconfig.json: + \"lib\": [\"dom\"]", assign, "src/b.ts"),
            (
                "src/types.ts: + userName: string",
                "error TS2339: Property 'userName' does not exist on type 'User'.",
                "src/b.ts",
            ),
            ("src/db.ts: max: 5 → max: 20", "Error: timeout exceeded when trying to connect", "src/db.ts"),
            ("src/db.ts: max: 5 → max: 20", "Error: timeout exceeded when trying to connect", "src/api.ts"),
            ("src/money.py: round → quantize", "AssertionError: assert 12 == 13", "tests/test_money.py"),
            ("src/shop.py: + import clockwork", "NameError: name 'clockwork' is not defined", "src/cart.py"),
        ] {
            assert!(may_fix(fix, message, &[place.to_owned()]), "{fix} {message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_output_is_accepted(text in "(?s)[a-z0-9 .:/()'\"→\n-]{0,120}") {
            error_places(&text, &text);
            may_fix(&text, &text, std::slice::from_ref(&text));
        }
    }
}
