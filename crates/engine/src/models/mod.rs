//! The configured language model. Everything also works without one.

mod budget;

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use rethread_llm::{ApiKey, ChatError, ChatLimits, ChatModel, ChatRequest, Price, Provider, built_in_price};
use rethread_model::OWN_CALL_TAG;
use rethread_model::thread::ChatMessage;

use crate::ModelService;

pub use budget::BudgetStatus;
pub(crate) use budget::LedgerMeter;

/// A larger file is certainly not a key.
const MAX_KEY_FILE_BYTES: u64 = 64 * 1024;

/// Why no model can be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    /// No model is configured.
    #[error("no language model configured")]
    NotConfigured,
    /// The environment variable with the key is not set.
    #[error("missing API key: ${0} is not set")]
    MissingKey(String),
    /// The file with the key cannot be used.
    #[error("cannot use the key file {}: {reason}", path.display())]
    KeyFile {
        /// The path from `model.key_file`.
        path: PathBuf,
        /// Why it cannot be used.
        reason: String,
    },
    /// The client rejects the settings.
    #[error(transparent)]
    Chat(#[from] ChatError),
}

/// A request we make for ourselves. The tag keeps a transcript of it from being read as a session.
pub(crate) fn own_request(
    purpose: &'static str,
    system: &str,
    prompt: impl Into<String>,
    max_output_tokens: u64,
) -> ChatRequest {
    ChatRequest {
        system: Some(format!("{OWN_CALL_TAG}\n{system}")),
        messages: vec![ChatMessage::user(prompt)],
        tools: Vec::new(),
        max_output_tokens,
        purpose,
    }
}

/// A model with its context window and output limit, both in tokens.
#[derive(Debug)]
pub(crate) struct ConfiguredModel {
    pub(crate) chat: ChatModel,
    pub(crate) window: u64,
    pub(crate) max_output_tokens: u64,
}

impl ModelService<'_> {
    /// The configured model, or another one of the same provider.
    pub(crate) fn configured(self, chosen: Option<&str>, limits: ChatLimits) -> Result<ConfiguredModel, ModelError> {
        let provider = self.engine.settings().model.provider.ok_or(ModelError::NotConfigured)?;
        let name = chosen.filter(|name| !name.is_empty()).unwrap_or_else(|| self.engine.settings().model.usable_name());
        if name.is_empty() {
            return Err(ModelError::NotConfigured);
        }
        self.of_provider(provider, name, limits)
    }

    /// A model of any provider. The configured endpoint, key and price apply only to the configured provider.
    pub(crate) fn of_provider(
        self,
        provider: Provider,
        name: &str,
        limits: ChatLimits,
    ) -> Result<ConfiguredModel, ModelError> {
        let settings = &self.engine.settings().model;
        let is_configured = settings.provider == Some(provider);
        let own = if is_configured { &settings.endpoint } else { "" };
        let base = if own.is_empty() { provider.default_base_url() } else { own };
        let key = if is_configured { self.key(provider, own.is_empty())? } else { self.default_key(provider)? };
        let price = self.price(provider, name, base);
        let chat = ChatModel::new(provider, base, name, key, price, limits)?;
        let max_output_tokens = settings.max_output_tokens.min(settings.window);
        Ok(ConfiguredModel { chat, window: settings.window, max_output_tokens })
    }

    /// The key in the provider's default environment variable.
    fn default_key(self, provider: Provider) -> Result<Option<ApiKey>, ModelError> {
        let name = provider.key_variable();
        let value = self.engine.environment.variable(name).filter(|value| !value.is_empty());
        let value = value.ok_or_else(|| ModelError::MissingKey(name.to_owned()))?;
        Ok(Some(ApiKey::parse(value)?))
    }

    /// The key, from a file or a variable. A self-hosted server may need none.
    fn key(self, provider: Provider, is_required: bool) -> Result<Option<ApiKey>, ModelError> {
        let file = &self.engine.settings().model.key_file;
        if !file.is_empty() {
            return self.key_from_file(file).map(Some);
        }
        let named = &self.engine.settings().model.key_env;
        let name = if named.is_empty() { provider.key_variable() } else { named };
        match self.engine.environment.variable(name).filter(|value| !value.is_empty()) {
            Some(value) if !named.is_empty() || is_required => Ok(Some(ApiKey::parse(value)?)),
            // A provider's own key must not be sent to another server.
            Some(_) => Ok(None),
            None if named.is_empty() && !is_required => Ok(None),
            None => Err(ModelError::MissingKey(name.to_owned())),
        }
    }

    fn key_from_file(self, file: &str) -> Result<ApiKey, ModelError> {
        let path = self.engine.source_config().expand_home(file);
        let unusable = |reason: String| ModelError::KeyFile { path: path.clone(), reason };
        let about = std::fs::metadata(&path).map_err(|error| unusable(error.to_string()))?;
        if about.permissions().mode() & 0o077 != 0 {
            return Err(unusable("other users can read it; run chmod 600 on it".to_owned()));
        }
        if !about.is_file() || about.len() > MAX_KEY_FILE_BYTES {
            return Err(unusable("it does not contain a key".to_owned()));
        }
        let text = std::fs::read_to_string(&path).map_err(|error| unusable(error.to_string()))?;
        ApiKey::parse(&text).map_err(|error| unusable(error.to_string()))
    }

    /// The price of tokens: as configured, else from the built-in table. A model on this machine is free.
    fn price(self, provider: Provider, name: &str, base: &str) -> Option<Price> {
        let table = if base == provider.default_base_url() { built_in_price(provider, name) } else { None };
        let known = table.or(rethread_llm::is_local_url(base).then_some(Price::FREE));
        // The configured price applies to the configured model, not to one chosen for a thread.
        let settings = &self.engine.settings().model;
        if name != settings.name || settings.provider != Some(provider) {
            return known;
        }
        let (input, output) = (settings.price_input, settings.price_output);
        if input.is_none() && output.is_none() {
            return known;
        }
        // With only one half of a price the other half must not count as free.
        let input = input.or(known.map(|price| price.input))?;
        let output = output.or(known.map(|price| price.output))?;
        Some(Price { input, output, cache_read: input, cache_write: input })
    }
}
