//! A text that is looked for, whatever its case and however its accents are written.

use serde_json::Value;
use unicode_normalization::{UnicodeNormalization, is_nfc};

/// What stands in an archive whatever happened.
const OF_EVERY_ARCHIVE: [&str; 6] = ["id", "agent", "externalId", "source", "startedAt", "endedAt"];

/// A text to be found in others, however they are capitalised and their accents written.
#[derive(Clone, Debug)]
pub struct Needle(String);

impl Needle {
    /// Nothing for a text without any character that is seen.
    pub fn new(text: &str) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self(plain(text)))
    }

    /// Whether a text contains it.
    pub fn is_in(&self, text: &str) -> bool {
        if self.0.is_ascii() {
            let needle = self.0.as_bytes();
            return text.as_bytes().windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle));
        }
        !text.is_ascii() && plain(text).contains(&self.0)
    }

    /// Whether a value in a JSON text contains it; names of fields do not count. What is no JSON is a text.
    pub fn is_in_json(&self, text: &str) -> bool {
        serde_json::from_str(text).map_or_else(|_| self.is_in(text), |value: Value| self.is_in_value(&value))
    }

    /// Whether what an archive tells contains it; ids, times and the agent's name are told of every one.
    pub fn is_in_archive(&self, text: &str) -> bool {
        let Ok(Value::Object(fields)) = serde_json::from_str(text) else { return self.is_in_json(text) };
        fields.iter().filter(|(name, _)| !OF_EVERY_ARCHIVE.contains(&name.as_str())).any(|(_, value)| match value {
            Value::Array(all) => all.iter().any(|one| self.is_in_value(one.get("text").unwrap_or(one))),
            one => self.is_in_value(one),
        })
    }

    fn is_in_value(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.is_in(text),
            Value::Array(all) => all.iter().any(|one| self.is_in_value(one)),
            Value::Object(fields) => fields.values().any(|one| self.is_in_value(one)),
            _ => false,
        }
    }
}

/// A text in small letters, each in one piece with its accents.
fn plain(text: &str) -> String {
    if is_nfc(text) { text.to_lowercase() } else { text.nfc().collect::<String>().to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_does_not_matter_and_fields_have_no_say() {
        assert!(Needle::new(" \n").is_none());
        let needle = Needle::new("Straße 7").unwrap();
        assert!(needle.is_in("in der STRAßE 7") && !needle.is_in("strasse 7"));
        let needle = Needle::new("say \"HI\"").unwrap();
        assert!(needle.is_in("SAY \"hi\" now"));
        assert!(needle.is_in_json(r#"{"a":["say \"hi\""]}"#));
        assert!(!Needle::new("tokens").unwrap().is_in_json(r#"{"tokens":"7"}"#));
        assert!(Needle::new("tokens").unwrap().is_in_json("tokens {"), "no JSON");
    }

    #[test]
    fn what_every_archive_has_is_not_what_it_tells() {
        let archive = r#"{"agent":"claude-code","startedAt":"2026-03-02","task":"ship it",
            "notes":[{"at":"2026-03-03","text":"ask Jane"}],"files":["src/cart.rs"]}"#;
        let is_in = |text: &str| Needle::new(text).unwrap().is_in_archive(archive);
        assert!(is_in("ship") && is_in("jane") && is_in("cart"));
        assert!(!is_in("claude") && !is_in("2026"));
    }

    #[test]
    fn accents_are_the_same_in_one_piece_and_in_two() {
        let (one, two) = ("Caf\u{e9}", "cafe\u{301}");
        for (needle, text) in [(one, two), (two, one), (one, one), (two, two)] {
            assert!(Needle::new(needle).unwrap().is_in(&format!("in the {text} at noon")), "{needle} in {text}");
        }
        assert!(!Needle::new(one).unwrap().is_in("in the cafe at noon"));
    }
}
