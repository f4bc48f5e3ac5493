//! Chat models: sends requests, reads answers, and has a meter admit and settle every request.

mod answer_builder;
mod anthropic;
mod gemini;
mod json_answer;
mod openai;
mod request;
mod sse;
mod stream;
mod wire;

use rethread_model::Tokens;

pub use request::{
    AnswerChunk, AnswerSchema, ChatAnswer, ChatLimits, ChatRequest, JsonAnswer, StreamedAnswer, ToolDefinition,
};

use crate::http::{FailedRequest, HttpClient, RequestOutcome, send_metered, with_retries};
use crate::{ApiKey, ChatError, Endpoint, Meter, NanoUsd, Price, Provider, RequestEstimate, prices};
use answer_builder::AnswerBuilder;
use wire::{AnswerFormat, DeliveryMode, RequestSpec};

/// Bytes of an answer that are read at most.
const MAX_ANSWER_BYTES: u64 = 8 << 20;

/// Client of one chat model. Creating it does not connect.
#[derive(Debug)]
pub struct ChatModel {
    client: HttpClient,
    provider: Provider,
    /// Used for complete answers.
    complete_endpoint: Endpoint,
    /// Used for streamed answers.
    stream_endpoint: Endpoint,
    model: String,
    price: Option<Price>,
}

impl ChatModel {
    /// Creates a client. `base` is a base URL such as [`Provider::default_base_url`], or the full URL.
    pub fn new(
        provider: Provider,
        base: &str,
        model: &str,
        key: Option<ApiKey>,
        price: Option<Price>,
        limits: ChatLimits,
    ) -> Result<Self, ChatError> {
        let (complete_endpoint, stream_endpoint) = endpoints(provider, base, model)?;
        let model = model.to_owned();
        Ok(Self {
            client: HttpClient::new(provider, key, limits),
            provider,
            complete_endpoint,
            stream_endpoint,
            model,
            price,
        })
    }

    /// Model name as configured.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// API the model is used through.
    pub fn provider(&self) -> Provider {
        self.provider
    }

    /// Price per million tokens, if known.
    pub fn price(&self) -> Option<Price> {
        self.price
    }

    /// URL without its query, which may contain a secret.
    pub fn endpoint(&self) -> String {
        self.complete_endpoint.to_string()
    }

    /// Upper estimate of what a request uses. Nothing is sent.
    pub fn estimate(&self, request: &ChatRequest) -> RequestEstimate {
        self.estimate_body(&self.body(request, AnswerFormat::Text, DeliveryMode::Complete), request)
    }

    /// Sends a request and waits for the complete answer.
    pub fn complete(&self, request: &ChatRequest, meter: &dyn Meter) -> Result<ChatAnswer, ChatError> {
        self.complete_with_format(request, AnswerFormat::Text, meter)
    }

    fn complete_with_format(
        &self,
        request: &ChatRequest,
        format: AnswerFormat<'_>,
        meter: &dyn Meter,
    ) -> Result<ChatAnswer, ChatError> {
        let body = self.body(request, format, DeliveryMode::Complete);
        let planned = self.estimate_body(&body, request);
        with_retries(self.client.limits().retries, &|| false, || {
            send_metered(
                meter,
                &planned,
                |tokens| self.cost(tokens),
                || {
                    let answer = self.client.post(&self.complete_endpoint, &body, MAX_ANSWER_BYTES)?;
                    let mut builder = AnswerBuilder::new(&request.messages);
                    wire::read_response(self.provider, &answer, &mut builder, &mut |_| {}).map_err(|reason| {
                        FailedRequest::permanent(self.client.invalid_response(&self.complete_endpoint, &reason))
                    })?;
                    let answer = builder.finish(&self.model);
                    Ok(RequestOutcome {
                        tokens: answer.usage,
                        estimated_output: answer.estimated_tokens(),
                        value: answer,
                        error: None,
                    })
                },
            )
        })
    }

    fn body(&self, request: &ChatRequest, format: AnswerFormat<'_>, manner: DeliveryMode) -> Vec<u8> {
        let is_original = self.complete_endpoint.has_host("api.openai.com");
        wire::body(
            self.provider,
            &RequestSpec { model: &self.model, request, format, delivery: manner, is_official_api: is_original },
        )
    }

    fn estimate_body(&self, body: &[u8], request: &ChatRequest) -> RequestEstimate {
        let tokens =
            Tokens { input: crate::max_tokens_in(body.len()), output: request.max_output_tokens, ..Tokens::default() };
        RequestEstimate {
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

/// Endpoints for complete and for streamed answers.
fn endpoints(provider: Provider, base: &str, model: &str) -> Result<(Endpoint, Endpoint), ChatError> {
    let same = |endpoint: Endpoint| (endpoint.clone(), endpoint);
    match provider {
        Provider::Anthropic => Endpoint::join(base, "/v1/messages").map(same),
        Provider::OpenAi => Endpoint::join(base, "/chat/completions").map(same),
        Provider::Gemini => {
            let model = model.strip_prefix("models/").unwrap_or(model);
            let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
            // The name becomes part of the URL path.
            if model.is_empty() || !model.bytes().all(fits) {
                let reason = "the model name contains characters that are not allowed in a URL path";
                return Err(ChatError::InvalidEndpoint { endpoint: provider.as_str().to_owned(), reason });
            }
            let whole = Endpoint::join(base, &format!("/v1beta/models/{model}:generateContent"))?;
            let streamed = Endpoint::join(base, &format!("/v1beta/models/{model}:streamGenerateContent"))?;
            Ok((whole, streamed.with_query("alt=sse")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(provider: Provider, base: &str, model: &str, whole: &str, streamed: &str) {
        let (complete, stream) = endpoints(provider, base, model).unwrap();
        assert_eq!((complete.url(), stream.url()), (whole, streamed), "{base}");
    }

    #[test]
    fn every_provider_has_its_endpoints() {
        let messages = "https://api.anthropic.com/v1/messages";
        check(Provider::Anthropic, Provider::Anthropic.default_base_url(), "claude", messages, messages);
        let completions = "https://api.openai.com/v1/chat/completions";
        check(Provider::OpenAi, Provider::OpenAi.default_base_url(), "gpt", completions, completions);
        check(Provider::OpenAi, completions, "gpt", completions, completions);
        let models = "https://generativelanguage.googleapis.com/v1beta/models";
        check(
            Provider::Gemini,
            Provider::Gemini.default_base_url(),
            "models/gemini-2.5-pro",
            &format!("{models}/gemini-2.5-pro:generateContent"),
            &format!("{models}/gemini-2.5-pro:streamGenerateContent?alt=sse"),
        );
    }

    #[test]
    fn a_model_can_be_shared_between_threads() {
        fn check<T: Send + Sync>() {}
        check::<ChatModel>();
        check::<ChatError>();
    }

    #[test]
    fn a_name_that_would_change_the_path_is_rejected() {
        for model in ["", "a/b", "../x", "x?y", "x y", "x#"] {
            assert!(endpoints(Provider::Gemini, "https://example.com", model).is_err(), "{model}");
        }
    }
}
