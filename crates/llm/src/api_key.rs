//! API key of a model provider. It is sent in a header and never printed.

use crate::{ChatError, Provider};

/// A secret API key. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct ApiKey(String);

impl ApiKey {
    /// Trims and accepts a key of printable ASCII characters, which an HTTP header can carry.
    pub fn parse(text: &str) -> Result<Self, ChatError> {
        let text = text.trim();
        let fits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
        if fits { Ok(Self(text.to_owned())) } else { Err(ChatError::InvalidKey) }
    }

    /// Name and value of the header in which this provider expects the key.
    pub(crate) fn header(&self, provider: Provider) -> (&'static str, String) {
        match provider {
            Provider::Anthropic => ("x-api-key", self.0.clone()),
            Provider::OpenAi => ("authorization", format!("Bearer {}", self.0)),
            Provider::Gemini => ("x-goog-api-key", self.0.clone()),
        }
    }

    /// Replaces the key in a server's text with `[key]`.
    pub(crate) fn redact(&self, text: &str) -> String {
        text.replace(&self.0, "[key]")
    }
}

impl std::fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_never_printed_and_must_fit_into_a_header() {
        let key = ApiKey::parse(" abc-123\n");
        assert_eq!(format!("{key:?}"), "Ok(ApiKey(…))");
        assert!(ApiKey::parse("two\nlines").is_err());
        assert!(ApiKey::parse(" ").is_err());
    }
}
