//! Talks to a model: asks, listens, and has every request admitted and settled by a meter.

mod anthropic;
mod gathered;
mod gemini;
mod openai;
mod request;
mod sse;
mod stream;
mod structured;
mod wire;

use rethread_model::Tokens;

pub use request::{Answer, ChatLimits, JsonShape, Piece, Request, Streamed, Structured, Tool};

use crate::http::{Client, Failed, Outcome, metered, with_retries};
use crate::{ChatError, Endpoint, Key, Meter, NanoUsd, Planned, Price, Provider, prices};
use gathered::Gathered;
use wire::{Asked, Format, Manner};

/// Bytes of an answer that are read.
const LONGEST_ANSWER: u64 = 8 << 20;

/// A model that can be talked to. Making one connects to nothing.
#[derive(Debug)]
pub struct ChatModel {
    client: Client,
    provider: Provider,
    /// Where whole answers are asked for.
    whole: Endpoint,
    /// Where answers are asked for that come piece by piece.
    streamed: Endpoint,
    model: String,
    price: Option<Price>,
}

impl ChatModel {
    /// A model of a provider. The base is one such as [`Provider::default_base`], or the whole address.
    pub fn new(
        provider: Provider,
        base: &str,
        model: &str,
        key: Option<Key>,
        price: Option<Price>,
        limits: ChatLimits,
    ) -> Result<Self, ChatError> {
        let (whole, streamed) = endpoints(provider, base, model)?;
        let model = model.to_owned();
        Ok(Self { client: Client::new(provider, key, limits), provider, whole, streamed, model, price })
    }

    /// Its name.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Whose way of speaking it understands.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// What it costs, if that is known.
    pub fn price(&self) -> Option<Price> {
        self.price
    }

    /// Where it is, without what may be secret in it.
    pub fn endpoint(&self) -> String {
        self.whole.to_string()
    }

    /// The most a request would take. Nothing is sent.
    pub fn planned(&self, request: &Request) -> Planned {
        self.plan(&self.body(request, Format::Free, Manner::Whole), request)
    }

    /// Asks, and waits for the whole answer.
    pub fn complete(&self, request: &Request, meter: &dyn Meter) -> Result<Answer, ChatError> {
        self.complete_as(request, Format::Free, meter)
    }

    fn complete_as(&self, request: &Request, format: Format<'_>, meter: &dyn Meter) -> Result<Answer, ChatError> {
        let body = self.body(request, format, Manner::Whole);
        let planned = self.plan(&body, request);
        with_retries(self.client.limits().retries, &|| false, || {
            metered(
                meter,
                &planned,
                |tokens| self.cost(tokens),
                || {
                    let answer = self.client.post(&self.whole, &body, LONGEST_ANSWER)?;
                    let mut gathered = Gathered::new(&request.messages);
                    wire::read(self.provider, &answer, &mut gathered, &mut |_| {})
                        .map_err(|reason| Failed::for_good(self.client.unusable(&self.whole, &reason)))?;
                    let answer = gathered.finished(&self.model);
                    Ok(Outcome { tokens: answer.usage, said: answer.estimated_tokens(), value: answer, error: None })
                },
            )
        })
    }

    fn body(&self, request: &Request, format: Format<'_>, manner: Manner) -> Vec<u8> {
        let is_original = self.whole.is_at("api.openai.com");
        wire::body(self.provider, &Asked { model: &self.model, request, format, manner, is_original })
    }

    fn plan(&self, body: &[u8], request: &Request) -> Planned {
        let tokens = Tokens {
            input: crate::generous_tokens(body.len()),
            output: request.max_output_tokens,
            ..Tokens::default()
        };
        Planned {
            provider: self.provider,
            model: self.model.clone(),
            purpose: request.purpose,
            input_tokens: tokens.input,
            output_tokens: tokens.output,
            cost: self.cost(tokens),
        }
    }

    fn cost(&self, tokens: Tokens) -> Option<NanoUsd> {
        let prompt = tokens.input.saturating_add(tokens.cache_read).saturating_add(tokens.cache_write);
        Some(prices::price_for(self.provider, &self.model, self.price?, prompt).cost(tokens))
    }
}

/// Where whole answers are asked for, and where streams.
fn endpoints(provider: Provider, base: &str, model: &str) -> Result<(Endpoint, Endpoint), ChatError> {
    let same = |endpoint: Endpoint| (endpoint.clone(), endpoint);
    match provider {
        Provider::Anthropic => Endpoint::at(base, "/v1/messages").map(same),
        Provider::OpenAi => Endpoint::at(base, "/chat/completions").map(same),
        Provider::Gemini => {
            let model = model.strip_prefix("models/").unwrap_or(model);
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            // The name becomes part of the path.
            if model.is_empty() || !model.bytes().all(fits) {
                let reason = "the model's name has signs that do not fit into it";
                return Err(ChatError::Endpoint { endpoint: provider.as_str().to_owned(), reason });
            }
            let whole = Endpoint::at(base, &format!("/v1beta/models/{model}:generateContent"))?;
            let streamed = Endpoint::at(base, &format!("/v1beta/models/{model}:streamGenerateContent"))?;
            Ok((whole, streamed.with_query("alt=sse")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(provider: Provider, base: &str, model: &str, whole: &str, streamed: &str) {
        let (told, along) = endpoints(provider, base, model).unwrap();
        assert_eq!((told.url(), along.url()), (whole, streamed), "{base}");
    }

    #[test]
    fn every_provider_has_its_address() {
        let messages = "https://api.anthropic.com/v1/messages";
        check(Provider::Anthropic, Provider::Anthropic.default_base(), "claude", messages, messages);
        let completions = "https://api.openai.com/v1/chat/completions";
        check(Provider::OpenAi, Provider::OpenAi.default_base(), "gpt", completions, completions);
        check(Provider::OpenAi, completions, "gpt", completions, completions);
        let models = "https://generativelanguage.googleapis.com/v1beta/models";
        check(
            Provider::Gemini,
            Provider::Gemini.default_base(),
            "models/gemini-2.5-pro",
            &format!("{models}/gemini-2.5-pro:generateContent"),
            &format!("{models}/gemini-2.5-pro:streamGenerateContent?alt=sse"),
        );
    }

    #[test]
    fn several_threads_may_talk_to_one_model() {
        fn check<T: Send + Sync>() {}
        check::<ChatModel>();
        check::<ChatError>();
    }

    #[test]
    fn a_name_that_would_change_the_path_is_refused() {
        for model in ["", "a/b", "../x", "x?y", "x y", "x#"] {
            assert!(endpoints(Provider::Gemini, "https://example.com", model).is_err(), "{model}");
        }
    }
}
