//! Sends HTTP requests: bounded in time and size, without redirects, and only after the meter admitted them.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use rethread_model::Tokens;
use ureq::http::Response;
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ureq::{Agent, Body};

use crate::{
    ApiKey, ChatError, ChatLimits, Endpoint, Meter, NanoUsd, Provider, RequestEstimate, RequestSettlement, response,
};

/// Marks every request as one of Rethread, for proxies that pass requests on to an agent with transcripts of its own.
const OWN_CALL_HEADER: &str = "x-rethread-call";
/// Bytes of an error body that are read at most.
const MAX_ERROR_BYTES: u64 = 64 << 10;
/// Pause before the first retry; each further pause is four times as long.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// Upper limit of a pause, also if the server asks for a longer one.
const MAX_PAUSE: Duration = Duration::from_secs(20);
/// How often a pause checks whether it was stopped.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// HTTP client for one provider, with its key and limits.
#[derive(Clone, Debug)]
pub(crate) struct HttpClient {
    agent: Agent,
    provider: Provider,
    key: Option<ApiKey>,
    limits: ChatLimits,
}

/// A failed request, and what is known about retrying and charging it.
#[derive(Debug)]
pub(crate) struct FailedRequest {
    pub(crate) error: ChatError,
    /// Whether the same request may succeed later.
    pub(crate) retry: RetryAdvice,
    /// Whether any of it may have reached the server.
    pub(crate) was_sent: bool,
    /// Whether the provider did nothing that it could charge for.
    pub(crate) is_free: bool,
}

/// Whether and when to retry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RetryAdvice {
    /// It would fail the same way.
    Never,
    /// After our own exponential backoff.
    WithBackoff,
    /// After the pause given in `Retry-After`.
    After(Duration),
}

/// Result of a request that returned something usable.
pub(crate) struct RequestOutcome<T> {
    pub(crate) value: T,
    /// As reported by the provider.
    pub(crate) tokens: Option<Tokens>,
    /// Estimated output tokens, for providers that report none.
    pub(crate) estimated_output: u64,
    /// Set if the response is incomplete.
    pub(crate) error: Option<String>,
}

impl HttpClient {
    pub(crate) fn new(provider: Provider, key: Option<ApiKey>, limits: ChatLimits) -> Self {
        Self { agent: new_agent(&limits), provider, key, limits }
    }

    /// A client with its own connections, and the agent that can shut them down.
    pub(crate) fn with_own_connections(&self) -> (Self, Agent) {
        // The receiver watches for silence, so that a stream can be stopped while it is silent.
        let limits = ChatLimits { idle: self.limits.total, ..self.limits };
        let agent = new_agent(&limits);
        (Self { agent: agent.clone(), ..self.clone() }, agent)
    }

    pub(crate) fn limits(&self) -> &ChatLimits {
        &self.limits
    }

    /// Sends a request and reads the whole response.
    pub(crate) fn post(&self, endpoint: &Endpoint, body: &[u8], longest: u64) -> Result<Vec<u8>, FailedRequest> {
        let mut response = self.open(endpoint, body)?;
        let read = response.body_mut().with_config().limit(longest).read_to_vec();
        read.map_err(|error| self.failed_request(endpoint, &error))
    }

    /// Sends a request and returns when the response headers have arrived.
    pub(crate) fn open(&self, endpoint: &Endpoint, body: &[u8]) -> Result<Response<Body>, FailedRequest> {
        let mut request = self.agent.post(endpoint.url()).header(CONTENT_TYPE, "application/json");
        request = request.header(OWN_CALL_HEADER, "1");
        if self.provider == Provider::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        if let Some(key) = &self.key {
            let (name, value) = key.header(self.provider);
            request = request.header(name, value);
        }
        let mut response = request.send(body).map_err(|error| self.failed_request(endpoint, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let retry_after =
            response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        // Errors while reading the body are ignored: the status is already known.
        let body = response.body_mut().with_config().limit(MAX_ERROR_BYTES).read_to_vec().unwrap_or_default();
        let again = match retry_after {
            _ if !is_retryable(status) => RetryAdvice::Never,
            Some(seconds) => RetryAdvice::After(Duration::from_secs(seconds)),
            None => RetryAdvice::WithBackoff,
        };
        // The model may have done the work although a gateway gave up on it.
        let is_free = !matches!(status, 500 | 502 | 504);
        Err(FailedRequest { error: self.status_error(endpoint, status, &body), retry: again, was_sent: true, is_free })
    }

    /// Error for a response that cannot be used.
    pub(crate) fn invalid_response(&self, endpoint: &Endpoint, reason: &str) -> ChatError {
        ChatError::InvalidResponse { endpoint: endpoint.to_string(), reason: self.sanitize(reason) }
    }

    /// Error for a response that was interrupted.
    pub(crate) fn interrupted(&self, endpoint: &Endpoint, reason: &str) -> ChatError {
        ChatError::Interrupted { endpoint: endpoint.to_string(), reason: self.sanitize(reason) }
    }

    /// Converts an error of sending a request or reading its response.
    pub(crate) fn failed_request(&self, endpoint: &Endpoint, error: &ureq::Error) -> FailedRequest {
        let shown = endpoint.to_string();
        let is_sent = may_have_been_sent(error);
        if let Some(waited) = self.expired_timeout(error) {
            // A connection timeout may be temporary; a slow response will be slow again.
            let again = if is_sent { RetryAdvice::Never } else { RetryAdvice::WithBackoff };
            let error = ChatError::Timeout { endpoint: shown, seconds: waited.as_secs() };
            return FailedRequest { error, retry: again, was_sent: is_sent, is_free: !is_sent };
        }
        if matches!(error, ureq::Error::BodyExceedsLimit(_)) {
            return FailedRequest::permanent(self.invalid_response(endpoint, "response too long"));
        }
        let is_connection =
            matches!(error, ureq::Error::Io(_) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed);
        let again = if is_connection { RetryAdvice::WithBackoff } else { RetryAdvice::Never };
        let error = ChatError::Unreachable { endpoint: shown, cause: self.sanitize(&error.to_string()) };
        FailedRequest { error, retry: again, was_sent: is_sent, is_free: !is_sent }
    }

    /// The timeout that expired, if the error is a timeout.
    fn expired_timeout(&self, error: &ureq::Error) -> Option<Duration> {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Some(self.limits.connect),
            ureq::Error::Timeout(ureq::Timeout::PerRead) => Some(self.limits.idle),
            ureq::Error::Timeout(_) => Some(self.limits.total),
            ureq::Error::Io(cause) if cause.kind() == std::io::ErrorKind::TimedOut => Some(self.limits.total),
            _ => None,
        }
    }

    fn status_error(&self, endpoint: &Endpoint, status: u16, body: &[u8]) -> ChatError {
        // A server that rejects a key may quote parts of it.
        let text = if matches!(status, 401 | 403) { String::new() } else { response::error_message(body) };
        let text = self.sanitize(&text);
        let message = if text.is_empty() { text } else { format!(": {text}") };
        ChatError::HttpStatus { endpoint: endpoint.to_string(), status, message }
    }

    /// Removes the key from a server's text, then shortens it. In this order, or half a key could remain at the cut.
    fn sanitize(&self, text: &str) -> String {
        let text = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.redact(text));
        response::sanitize_message(&text)
    }
}

impl FailedRequest {
    /// A request that was sent and would fail the same way again.
    pub(crate) fn permanent(error: ChatError) -> Self {
        Self { error, retry: RetryAdvice::Never, was_sent: true, is_free: false }
    }
}

impl RetryAdvice {
    /// Pause before the next attempt after `repeated` retries. `None`: do not retry.
    fn pause(self, repeated: u32) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::After(pause) => Some(pause.min(MAX_PAUSE)),
            Self::WithBackoff => {
                let pause = FIRST_PAUSE.saturating_mul(4_u32.saturating_pow(repeated)).min(MAX_PAUSE);
                // Jitter, so that clients rejected at the same time do not retry at the same time.
                Some(pause.mul_f64(1.0 + random_fraction() / 2.0).min(MAX_PAUSE))
            }
        }
    }
}

/// Has the meter admit the request, sends it, and settles it with the meter.
pub(crate) fn send_metered<T>(
    meter: &dyn Meter,
    planned: &RequestEstimate,
    cost: impl FnOnce(Tokens) -> Option<NanoUsd>,
    attempt: impl FnOnce() -> Result<RequestOutcome<T>, FailedRequest>,
) -> Result<T, FailedRequest> {
    let admission = meter.admit(planned).map_err(|error| FailedRequest {
        error: error.into(),
        retry: RetryAdvice::Never,
        was_sent: false,
        is_free: true,
    })?;
    let result = attempt();
    let (tokens, error, was_sent) = match &result {
        Ok(outcome) => {
            (outcome.tokens.or(usage_above_estimate(planned, outcome.estimated_output)), outcome.error.clone(), true)
        }
        Err(failed) => (failed.is_free.then(Tokens::default), Some(failed.error.short_reason()), failed.was_sent),
    };
    let cost = tokens.map_or(planned.cost, cost);
    meter.settle(admission, &RequestSettlement { tokens, cost, error, was_sent });
    result.map(|outcome| outcome.value)
}

/// Usage of an uncounted answer that is longer than estimated. `None` if the estimate covers it.
fn usage_above_estimate(planned: &RequestEstimate, output_tokens: u64) -> Option<Tokens> {
    let tokens = Tokens { input: planned.input_tokens, output: output_tokens, ..Tokens::default() };
    (output_tokens > planned.output_tokens).then_some(tokens)
}

/// Retries until success, a permanent failure, the retry limit, or a stop.
pub(crate) fn with_retries<T>(
    retries: u32,
    is_stopped: &dyn Fn() -> bool,
    mut attempt: impl FnMut() -> Result<T, FailedRequest>,
) -> Result<T, ChatError> {
    let mut repeated = 0;
    loop {
        let failed = match attempt() {
            Ok(value) => return Ok(value),
            Err(failed) => failed,
        };
        let Some(pause) = failed.retry.pause(repeated).filter(|_| repeated < retries) else { return Err(failed.error) };
        if !sleep_unless_stopped(pause, is_stopped) {
            return Err(failed.error);
        }
        repeated += 1;
    }
}

/// Sleeps in short slices. Returns false if it was stopped.
fn sleep_unless_stopped(mut pause: Duration, is_stopped: &dyn Fn() -> bool) -> bool {
    while !is_stopped() {
        if pause.is_zero() {
            return true;
        }
        let slice = pause.min(STOP_POLL_INTERVAL);
        std::thread::sleep(slice);
        pause -= slice;
    }
    false
}

/// A random number from 0 to 1.
fn random_fraction() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

fn new_agent(limits: &ChatLimits) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        // Texts and key are sent only to the configured host.
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("rethread/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(limits.connect))
        .timeout_per_read(Some(limits.idle))
        .timeout_global(Some(limits.total))
        .build()
        .new_agent()
}

fn is_retryable(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529)
}

/// Whether any of the request may have reached the server.
fn may_have_been_sent(error: &ureq::Error) -> bool {
    use std::io::ErrorKind::{AddrNotAvailable, ConnectionRefused, HostUnreachable, NetworkUnreachable};
    match error {
        ureq::Error::HostNotFound
        | ureq::Error::ConnectionFailed
        | ureq::Error::BadUri(_)
        | ureq::Error::Tls(_)
        | ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => false,
        ureq::Error::Io(cause) => {
            !matches!(cause.kind(), ConnectionRefused | HostUnreachable | NetworkUnreachable | AddrNotAvailable)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_with_jitter_and_retry_after_is_capped() {
        // E004-15
        for (repeated, least, most) in [(0, 200, 300), (1, 800, 1_200), (2, 3_200, 4_800), (9, 20_000, 20_000)] {
            let pause = RetryAdvice::WithBackoff.pause(repeated).unwrap().as_millis();
            assert!((least..=most).contains(&pause), "{repeated}: {pause}");
        }
        assert_eq!(RetryAdvice::After(Duration::from_secs(7)).pause(3), Some(Duration::from_secs(7)));
        assert_eq!(RetryAdvice::After(Duration::ZERO).pause(3), Some(Duration::ZERO));
        assert_eq!(RetryAdvice::After(Duration::from_hours(1)).pause(0), Some(MAX_PAUSE));
        assert_eq!(RetryAdvice::Never.pause(0), None);
    }

    #[test]
    fn only_temporary_errors_are_retried() {
        // E004-15
        let repeated: Vec<u16> = (100..600).filter(|status| is_retryable(*status)).collect();
        assert_eq!(repeated, [408, 409, 429, 500, 502, 503, 504, 529]);
    }

    #[test]
    fn a_stop_ends_the_pause() {
        assert!(!sleep_unless_stopped(Duration::from_hours(1), &|| true));
        assert!(sleep_unless_stopped(Duration::ZERO, &|| false));
    }
}
