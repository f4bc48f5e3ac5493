//! Card settings: validation and the choice of model.

use rethread_llm::{ChatLimits, Provider};

use crate::models::{ConfiguredModel, ModelError};
use crate::{CardService, Settings};

/// The first invalid card setting. While there is one, no model writes cards (S001-12, L001-03).
pub(crate) fn config_problem(settings: &Settings) -> Option<String> {
    let command = &settings.cards.command_name;
    let is_word = !command.is_empty() && command.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !is_word {
        return Some(format!("invalid cards.command_name {command:?}: use one word"));
    }
    let bad = settings.cards.model_keys.iter().find(|key| parse_model_key(key).is_none())?;
    Some(format!("invalid model {bad:?} in cards.model_keys: use provider/model, such as anthropic/claude-haiku-4-5"))
}

impl CardService<'_> {
    /// The reason why no model may write cards, or `None` if one may.
    pub(super) fn disabled_reason(self) -> Option<String> {
        if !self.engine.settings().cards.enabled {
            return Some("cards.enabled is false".to_owned());
        }
        config_problem(self.engine.settings())
    }

    /// Whether a card model is configured. Its API key may still be missing.
    pub(super) fn has_model(self) -> bool {
        !self.engine.settings().cards.model_keys.is_empty() || !self.engine.settings().model.usable_name().is_empty()
    }

    /// The model that writes cards: `chosen`, else the first usable one of `cards.model_keys`, else the configured
    /// model. No retries, because the caller can ask again (S001-10).
    pub(super) fn model(self, chosen: Option<&str>) -> Result<ConfiguredModel, ModelError> {
        let limits = ChatLimits { retries: 0, ..ChatLimits::BACKGROUND };
        if let Some(chosen) = chosen {
            return match parse_model_key(chosen) {
                Some((provider, name)) => self.engine.models().of_provider(provider, name, limits),
                None => self.engine.models().configured(Some(chosen), limits),
            };
        }
        let keys = &self.engine.settings().cards.model_keys;
        let mut models = keys
            .iter()
            .filter_map(|key| parse_model_key(key))
            .map(|(provider, name)| self.engine.models().of_provider(provider, name, limits));
        let Some(first) = models.next() else { return self.engine.models().configured(None, limits) };
        // If none is usable, report the error of the most preferred one.
        first.or_else(|error| models.find_map(Result::ok).ok_or(error))
    }
}

/// Splits `provider/model`.
fn parse_model_key(key: &str) -> Option<(Provider, &str)> {
    let (provider, name) = key.trim().split_once('/')?;
    let provider = provider.parse().ok()?;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some((provider, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_key_names_provider_and_model() {
        // L001-03
        assert_eq!(parse_model_key("anthropic/claude-haiku-4-5"), Some((Provider::Anthropic, "claude-haiku-4-5")));
        assert_eq!(parse_model_key("openai/meta/llama"), Some((Provider::OpenAi, "meta/llama")));
        for bad in ["claude-haiku-4-5", "anthropic/", "nobody/x", "", "openai/a b"] {
            assert_eq!(parse_model_key(bad), None, "{bad}");
        }
    }
}
