//! Codes that identify a kind of error wherever it occurs: `TS2345`, `E0277`, `SQLSTATE 42P01`, `HTTP 404`, `ENOENT`.

use std::sync::LazyLock;

use regex::Regex;

use super::errors::{compile, compile_regex};
use super::pattern::CuePattern;

static CODES: LazyLock<Regex> = LazyLock::new(|| {
    compile_regex(
        r#"(?x)
        \b(?:TS|CS|NU|MSB|NETSDK|CA|IDE|LNK|PGRST|RUF|SIM|PL[CERW]|UP|SC|DL|SA|NG|BC|FS|AADSTS)\d{3,7}\b
        | \b(?:E\d{3,4}|[FWB]\d{3}|[CP]\d{4})\b
        | \b(?:CVE|RUSTSEC)-\d{4}-\d{3,7}\b | \b(?:ORA|PLS|TNS|DPI|NJS)-\d{3,5}\b
        | \bSQLSTATE[\s:=\[(]{0,3}[0-9A-Z]{5}\b
        | \b[Cc]ode['"]?\s?[:=]\s?['"]?(?:0[0-9]|2[0-9]|3D|3F|4[0-9]|5[3-8]|XX)[0-9P][0-9A-Z]{2}\b['"]?
        | \bHTTP(?:/\d(?:\.\d)?)?(?:\ ?(?:[Ee]rror|[Ss]tatus|[Cc]ode))*:?\ ?[45]\d\d\b
        | \b[Ss]tatus(?:[\ _]?[Cc]ode)?(?:\ of)?['"]?[:=]?\ ?[45]\d\d\b
        | \b[45]\d\d\ (?:Not\ Found|Internal\ Server|Bad\ Request|Unauthorized|Forbidden|Bad\ Gateway|Service\ Unavail|Too\ Many|Conflict|Unprocessable|Gateway|Method\ Not|Gone|Payload|Request\ )
        | \breturned\ error:\ [45]\d\d\b
        | \bE(?:ADDRINUSE|ADDRNOTAVAIL|ACCES|AGAIN|BADF|BUSY|CONNABORTED|CONNREFUSED|CONNRESET|EXIST|HOSTUNREACH|INVAL|ISDIR|LOOP|MFILE|NETUNREACH|NFILE|NOENT|NOMEM|NOSPC|NOTDIR|NOTEMPTY|NOTFOUND|PERM|PIPE|ROFS|TIMEDOUT|XDEV|RESOLVE|INTEGRITY|BADENGINE|BADPLATFORM|USAGE|OTP|NEEDAUTH|TARGET|AI_AGAIN)\b
        | \bERR?_[A-Z0-9_]{3,60}\b
        | \bSIG(?:KILL|SEGV|ABRT|TERM|BUS|ILL|FPE|PIPE)\b | \bsignal:?\ \d{1,2}\b
        | \bErrno\ -?\d{1,3}\b | \bos\ error\ \d{1,5}\b
        "#,
    )
});

/// The codes in a text, in a form that is equal however they are written, in order and each once.
pub fn error_codes(text: &str) -> Vec<String> {
    let mut codes: Vec<String> = Vec::new();
    for code in CODES.find_iter(text).map(|found| normalize(found.as_str())) {
        if !codes.contains(&code) {
            codes.push(code);
        }
    }
    codes
}

/// Maximum number of lines below an error that are searched for its code.
const MAX_LINES_BELOW: usize = 12;

/// How a code that was printed below an error is appended to its line. It is not in the forms of the error, because the
/// line may be quoted without it.
static APPENDED: LazyLock<CuePattern> = LazyLock::new(|| compile(r" \(code: '[A-Za-z0-9_]{1,40}'\)$"));

/// The code that a line below an error gives as a property: `code: '42P01',`.
pub(super) fn code_below<'l>(lines: impl Iterator<Item = &'l str>) -> Option<String> {
    static PROPERTY: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(r#"^\s*['"]?(?:code|sqlState|sqlstate)['"]?\s?[:=]\s?['"]([A-Za-z0-9_]{3,40})['"],?\s*$"#)
    });
    let mut found = lines.take(MAX_LINES_BELOW).filter(|line| line.len() < 80 && line.contains([':', '=']));
    found.find_map(|line| Some(PROPERTY.captures(line)?.get(1)?.as_str().to_owned()))
}

/// Appends a code that was printed below an error, unless its line contains it.
pub(super) fn append_code(line: &mut String, code: &str) {
    if !line.contains(code) {
        *line = format!("{line} (code: '{code}')");
    }
}

/// The line as printed, without an appended code.
pub(super) fn without_appended_code(line: &str) -> &str {
    APPENDED.find(line).map_or(line, |found| &line[..found.start()])
}

/// Whether a code names one kind of error. Others, such as `HTTP 404` or `ENOENT`, have many causes.
pub fn is_distinctive_code(code: &str) -> bool {
    let is_broad = ["HTTP ", "SIG", "Errno", "os error"].iter().any(|start| code.starts_with(start))
        || code.starts_with('E')
            && code[1..].bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
            && !code.contains("R_");
    !is_broad
}

/// The codes a query consists of: `error TS2345`, `ts2345`, `404`; none if it says anything else.
pub fn queried_codes(query: &str) -> Vec<String> {
    let query = query.trim();
    if query.len() == 3 && query.starts_with(['4', '5']) && query.bytes().all(|byte| byte.is_ascii_digit()) {
        return vec![format!("HTTP {query}")];
    }
    if let Some(state) = bare_sql_state(query) {
        return vec![format!("SQLSTATE {state}")];
    }
    let upper = query.to_uppercase();
    [query, &upper].into_iter().map(bare_codes).find(|codes| !codes.is_empty()).unwrap_or_default()
}

/// The last word of a short query, if it is the state of a database error: `42P01`, `error 23505`.
fn bare_sql_state(query: &str) -> Option<String> {
    static STATE: LazyLock<CuePattern> = LazyLock::new(|| {
        compile(
            r"(?i)^(?:(?:error|code|postgres|sql|state)[: ]+){0,2}((?:0[0-9]|2[0-9]|3D|3F|4[0-9]|5[3-8]|XX)[0-9P][0-9A-Z]{2})$",
        )
    });
    Some(STATE.captures(query)?.get(1)?.as_str().to_uppercase())
}

fn bare_codes(query: &str) -> Vec<String> {
    const FILLERS: [&str; 14] = [
        "error", "errors", "code", "status", "http", "fatal", "warning", "exit", "with", "failed", "fix", "found",
        "not", "npm",
    ];
    let rest = CODES.replace_all(query, " ");
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let is_bare = words.all(|word| FILLERS.contains(&word.to_lowercase().as_str()));
    if is_bare { error_codes(query) } else { Vec::new() }
}

/// Replaces the codes of a text by marks that no other rule changes.
pub(super) fn mark_codes(text: &str, marks: &mut CodeMarks) -> String {
    CODES.replace_all(text, |found: &regex::Captures<'_>| marks.add(&found[0])).into_owned()
}

/// Parts of a text that must survive while its values are replaced.
#[derive(Default)]
pub(super) struct CodeMarks {
    codes: Vec<String>,
}

impl CodeMarks {
    /// A mark for a code.
    pub(super) fn add(&mut self, code: &str) -> String {
        self.codes.push(code.to_owned());
        Self::mark(self.codes.len())
    }

    /// The text with the codes back in their places.
    pub(super) fn restore(&self, mut text: String) -> String {
        for (at, code) in self.codes.iter().enumerate() {
            text = text.replacen(&Self::mark(at + 1), code, 1);
        }
        text
    }

    fn mark(number: usize) -> String {
        format!("\u{1}{}\u{2}", char::from_u32(0xE000 + number as u32).unwrap_or(' '))
    }
}

/// One way of writing for codes that are written in several.
fn normalize(code: &str) -> String {
    let digits = || code.rsplit(|c: char| !c.is_ascii_digit()).find(|part| part.len() == 3).unwrap_or_default();
    let number = || code.rsplit(' ').next().unwrap_or_default();
    let lower = code.to_ascii_lowercase();
    if code.starts_with("SQLSTATE") || lower.starts_with("code") {
        let state: String = code.trim_end_matches(['\'', '"']).chars().rev().take(5).collect();
        return format!("SQLSTATE {}", state.chars().rev().collect::<String>());
    }
    let is_http = lower.starts_with("http") || lower.starts_with("status") || lower.starts_with("returned");
    if is_http || code.starts_with(|c: char| c.is_ascii_digit()) {
        return format!("HTTP {}", digits());
    }
    if lower.starts_with("signal") {
        let name = match number() {
            "4" => "SIGILL",
            "6" => "SIGABRT",
            "8" => "SIGFPE",
            "9" => "SIGKILL",
            "11" => "SIGSEGV",
            "15" => "SIGTERM",
            other => return format!("signal {other}"),
        };
        return name.to_owned();
    }
    code.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_found_however_they_are_written() {
        // D38
        for (text, expected) in [
            ("src/a.ts(1,2): error TS2345: Argument of type 'a'", vec!["TS2345"]),
            ("error[E0277]: the trait bound is not satisfied", vec!["E0277"]),
            ("a.cs(3,4): error CS1002: ; expected", vec!["CS1002"]),
            ("a.cpp(3): error C2065: 'x': undeclared identifier", vec!["C2065"]),
            ("ERROR: relation \"a\" does not exist (SQLSTATE 42P01)", vec!["SQLSTATE 42P01"]),
            ("SQLSTATE[42S02]: Base table not found", vec!["SQLSTATE 42S02"]),
            ("  code: '23505',", vec!["SQLSTATE 23505"]),
            ("ORA-00942: table or view does not exist", vec!["ORA-00942"]),
            ("Request failed with status code 500", vec!["HTTP 500"]),
            ("HTTP/1.1 404 Not Found", vec!["HTTP 404"]),
            ("curl: (22) The requested URL returned error: 403", vec!["HTTP 403"]),
            ("Error: listen EADDRINUSE: address already in use :::3000", vec!["EADDRINUSE"]),
            ("PrismaClientKnownRequestError: code P2002", vec!["P2002"]),
            ("a.py:1:1: F401 `os` imported but unused", vec!["F401"]),
            ("PGRST116: JSON object requested, multiple rows", vec!["PGRST116"]),
            ("error NU1101: Unable to find package", vec!["NU1101"]),
            ("error MSB3073: The command exited", vec!["MSB3073"]),
            ("Error [ERR_MODULE_NOT_FOUND]: Cannot find module", vec!["ERR_MODULE_NOT_FOUND"]),
            ("process didn't exit successfully (signal: 11, SIGSEGV)", vec!["SIGSEGV"]),
            ("PermissionError: [Errno 13] Permission denied", vec!["Errno 13"]),
            ("sha256 of UTF-8 text with P256 and S3", vec![]),
            ("took 404 ms", vec![]),
        ] {
            assert_eq!(error_codes(text), expected, "{text}");
        }
    }

    #[test]
    fn query_of_codes_is_recognized() {
        for (query, expected) in [
            ("error TS2345", vec!["TS2345"]),
            ("ts2345", vec!["TS2345"]),
            ("HTTP 404", vec!["HTTP 404"]),
            ("404", vec!["HTTP 404"]),
            ("42P01", vec!["SQLSTATE 42P01"]),
            ("error 23505", vec!["SQLSTATE 23505"]),
            ("error[E0277]", vec!["E0277"]),
            ("error TS2345: Argument of type", vec![]),
            ("no such table", vec![]),
        ] {
            assert_eq!(queried_codes(query), expected, "{query}");
        }
    }

    #[test]
    fn broad_codes_are_not_distinctive() {
        for code in ["TS2345", "E0277", "E501", "SQLSTATE 42P01", "ORA-00942", "P2002", "ERR_REQUIRE_ESM"] {
            assert!(is_distinctive_code(code), "{code}");
        }
        for code in ["HTTP 404", "ENOENT", "SIGKILL", "Errno 2", "EADDRINUSE"] {
            assert!(!is_distinctive_code(code), "{code}");
        }
    }
}
