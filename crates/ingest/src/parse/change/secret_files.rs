//! Edits that must not be kept, because what they change is a secret even if no rule of redaction knows its form.

use std::sync::LazyLock;

use regex::Regex;

/// Whether the files or the text of an edit hold secrets.
pub(in crate::parse) fn may_hold_secret(paths: &[String], change: &str) -> bool {
    static KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)(?:pass(?:word|wd|phrase|code)|secret|token|api[_-]?key|credential|private[_-]?key|auth[_-]?key)s?[a-z0-9_-]*[\x22'`]?\s*(?:[:=]|→|$)")
            .ok()
    });
    paths.iter().any(|path| is_secret_file(path)) || KEY.as_ref().is_none_or(|key| key.is_match(change))
}

/// Whether a file holds secrets, by its name.
pub(crate) fn is_secret_file(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path).to_ascii_lowercase();
    let ends = [".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".tfvars", ".kdbx", ".asc", ".gpg", ".env"];
    let starts = [
        ".env",
        ".npmrc",
        ".netrc",
        ".pypirc",
        ".pgpass",
        ".htpasswd",
        "id_",
        "credentials",
        "secrets",
        "secret.",
        "service-account",
    ];
    ends.iter().any(|end| name.ends_with(end)) || starts.iter().any(|start| name.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_files_and_keys_are_recognized() {
        let none: &[String] = &[];
        for path in ["/app/.env.local", "deploy/prod.tfvars", "k.pem", "C:\\x\\.npmrc", "config/secrets.yml"] {
            assert!(may_hold_secret(&[path.to_owned()], "a → b"), "{path}");
        }
        for change in [
            "password: x → password: y",
            "API_TOKEN=one → API_TOKEN=two",
            "const dbPassword =",
            "\"client_secret\": \"a\"",
        ] {
            assert!(may_hold_secret(none, change), "{change}");
        }
        for change in ["max: 5 → max: 20", "tokenize(text) → tokenize(line)", "import { useToken }", "retries = 3"]
        {
            assert!(!may_hold_secret(&["src/db.ts".to_owned()], change), "{change}");
        }
    }
}
