//! The language model the user configured. Without one everything works all the same.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rethread_llm::{ChatError, ChatLimits, ChatModel, Key, Price, Provider, built_in_price};

use crate::Engine;

/// Longer files hold something else than a key.
const LONGEST_KEY: u64 = 64 * 1024;

/// Why there is no model to ask.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// Nobody configured one.
    #[error("no language model is configured")]
    NotConfigured,
    /// The variable with the key is not set.
    #[error("the key to the model is not there: ${0} is not set")]
    NoKey(String),
    /// The file with the key cannot be used.
    #[error("the key file {} cannot be used: {reason}", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The settings make no sense to the client.
    #[error(transparent)]
    Chat(#[from] ChatError),
}

/// A model, and how much it holds.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) chat: ChatModel,
    pub(crate) window: u64,
    pub(crate) max_output_tokens: u64,
}

impl Engine {
    /// The name of the configured model; empty if there is none.
    pub fn model_name(&self) -> &str {
        if self.config.text("model.provider") == "none" { "" } else { self.config.text("model.name") }
    }

    /// The configured model, or another one of the same provider.
    pub(crate) fn model(&self, chosen: Option<&str>, limits: ChatLimits) -> Result<Model, ModelError> {
        let config = &self.config;
        let provider: Provider = config.text("model.provider").parse().map_err(|_| ModelError::NotConfigured)?;
        let name = chosen.filter(|name| !name.is_empty()).unwrap_or_else(|| self.model_name());
        if name.is_empty() {
            return Err(ModelError::NotConfigured);
        }
        self.model_of(provider, name, limits)
    }

    /// A model of any provider. The configured endpoint, key and price are for the configured one only.
    pub(crate) fn model_of(&self, provider: Provider, name: &str, limits: ChatLimits) -> Result<Model, ModelError> {
        let config = &self.config;
        let is_configured = config.text("model.provider") == provider.as_str();
        let own = if is_configured { config.text("model.endpoint") } else { "" };
        let base = if own.is_empty() { provider.default_base() } else { own };
        let key = if is_configured { self.model_key(provider, own.is_empty())? } else { self.usual_key(provider)? };
        let price = self.price(provider, name, base);
        let chat = ChatModel::new(provider, base, name, key, price, limits)?;
        let window = config.number("model.window").max(1);
        let max_output_tokens = config.number("model.max_output_tokens").clamp(1, window);
        Ok(Model { chat, window, max_output_tokens })
    }

    /// The key in the provider's usual variable.
    fn usual_key(&self, provider: Provider) -> Result<Option<Key>, ModelError> {
        let name = provider.key_variable();
        let value = self.environment.variables.iter().find(|(variable, value)| variable == name && !value.is_empty());
        let (_, value) = value.ok_or_else(|| ModelError::NoKey(name.to_owned()))?;
        Ok(Some(Key::parse(value)?))
    }

    /// The key, from a file or a variable. A server of one's own may need none.
    fn model_key(&self, provider: Provider, is_required: bool) -> Result<Option<Key>, ModelError> {
        let file = self.config.text("model.key_file");
        if !file.is_empty() {
            return self.key_from_file(file).map(Some);
        }
        let named = self.config.text("model.key_env");
        let name = if named.is_empty() { provider.key_variable() } else { named };
        let value = self.environment.variables.iter().find(|(variable, value)| variable == name && !value.is_empty());
        match value {
            Some((_, value)) if !named.is_empty() || is_required => Ok(Some(Key::parse(value)?)),
            // A provider's own key is not for somebody else's server.
            Some(_) => Ok(None),
            None if named.is_empty() && !is_required => Ok(None),
            None => Err(ModelError::NoKey(name.to_owned())),
        }
    }

    fn key_from_file(&self, file: &str) -> Result<Key, ModelError> {
        let path = self.surroundings().expand(file);
        let unusable = |reason: String| ModelError::KeyFile { path: path.clone(), reason };
        let about = std::fs::metadata(&path).map_err(|error| unusable(error.to_string()))?;
        if about.permissions().mode() & 0o077 != 0 {
            return Err(unusable("others can read it; run chmod 600 on it".to_owned()));
        }
        if !about.is_file() || about.len() > LONGEST_KEY {
            return Err(unusable("it is no file with a key".to_owned()));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| unusable(error.to_string()))?;
        Key::parse(&text).map_err(|error| unusable(error.to_string()))
    }

    /// What tokens cost: as configured, else by the table. A model on this machine costs nothing.
    fn price(&self, provider: Provider, name: &str, base: &str) -> Option<Price> {
        let table = if base == provider.default_base() { built_in_price(provider, name) } else { None };
        let known = table.or(rethread_llm::is_local(base).then_some(Price::FREE));
        // The configured price is that of the configured model, not of one that was chosen for a thread.
        if name != self.model_name() || self.config.text("model.provider") != provider.as_str() {
            return known;
        }
        let (input, output) = (self.config.money("model.price_input"), self.config.money("model.price_output"));
        if input.is_none() && output.is_none() {
            return known;
        }
        // Half a price is none: the other half must not be free.
        let input = input.or(known.map(|price| price.input))?;
        let output = output.or(known.map(|price| price.output))?;
        Some(Price { input, output, cache_read: input, cache_write: input })
    }
}
