//! The supported model APIs. Many other providers and local servers are compatible with the `OpenAI` API.

use std::fmt;
use std::str::FromStr;

/// An HTTP API for models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// Anthropic Messages API.
    Anthropic,
    /// `OpenAI` chat completions, also used by local servers and many other providers.
    OpenAi,
    /// Google `generateContent`.
    Gemini,
}

impl Provider {
    /// All supported APIs.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Gemini];

    /// Name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }

    /// Base URL of the provider's own API.
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// Environment variable that usually holds the provider's API key.
    pub const fn key_variable(self) -> &'static str {
        match self {
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::OpenAi => "OPENAI_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Provider {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|provider| provider.as_str() == text.trim());
        found.ok_or_else(|| {
            format!("invalid provider {:?}: use anthropic, openai or gemini", text.chars().take(40).collect::<String>())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn provider_names_are_parsed() {
        for provider in Provider::ALL {
            assert_eq!(provider.to_string().parse(), Ok(provider));
        }
        assert_eq!(
            "mistral".parse::<Provider>(),
            Err("invalid provider \"mistral\": use anthropic, openai or gemini".to_owned())
        );
    }
}
