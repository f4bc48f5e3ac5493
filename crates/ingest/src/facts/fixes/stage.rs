//! How far a run came before it failed. An error that a later stage replaced is gone, whatever the new one says.

use std::sync::LazyLock;

use super::super::error_forms::{compares_values, signature};
use super::super::errors::{compile, is_missing_folder};
use super::super::pattern::CuePattern;
use super::call::ran_nothing;
use super::compile_error::is_compile_error;

/// The stages of a run, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum RunStage {
    /// Nothing ran.
    Call,
    /// The code could not be parsed.
    Syntax,
    /// What the code uses could not be loaded.
    Import,
    /// The code could not be compiled, or a check found something in it.
    Compile,
    /// The code ran.
    Run,
}

static SYNTAX: LazyLock<CuePattern> = LazyLock::new(|| {
    compile(r"\b(?:SyntaxError|IndentationError|TabError|ParseError|[Ss]yntax error|[Pp]arse error|error TS1\d{3})\b")
});
static IMPORT: LazyLock<CuePattern> = LazyLock::new(|| {
    compile(
        r"\b(?:ImportError|ModuleNotFoundError|No module named|cannot import name|Cannot find (?:module|package)|Could not resolve|ERR_MODULE_NOT_FOUND|error TS2307|error\[E043[23]\]|no required module provides)\b",
    )
});

static FAILED_PART: LazyLock<CuePattern> = LazyLock::new(|| {
    compile(r"(?i)^-*\s?(?:FAIL(?:ED)?|ERROR)\b[\s:]|^[✗×✕✖●]\s|\.\.\. FAILED|^not ok \d|assert|timed out")
});

static RUN: LazyLock<CuePattern> = LazyLock::new(|| {
    compile(
        r"[A-Za-z](?:Error|Exception|Failure)\b|^Error: |[Aa]ssert|panicked|^-*\s?FAIL(?:ED)?\b|\bgot\b.*\bwant\b|timed out",
    )
});

fn stage_of(message: &str) -> RunStage {
    let has = |pattern: &LazyLock<CuePattern>| pattern.is_match(message);
    if is_missing_folder(message) || ran_nothing(message) {
        RunStage::Call
    } else if has(&SYNTAX) {
        RunStage::Syntax
    } else if has(&IMPORT) {
        RunStage::Import
    } else if is_compile_error(message) || !has(&RUN) {
        RunStage::Compile
    } else {
        RunStage::Run
    }
}

/// Whether a run that failed with the later error came further than the one before.
pub(super) fn came_further(before: &str, later: &str) -> bool {
    let (from, to) = (stage_of(before), stage_of(later));
    // Of two checks, either may come first.
    from < to && (from < RunStage::Compile || is_compile_error(before))
}

/// Whether a later error of the same command shows that the one before is gone, because it names something else in a
/// stage that is at least as late. A failed comparison or test may only have been overtaken by another one.
pub(super) fn is_replaced(before: &str, later: &str) -> bool {
    let is_result = |message: &str| compares_values(message) || FAILED_PART.is_match(message);
    let (stage, later_stage) = (stage_of(before), stage_of(later));
    !is_result(before) && stage != RunStage::Call && later_stage >= stage && signature(before) != signature(later)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_later_stage_shows_that_the_earlier_is_gone() {
        for (before, later) in [
            ("bash: vitest: command not found", "SyntaxError: Unexpected token '}'"),
            ("SyntaxError: invalid syntax", "ImportError: No module named pandas"),
            ("ModuleNotFoundError: No module named 'yaml'", "AssertionError: assert 1 == 2"),
            ("Error: Cannot find module './db'", "TypeError: x is not a function"),
            ("undefined: clockNow", "--- FAIL: TestEnd (0.00s)"),
            ("error TS2304: Cannot find name 'mode'.", "AssertionError: expected 1 to be 2"),
        ] {
            assert!(came_further(before, later) && !came_further(later, before), "{before} {later}");
        }
        assert!(!came_further("TypeError: a", "AssertionError: b"), "either may hide the other");
        assert!(!came_further("ImportError: No module named a", "ImportError: No module named b"));
        assert!(!came_further("error TS2304: Cannot find name 'mode'.", "error  'x' is never used  no-unused-vars"));
        assert!(!came_further("'x' is never used  no-unused-vars", "AssertionError: expected 1 to be 2"));
    }
}
