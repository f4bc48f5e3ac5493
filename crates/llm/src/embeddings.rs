//! Turns texts into numbers by an OpenAI-compatible `/v1/embeddings`. Blocking, bounded in time and size.

use std::time::Duration;

use rethread_model::Tokens;
use serde::Serialize;

use crate::http::{Client, Failed, Outcome, metered, with_retries};
use crate::{ChatError, ChatLimits, Endpoint, Key, Meter, Planned, Price, Provider, answer};

/// Texts in one request.
const MOST_TEXTS: usize = 64;
/// Bytes of a text that are sent: about 500 tokens, which is what the smaller models read.
const LONGEST_TEXT: usize = 2_000;
/// Bytes of an answer that are read.
const LONGEST_ANSWER: u64 = 64 << 20;

/// How long to wait, and how often to ask again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a connection.
    pub connect: Duration,
    /// For one request from beginning to end.
    pub whole: Duration,
    /// How often a request is repeated that met a busy server or a broken connection.
    pub retries: u32,
}

impl Limits {
    /// Where nobody waits.
    pub const PATIENT: Self = Self { connect: Duration::from_secs(5), whole: Duration::from_secs(30), retries: 2 };
    /// Where somebody waits for an answer.
    pub const QUICK: Self = Self { connect: Duration::from_secs(2), whole: Duration::from_secs(3), retries: 0 };
}

/// A model that turns texts into numbers.
#[derive(Debug)]
pub struct Embedder {
    client: Client,
    endpoint: Endpoint,
    model: String,
    price: Option<Price>,
}

#[derive(Serialize)]
struct Asked<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
}

impl Embedder {
    /// Prepares to ask; connects when asked to.
    pub fn new(endpoint: Endpoint, model: &str, key: Option<Key>, limits: Limits) -> Self {
        let Limits { connect, whole, retries } = limits;
        let limits = ChatLimits { connect, first_byte: whole, whole, retries };
        Self { client: Client::new(Provider::OpenAi, key, limits), endpoint, model: model.to_owned(), price: None }
    }

    /// Tells what it costs. Without a price a budget in dollars refuses it.
    #[must_use]
    pub fn with_price(mut self, price: Option<Price>) -> Self {
        self.price = price;
        self
    }

    /// The numbers of each text, in the order of the texts. Of a long text only the beginning is read.
    pub fn embed(&self, texts: &[&str], meter: &dyn Meter) -> Result<Vec<Vec<f32>>, ChatError> {
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        for texts in texts.chunks(MOST_TEXTS) {
            vectors.extend(self.embed_batch(texts, meter)?);
        }
        if vectors.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
            return Err(self.unusable("vectors of different lengths"));
        }
        Ok(vectors)
    }

    fn embed_batch(&self, texts: &[&str], meter: &dyn Meter) -> Result<Vec<Vec<f32>>, ChatError> {
        let input: Vec<&str> = texts.iter().map(|text| &text[..text.floor_char_boundary(LONGEST_TEXT)]).collect();
        let planned = self.planned(&input);
        let asked = Asked { model: &self.model, input, encoding_format: "float" };
        let body = serde_json::to_vec(&asked).map_err(|error| self.unusable(&error.to_string()))?;
        let cost = |tokens| Some(self.price?.cost(tokens));
        with_retries(self.client.limits().retries, &|| false, || {
            metered(meter, &planned, cost, || {
                let answer = self.client.post(&self.endpoint, &body, LONGEST_ANSWER)?;
                let (value, counted) =
                    answer::vectors(&answer, texts.len()).map_err(|reason| Failed::for_good(self.unusable(&reason)))?;
                let tokens = counted.map(|input| Tokens { input, ..Tokens::default() });
                Ok(Outcome { value, tokens, said: 0, error: None })
            })
        })
    }

    fn planned(&self, texts: &[&str]) -> Planned {
        let input_tokens = texts.iter().map(|text| crate::generous_tokens(text.len())).sum();
        Planned {
            provider: Provider::OpenAi,
            model: self.model.clone(),
            purpose: "embeddings",
            input_tokens,
            output_tokens: 0,
            cost: self.price.map(|price| price.cost(Tokens { input: input_tokens, ..Tokens::default() })),
        }
    }

    fn unusable(&self, reason: &str) -> ChatError {
        self.client.unusable(&self.endpoint, reason)
    }
}
