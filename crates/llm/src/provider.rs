//! Whose way of speaking an endpoint understands. Many others understand the one of `OpenAI`.

use std::fmt;
use std::str::FromStr;

/// A way of speaking to models over HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provider {
    /// The Messages API of Anthropic.
    Anthropic,
    /// Chat completions of `OpenAI`, which local servers and many others speak too.
    OpenAi,
    /// `generateContent` of Google.
    Gemini,
}

impl Provider {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Anthropic, Self::OpenAi, Self::Gemini];

    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
        }
    }

    /// Where the provider itself answers.
    pub const fn default_base(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com",
            Self::OpenAi => "https://api.openai.com/v1",
            Self::Gemini => "https://generativelanguage.googleapis.com",
        }
    }

    /// The environment variable its users keep the key in.
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
            format!("{:?} is none of anthropic, openai, gemini", text.chars().take(40).collect::<String>())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_provider_is_named_by_one_word() {
        for provider in Provider::ALL {
            assert_eq!(provider.to_string().parse(), Ok(provider));
        }
        assert_eq!("mistral".parse::<Provider>(), Err("\"mistral\" is none of anthropic, openai, gemini".to_owned()));
    }
}
