//! Computes embeddings with an OpenAI-compatible `/v1/embeddings` endpoint. Blocking, bounded in time and size.

use std::time::Duration;

use rethread_model::Tokens;
use serde::Serialize;

use crate::http::{FailedRequest, HttpClient, RequestOutcome, send_metered, with_retries};
use crate::{ApiKey, ChatError, ChatLimits, Endpoint, Meter, Price, Provider, RequestEstimate, response};

/// Texts per request.
const MAX_BATCH_TEXTS: usize = 64;
/// Bytes of a text that are sent: about 500 tokens, the input limit of small embedding models.
const MAX_TEXT_BYTES: usize = 2_000;
/// Bytes of a response that are read at most.
const MAX_RESPONSE_BYTES: u64 = 64 << 20;

/// Timeouts and retries of embedding requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmbeddingLimits {
    /// Timeout for connecting.
    pub connect: Duration,
    /// Timeout for one whole request.
    pub total: Duration,
    /// Retries after a busy server or a broken connection.
    pub retries: u32,
}

impl EmbeddingLimits {
    /// For background work.
    pub const BACKGROUND: Self = Self { connect: Duration::from_secs(5), total: Duration::from_secs(30), retries: 2 };
    /// For requests a user waits for.
    pub const INTERACTIVE: Self = Self { connect: Duration::from_secs(2), total: Duration::from_secs(3), retries: 0 };
}

/// Client of one embedding model.
#[derive(Debug)]
pub struct Embedder {
    client: HttpClient,
    endpoint: Endpoint,
    model: String,
    price: Option<Price>,
}

#[derive(Serialize)]
struct EmbeddingRequest<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
}

impl Embedder {
    /// Creates a client. Connects only when [`Embedder::embed`] is called.
    pub fn new(endpoint: Endpoint, model: &str, key: Option<ApiKey>, limits: EmbeddingLimits) -> Self {
        let EmbeddingLimits { connect, total: whole, retries } = limits;
        let limits = ChatLimits { connect, idle: whole, total: whole, retries };
        Self { client: HttpClient::new(Provider::OpenAi, key, limits), endpoint, model: model.to_owned(), price: None }
    }

    /// Sets the price. Without one, a budget in dollars rejects every request.
    #[must_use]
    pub fn with_price(mut self, price: Option<Price>) -> Self {
        self.price = price;
        self
    }

    /// One vector per text, in the order of the texts. Only the first 2,000 bytes of a text are used.
    pub fn embed(&self, texts: &[&str], meter: &dyn Meter) -> Result<Vec<Vec<f32>>, ChatError> {
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        for texts in texts.chunks(MAX_BATCH_TEXTS) {
            vectors.extend(self.embed_batch(texts, meter)?);
        }
        if vectors.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
            return Err(self.invalid_response("vectors of different lengths"));
        }
        Ok(vectors)
    }

    fn embed_batch(&self, texts: &[&str], meter: &dyn Meter) -> Result<Vec<Vec<f32>>, ChatError> {
        let input: Vec<&str> = texts.iter().map(|text| &text[..text.floor_char_boundary(MAX_TEXT_BYTES)]).collect();
        let planned = self.estimate(&input);
        let request = EmbeddingRequest { model: &self.model, input, encoding_format: "float" };
        let body = serde_json::to_vec(&request).map_err(|error| self.invalid_response(&error.to_string()))?;
        let cost = |tokens| Some(self.price?.cost(tokens));
        with_retries(self.client.limits().retries, &|| false, || {
            send_metered(meter, &planned, cost, || {
                let answer = self.client.post(&self.endpoint, &body, MAX_RESPONSE_BYTES)?;
                let (value, counted) = response::parse_vectors(&answer, texts.len())
                    .map_err(|reason| FailedRequest::permanent(self.invalid_response(&reason)))?;
                let tokens = counted.map(|input| Tokens { input, ..Tokens::default() });
                Ok(RequestOutcome { value, tokens, estimated_output: 0, error: None })
            })
        })
    }

    fn estimate(&self, texts: &[&str]) -> RequestEstimate {
        let input_tokens = texts.iter().map(|text| crate::max_tokens_in(text.len())).sum();
        RequestEstimate {
            provider: Provider::OpenAi,
            model: self.model.clone(),
            purpose: "embeddings",
            input_tokens,
            output_tokens: 0,
            cost: self.price.map(|price| price.cost(Tokens { input: input_tokens, ..Tokens::default() })),
        }
    }

    fn invalid_response(&self, reason: &str) -> ChatError {
        self.client.invalid_response(&self.endpoint, reason)
    }
}
