//! Tests the API and the properties that hold for every text. The tables are in `tests_planted` and `tests_ordinary`.

use std::borrow::Cow;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::{RedactionFindings, Redactor};

/// One redactor for all tests, which also shows that it can be shared.
pub(super) static REDACTOR: LazyLock<Redactor> = LazyLock::new(Redactor::new);

/// Letters and digits.
pub(super) const BASE62: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Redacts a text; returns the result and the findings.
pub(super) fn redact(text: &str) -> (String, RedactionFindings) {
    let mut found = RedactionFindings::default();
    let out = REDACTOR.redact(text, &mut found).into_owned();
    (out, found)
}

/// A random string that is the same in every run. The source contains no secret, so that scanners stay quiet.
pub(super) fn random(alphabet: &str, length: usize, seed: u64) -> String {
    let alphabet = alphabet.as_bytes();
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state >> 33).unwrap_or(0)
    };
    let _warm_up: usize = (0..8).map(|_| next() & 1).sum();
    (0..length).map(|_| char::from(alphabet[next() % alphabet.len()])).collect()
}

fn check(text: &str, expect: &str) {
    assert_eq!(redact(text).0, expect, "for {text:?}");
}

fn counts(found: &RedactionFindings) -> Vec<(&'static str, u64)> {
    found.iter().collect()
}

#[test]
fn text_without_secrets_is_borrowed() {
    let mut found = RedactionFindings::default();
    let text = "fn main() { println!(\"no secrets here\"); }";
    assert!(matches!(REDACTOR.redact(text, &mut found), Cow::Borrowed(same) if same == text));
    assert!(found.is_empty());
    assert_eq!(found.total(), 0);
}

#[test]
fn findings_count_each_secret_once_and_merge() {
    let key = format!("sk-ant-api03-{}", random(BASE62, 80, 1));
    // Four rules see this: the name, the header, the prefix and the entropy.
    let text = format!("API_KEY={key}\nAuthorization: Bearer {key}\npassword=hunter2\n");
    let (out, found) = redact(&text);
    assert_eq!(counts(&found), [("anthropic", 2), ("password", 1)]);
    assert_eq!(
        out,
        "API_KEY=[REDACTED:anthropic]\nAuthorization: Bearer [REDACTED:anthropic]\npassword=[REDACTED:password]\n"
    );
    let mut sum = found.clone();
    sum.merge(&found);
    assert_eq!(counts(&sum), [("anthropic", 4), ("password", 2)]);
    assert_eq!(sum.total(), 6);
    assert_ne!(sum, found);
}

#[test]
fn private_parts_are_dropped_and_counted() {
    check("a <private>my salary</private> b", "a  b");
    check("a <private>one\ntwo</private> b <private>three</private> c", "a  b  c");
    check("a <private>to the end, password=hunter2", "a ");
    check("<private></private>", "");
    check("a <private>b <private>c</private> d</private> e", "a  e");
    check("a </private> b", "a </private> b");
    // Text that was joined by removing a part is searched again.
    check("a <pri<private>x</private>vate>secret</private> b", "a  b");
    check("password=<private>x</private>hunter2", "password=[REDACTED:password]");
    // Mentions of the tag, and the elements of .NET project files.
    check("Wrap it in `<private>` tags.", "Wrap it in `<private>` tags.");
    check("<Private>True</Private>", "<Private>True</Private>");
    let (_, found) = redact("<private>a</private><private>b</private>");
    assert_eq!(counts(&found), [("private", 2)]);
}

#[test]
fn placeholders_are_kept() {
    for text in [
        "password=[REDACTED:password]",
        "\"token\": \"[REDACTED:token]\"",
        "Authorization: Bearer [REDACTED:jwt]",
        "postgres://me:[REDACTED:url-password]@db/app",
        "SECRET_KEY=[REDACTED]",
        "[REDACTED:private-key] and [REDACTED:entropy]",
    ] {
        check(text, text);
    }
}

#[test]
fn threads_can_share_one_redactor() {
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| check("passwd: hunter2", "passwd: [REDACTED:password]"));
        }
    });
}

#[test]
fn long_values_are_redacted_to_their_end() {
    let long = random(BASE62, 5_000, 3);
    check(&format!("SESSION_TOKEN={long} next"), "SESSION_TOKEN=[REDACTED:token] next");
    check(&format!("token=\"{long}\" next"), "token=\"[REDACTED:token]\" next");
    check(&format!("token=\"{long} next"), "token=\"[REDACTED:token] next");
    // A multi-byte character where the value is cut.
    for shift in 0..4 {
        let long = format!("{}{}", "ab1".repeat(168 + shift), "é".repeat(300));
        let (out, _) = redact(&format!("password='{long} next"));
        assert_eq!(out, "password='[REDACTED:password] next");
    }
}

/// Texts that would take a backtracking or rescanning redactor quadratic time.
#[test]
fn hostile_texts_take_linear_time() {
    let pieces = [
        "sk-",
        "sk-learn-",
        "sk-ant-your-",
        "eyJ",
        "eyJa.",
        "token=",
        "password:",
        "password: \"",
        "password=\\\"",
        "://a:b",
        "<private>",
        "<pri<private>",
        "-----BEGIN PRIVATE KEY-----",
        "bearer ",
        "AKIA",
        " -u a:",
        "authorization: ",
        "A1b",
        "A1b/",
        "MTA1.",
        "mysql ",
        "\\",
        "\"",
        "token:a,",
        "_key_key",
        "https://x.y?token=",
        "sg.a.",
        "api key is ",
        "secret=>",
        "é",
        "token: &str ",
        "`<private>`",
        "bearer+",
        "xoxb-word-",
        "?sig=word-",
    ];
    let time = |piece: &str, size: usize| {
        let text = piece.repeat(size / piece.len());
        let start = Instant::now();
        redact(&text);
        start.elapsed()
    };
    for piece in pieces {
        for glue in ["", " ", "\n"] {
            let piece = format!("{piece}{glue}");
            let (once, fourfold) = (time(&piece, 20_000), time(&piece, 80_000));
            // Linear is 4, quadratic 16; the rest allows for noise.
            let limit = once * 9 + Duration::from_millis(300);
            assert!(fourfold < limit, "{piece:?}: {once:?}, four times as much: {fourfold:?}");
        }
    }
}

/// Text that combines keywords, quotes, secrets and plain characters in many ways.
fn hostile_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        proptest::sample::select(vec![
            "password",
            "token",
            "_KEY",
            "secret",
            "auth\"",
            "=",
            ": ",
            ":",
            "\"",
            "'",
            "`",
            "\\",
            "\\\"",
            "\\n",
            "\n",
            " ",
            "/",
            "?",
            "&",
            "@",
            "://",
            "user:pw@",
            "Bearer ",
            "Basic ",
            "authorization",
            "sk-",
            "sk-ant-",
            "ghp_",
            "AKIA",
            "eyJ",
            ".eyJ",
            "SG.",
            "xoxb-",
            "<private>",
            "</private>",
            "-----BEGIN RSA PRIVATE KEY-----",
            "-----END RSA PRIVATE KEY-----",
            "[REDACTED:token]",
            "[REDACTED:",
            "curl -u ",
            "is ",
            "hunter2",
            "é",
            "𝄞",
            "…",
            "%",
            "${",
            "machine a login b password ",
            "x-amz-signature=",
            ":AA",
            "1",
            "SK",
        ])
        .prop_map(str::to_owned),
        "[A-Za-z0-9+/_-]{1,60}",
        "[a-f0-9]{30,66}",
        "\\PC{0,8}",
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_text_panics(text in any::<String>()) {
        redact(&text);
    }

    #[test]
    fn redacting_twice_equals_redacting_once(text in hostile_text()) {
        let (once, _) = redact(&text);
        let (twice, found) = redact(&once);
        prop_assert_eq!(&once, &twice);
        prop_assert!(found.is_empty());
    }

    #[test]
    fn planted_secret_never_survives(before in hostile_text(), after in hostile_text(), seed in any::<u64>()) {
        let secret = format!("ghp_{}", random(BASE62, 36, seed));
        let (out, _) = redact(&format!("{before} {secret} {after}"));
        prop_assert!(!out.contains(&secret));
    }
}
