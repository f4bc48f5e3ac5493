//! What the settings say about cards, and what is wrong with them.

use rethread_llm::{ChatLimits, Provider};

use crate::model::{Model, ModelError};
use crate::{Config, Engine};

/// What is wrong with the settings of cards; then no model writes any (S001-12, L001-03).
pub(crate) fn problem_in(config: &Config) -> Option<String> {
    let command = config.text("cards.command_name");
    let is_word = !command.is_empty() && command.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if !is_word {
        return Some(format!("cards.command_name must be one word, not {command:?}"));
    }
    let keys = config.list("cards.model_keys");
    let bad = keys.iter().find(|key| named(key).is_none())?;
    Some(format!(
        "cards.model_keys must name models as provider/model, such as anthropic/claude-haiku-4-5, not {bad:?}"
    ))
}

impl Engine {
    /// Why no model may write cards, if so.
    pub(super) fn cards_are_off(&self) -> Option<String> {
        if !self.config.flag("cards.enabled") {
            return Some("cards.enabled is false".to_owned());
        }
        problem_in(&self.config)
    }

    /// Whether any model is named that could write cards. It may still lack a key.
    pub(super) fn names_card_model(&self) -> bool {
        !self.config.list("cards.model_keys").is_empty() || !self.model_name().is_empty()
    }

    /// The model that writes cards: the chosen one, else the first of the list that can be used, else the configured
    /// one. Whoever waits can ask again, so nothing is repeated by itself (S001-10).
    pub(super) fn card_model(&self, chosen: Option<&str>) -> Result<Model, ModelError> {
        let limits = ChatLimits { retries: 0, ..ChatLimits::PATIENT };
        if let Some(chosen) = chosen {
            return match named(chosen) {
                Some((provider, name)) => self.model_of(provider, name, limits),
                None => self.model(Some(chosen), limits),
            };
        }
        let keys = self.config.list("cards.model_keys");
        let mut models =
            keys.iter().filter_map(|key| named(key)).map(|(provider, name)| self.model_of(provider, name, limits));
        let Some(first) = models.next() else { return self.model(None, limits) };
        // Where none can be used, the one that was wanted most says why.
        first.or_else(|error| models.find_map(Result::ok).ok_or(error))
    }
}

/// A model by provider and name.
fn named(key: &str) -> Option<(Provider, &str)> {
    let (provider, name) = key.trim().split_once('/')?;
    let provider = provider.parse().ok()?;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some((provider, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn l001_03_a_model_is_named_with_its_provider() {
        assert_eq!(named("anthropic/claude-haiku-4-5"), Some((Provider::Anthropic, "claude-haiku-4-5")));
        assert_eq!(named("openai/meta/llama"), Some((Provider::OpenAi, "meta/llama")));
        for bad in ["claude-haiku-4-5", "anthropic/", "nobody/x", "", "openai/a b"] {
            assert_eq!(named(bad), None, "{bad}");
        }
    }
}
