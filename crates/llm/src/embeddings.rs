//! Turns texts into numbers by an OpenAI-compatible `/v1/embeddings`. Blocking, bounded in time and size.

use std::thread::sleep;
use std::time::Duration;

use serde::Serialize;
use ureq::Agent;
use ureq::http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};

use crate::{EmbeddingError, Endpoint, Key, answer};

/// Texts in one request.
const MOST_TEXTS: usize = 64;
/// Bytes of a text that are sent: about 500 tokens, which is what the smaller models read.
const LONGEST_TEXT: usize = 2_000;
/// Bytes of an answer that are read.
const LONGEST_ANSWER: u64 = 64 << 20;
/// The pause before the first repetition; each further one is four times as long.
const PAUSE: Duration = Duration::from_millis(200);
/// A server that asks for a longer pause gets this one.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

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
    agent: Agent,
    endpoint: Endpoint,
    model: String,
    key: Option<Key>,
    limits: Limits,
}

#[derive(Serialize)]
struct Asked<'a> {
    model: &'a str,
    input: Vec<&'a str>,
    encoding_format: &'static str,
}

/// A request that failed, and whether the same one may yet succeed.
struct Failed {
    error: EmbeddingError,
    pause: Option<Duration>,
}

impl Embedder {
    /// Prepares to ask; connects when asked to.
    pub fn new(endpoint: Endpoint, model: &str, key: Option<Key>, limits: Limits) -> Self {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            // Neither texts nor key go anywhere but where the user said.
            .max_redirects(0)
            .proxy(None)
            .timeout_connect(Some(limits.connect))
            .timeout_global(Some(limits.whole))
            .build();
        Self { agent: config.new_agent(), endpoint, model: model.to_owned(), key, limits }
    }

    /// The numbers of each text, in the order of the texts. Of a long text only the beginning is read.
    pub fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(texts.len());
        for texts in texts.chunks(MOST_TEXTS) {
            vectors.extend(self.embed_batch(texts)?);
        }
        if vectors.windows(2).any(|pair| pair[0].len() != pair[1].len()) {
            return Err(self.unusable("vectors of different lengths"));
        }
        Ok(vectors)
    }

    fn embed_batch(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        let input = texts.iter().map(|text| &text[..text.floor_char_boundary(LONGEST_TEXT)]).collect();
        let asked = Asked { model: &self.model, input, encoding_format: "float" };
        let body = serde_json::to_vec(&asked).map_err(|error| self.unusable(&error.to_string()))?;
        let mut repeated = 0;
        let answer = loop {
            match self.post(&body) {
                Ok(answer) => break answer,
                Err(Failed { error, pause }) => {
                    let Some(asked_for) = pause.filter(|_| repeated < self.limits.retries) else { return Err(error) };
                    sleep(asked_for.max(PAUSE * 4_u32.pow(repeated)).min(LONGEST_PAUSE));
                    repeated += 1;
                }
            }
        };
        answer::vectors(&answer, texts.len()).map_err(|reason| self.unusable(&reason))
    }

    fn post(&self, body: &[u8]) -> Result<Vec<u8>, Failed> {
        let mut request = self.agent.post(self.endpoint.url()).header(CONTENT_TYPE, "application/json");
        if let Some(key) = &self.key {
            request = request.header(AUTHORIZATION, key.header());
        }
        let mut response = request.send(body).map_err(|error| self.failed(&error))?;
        let status = response.status().as_u16();
        let pause = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
        let read = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        let read = read.map_err(|error| self.failed(&error))?;
        if response.status().is_success() {
            return Ok(read);
        }
        let is_busy = status == 429 || (500..=599).contains(&status);
        let pause = is_busy.then(|| Duration::from_secs(pause.unwrap_or(0)));
        Err(Failed { error: self.refused(status, &read), pause })
    }

    fn refused(&self, status: u16, body: &[u8]) -> EmbeddingError {
        // Whoever refuses a key may repeat parts of it.
        let told = if matches!(status, 401 | 403) { String::new() } else { answer::message(body) };
        let told = self.without_key(&told);
        let message = if told.is_empty() { told } else { format!(": {told}") };
        EmbeddingError::Refused { endpoint: self.endpoint.to_string(), status, message }
    }

    fn failed(&self, error: &ureq::Error) -> Failed {
        let endpoint = self.endpoint.to_string();
        let is_slow = match error {
            ureq::Error::Timeout(_) => true,
            ureq::Error::Io(cause) => cause.kind() == std::io::ErrorKind::TimedOut,
            _ => false,
        };
        if is_slow {
            let connecting = matches!(error, ureq::Error::Timeout(ureq::Timeout::Connect));
            let waited = if connecting { self.limits.connect } else { self.limits.whole };
            return Failed { error: EmbeddingError::Slow { endpoint, seconds: waited.as_secs() }, pause: None };
        }
        if matches!(error, ureq::Error::BodyExceedsLimit(_)) {
            return Failed { error: self.unusable("too long an answer"), pause: None };
        }
        let is_connection =
            matches!(error, ureq::Error::Io(_) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed);
        let cause = error.to_string();
        Failed {
            error: EmbeddingError::Unreachable { endpoint, cause },
            pause: is_connection.then_some(Duration::ZERO),
        }
    }

    fn unusable(&self, reason: &str) -> EmbeddingError {
        EmbeddingError::Answer { endpoint: self.endpoint.to_string(), reason: self.without_key(reason) }
    }

    /// A server's words, short. The key goes first, so that no half of it stays where they are cut.
    fn without_key(&self, text: &str) -> String {
        let text = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.remove_from(text));
        answer::bounded(&text)
    }
}
