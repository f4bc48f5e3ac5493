//! A text that is looked for, whatever its case.

use serde_json::Value;

/// A text to be found in others, however they are capitalised.
#[derive(Clone, Debug)]
pub struct Needle(String);

impl Needle {
    /// Nothing for a text without any character that is seen.
    pub fn new(text: &str) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self(text.to_lowercase()))
    }

    /// Whether a text contains it.
    pub fn is_in(&self, text: &str) -> bool {
        if self.0.is_ascii() {
            let needle = self.0.as_bytes();
            return text.as_bytes().windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle));
        }
        text.to_lowercase().contains(&self.0)
    }

    /// Whether a value in a JSON text contains it; names of fields do not count. What is no JSON is a text.
    pub fn is_in_json(&self, text: &str) -> bool {
        serde_json::from_str(text).map_or_else(|_| self.is_in(text), |value: Value| self.is_in_value(&value))
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
}
