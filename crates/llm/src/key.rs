//! The key to a model. It can be sent, and in no other way be seen.

use crate::{ChatError, Provider};

/// A secret that is sent in a header.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// Takes a key if a header can carry it.
    pub fn parse(text: &str) -> Result<Self, ChatError> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(ChatError::Key) }
    }

    /// The header this provider wants it in: name and value.
    pub(crate) fn header(&self, provider: Provider) -> (&'static str, String) {
        match provider {
            Provider::Anthropic => ("x-api-key", self.0.clone()),
            Provider::OpenAi => ("authorization", format!("Bearer {}", self.0)),
            Provider::Gemini => ("x-goog-api-key", self.0.clone()),
        }
    }

    /// Takes the key out of what a server wrote.
    pub(crate) fn remove_from(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_shown_and_must_fit_into_a_header() {
        let key = Key::parse(" abc-123\n");
        assert_eq!(format!("{key:?}"), "Ok(Key(…))");
        assert!(Key::parse("two\nlines").is_err());
        assert!(Key::parse(" ").is_err());
    }
}
