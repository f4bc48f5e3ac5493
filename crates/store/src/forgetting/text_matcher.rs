//! Finds a text in other texts, ignoring case and how accents are encoded.

use serde_json::Value;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// Fields of an archive that every archive has and that say nothing about its content.
const COMMON_ARCHIVE_FIELDS: [&str; 9] =
    ["id", "agent", "externalId", "source", "startedAt", "endedAt", "cwd", "project", "state"];

/// A text to find in others, in lowercase and Unicode normal form C.
#[derive(Clone, Debug)]
pub struct TextMatcher(String);

impl TextMatcher {
    /// None for blank text.
    pub fn new(text: &str) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self(normalize(text)))
    }

    /// Whether `text` contains it.
    pub fn matches(&self, text: &str) -> bool {
        if self.0.is_ascii() {
            let needle = self.0.as_bytes();
            return text.as_bytes().windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle));
        }
        !text.is_ascii() && normalize(text).contains(&self.0)
    }

    /// Whether a value in a JSON document contains it; field names are not searched. Text that is not valid JSON is
    /// searched as plain text.
    pub fn matches_json(&self, text: &str) -> bool {
        serde_json::from_str(text).map_or_else(|_| self.matches(text), |value: Value| self.is_in_value(&value))
    }

    /// Whether the content of an archive contains it; ids, times and the agent's name are not searched.
    pub fn matches_archive(&self, text: &str) -> bool {
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return self.matches_json(text) };
        fields.iter().filter(|(name, _)| !COMMON_ARCHIVE_FIELDS.contains(&name.as_str())).any(
            |(_, value)| match value {
                Value::Array(all) => all.iter().any(|one| self.is_in_value(one.get("text").unwrap_or(one))),
                one => self.is_in_value(one),
            },
        )
    }

    fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.matches(text),
            Value::Array(all) => all.iter().any(|one| self.is_in_value(one)),
            Value::Object(fields) => fields.values().any(|one| self.is_in_value(one)),
            _ => false,
        }
    }
}

fn normalize(text: &str) -> String {
    if is_nfc(text) { text.to_lowercase() } else { text.nfc().collect::<String>().to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_is_ignored_and_field_names_are_not_searched() {
        assert!(TextMatcher::new(" \n").is_none());
        let needle = TextMatcher::new("Straße 7").unwrap();
        assert!(needle.matches("in der STRAßE 7") && !needle.matches("strasse 7"));
        let needle = TextMatcher::new("say \"HI\"").unwrap();
        assert!(needle.matches("SAY \"hi\" now"));
        assert!(needle.matches_json(r#"{"a":["say \"hi\""]}"#));
        assert!(!TextMatcher::new("tokens").unwrap().matches_json(r#"{"tokens":"7"}"#));
        assert!(TextMatcher::new("tokens").unwrap().matches_json("tokens {"), "not valid JSON");
    }

    #[test]
    fn common_archive_fields_are_not_searched() {
        let archive = r#"{"agent":"claude-code","startedAt":"2026-03-02","task":"ship it",
            "notes":[{"at":"2026-03-03","text":"ask Jane"}],"files":["src/cart.rs"]}"#;
        let is_in = |text: &str| TextMatcher::new(text).unwrap().matches_archive(archive);
        assert!(is_in("ship") && is_in("jane") && is_in("cart"));
        assert!(!is_in("claude") && !is_in("2026"));
    }

    #[test]
    fn composed_and_decomposed_accents_are_equal() {
        let (composed, decomposed) = ("Caf\u{e9}", "cafe\u{301}");
        for (needle, text) in
            [(composed, decomposed), (decomposed, composed), (composed, composed), (decomposed, decomposed)]
        {
            assert!(TextMatcher::new(needle).unwrap().matches(&format!("in the {text} at noon")), "{needle} in {text}");
        }
        assert!(!TextMatcher::new(composed).unwrap().matches("in the cafe at noon"));
    }
}
