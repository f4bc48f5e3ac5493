//! Sends one request: bounded in time and size, never to another host, and never without the meter's admission.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::time::Duration;

use rethread_model::Tokens;
use ureq::http::Response;
use ureq::http::header::{CONTENT_TYPE, RETRY_AFTER};
use ureq::{Agent, Body};

use crate::{ChatError, ChatLimits, Endpoint, Key, Meter, NanoUsd, Planned, Provider, Settled, answer};

/// Bytes of an error's body that are read.
const LONGEST_ERROR: u64 = 64 << 10;
/// The pause before the first repetition; each further one is four times as long.
const PAUSE: Duration = Duration::from_millis(200);
/// A server that asks for a longer pause gets this one.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// How often a pause asks whether it should end.
const SLICE: Duration = Duration::from_millis(50);

/// How one endpoint is spoken to.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    agent: Agent,
    provider: Provider,
    key: Option<Key>,
    limits: ChatLimits,
}

/// A request that failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) error: ChatError,
    /// Whether the same request may yet succeed.
    pub(crate) again: Again,
    /// Whether anything of it reached the network.
    pub(crate) was_sent: bool,
    /// Whether the provider did no work that it could charge for.
    pub(crate) is_free: bool,
}

/// Whether to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// It would fail again.
    Never,
    /// After a pause of our own choice.
    Soon,
    /// After the pause the server asked for.
    After(Duration),
}

/// What came of a request that was not in vain.
pub(crate) struct Outcome<T> {
    pub(crate) value: T,
    /// As the provider counted.
    pub(crate) tokens: Option<Tokens>,
    /// Tokens of what was said, estimated.
    pub(crate) said: u64,
    /// What went wrong all the same.
    pub(crate) error: Option<String>,
}

impl Client {
    pub(crate) fn new(provider: Provider, key: Option<Key>, limits: ChatLimits) -> Self {
        Self { agent: agent(&limits), provider, key, limits }
    }

    /// One with connections of its own, and the means to end them all at once.
    pub(crate) fn alone(&self) -> (Self, Agent) {
        // A stream's silence is watched by whoever listens, so that it can be stopped.
        let limits = ChatLimits { first_byte: self.limits.whole, ..self.limits };
        let agent = agent(&limits);
        (Self { agent: agent.clone(), ..self.clone() }, agent)
    }

    pub(crate) fn limits(&self) -> &ChatLimits {
        &self.limits
    }

    /// Sends, and reads the whole answer.
    pub(crate) fn post(&self, endpoint: &Endpoint, body: &[u8], longest: u64) -> Result<Vec<u8>, Failed> {
        let mut response = self.open(endpoint, body)?;
        let read = response.body_mut().with_config().limit(longest).read_to_vec();
        read.map_err(|error| self.failed(endpoint, &error))
    }

    /// Sends, and returns as soon as the server says that it will answer.
    pub(crate) fn open(&self, endpoint: &Endpoint, body: &[u8]) -> Result<Response<Body>, Failed> {
        let mut request = self.agent.post(endpoint.url()).header(CONTENT_TYPE, "application/json");
        if self.provider == Provider::Anthropic {
            request = request.header("anthropic-version", "2023-06-01");
        }
        if let Some(key) = &self.key {
            let (name, value) = key.header(self.provider);
            request = request.header(name, value);
        }
        let mut response = request.send(body).map_err(|error| self.failed(endpoint, &error))?;
        if response.status().is_success() {
            return Ok(response);
        }
        let status = response.status().as_u16();
        let asked = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
        // Whatever goes wrong while reading it, the status is known.
        let body = response.body_mut().with_config().limit(LONGEST_ERROR).read_to_vec().unwrap_or_default();
        let again = match asked {
            _ if !is_worth_repeating(status) => Again::Never,
            Some(seconds) => Again::After(Duration::from_secs(seconds)),
            None => Again::Soon,
        };
        // After these a model may have worked: whoever stood between gave up on it.
        let is_free = !matches!(status, 500 | 502 | 504);
        Err(Failed { error: self.refused(endpoint, status, &body), again, was_sent: true, is_free })
    }

    /// An answer that is of no use.
    pub(crate) fn unusable(&self, endpoint: &Endpoint, reason: &str) -> ChatError {
        ChatError::Answer { endpoint: endpoint.to_string(), reason: self.without_key(reason) }
    }

    /// An answer that broke off.
    pub(crate) fn broken(&self, endpoint: &Endpoint, reason: &str) -> ChatError {
        ChatError::Stream { endpoint: endpoint.to_string(), reason: self.without_key(reason) }
    }

    /// What the network says of a request or of an answer that is being read.
    pub(crate) fn failed(&self, endpoint: &Endpoint, error: &ureq::Error) -> Failed {
        let shown = endpoint.to_string();
        let is_sent = was_sent(error);
        if let Some(waited) = self.waited(error) {
            // A connection that is not made in time may be made the next time; a slow answer stays slow.
            let again = if is_sent { Again::Never } else { Again::Soon };
            let error = ChatError::Slow { endpoint: shown, seconds: waited.as_secs() };
            return Failed { error, again, was_sent: is_sent, is_free: !is_sent };
        }
        if matches!(error, ureq::Error::BodyExceedsLimit(_)) {
            return Failed::for_good(self.unusable(endpoint, "too long an answer"));
        }
        let is_connection =
            matches!(error, ureq::Error::Io(_) | ureq::Error::HostNotFound | ureq::Error::ConnectionFailed);
        let again = if is_connection { Again::Soon } else { Again::Never };
        let error = ChatError::Unreachable { endpoint: shown, cause: self.without_key(&error.to_string()) };
        Failed { error, again, was_sent: is_sent, is_free: !is_sent }
    }

    /// How long was waited, if it was waited too long.
    fn waited(&self, error: &ureq::Error) -> Option<Duration> {
        match error {
            ureq::Error::Timeout(ureq::Timeout::Connect | ureq::Timeout::Resolve) => Some(self.limits.connect),
            ureq::Error::Timeout(ureq::Timeout::PerRead) => Some(self.limits.first_byte),
            ureq::Error::Timeout(_) => Some(self.limits.whole),
            ureq::Error::Io(cause) if cause.kind() == std::io::ErrorKind::TimedOut => Some(self.limits.whole),
            _ => None,
        }
    }

    fn refused(&self, endpoint: &Endpoint, status: u16, body: &[u8]) -> ChatError {
        // Whoever refuses a key may repeat parts of it.
        let told = if matches!(status, 401 | 403) { String::new() } else { answer::message(body) };
        let told = self.without_key(&told);
        let message = if told.is_empty() { told } else { format!(": {told}") };
        ChatError::Refused { endpoint: endpoint.to_string(), status, message }
    }

    /// A server's words, short. The key goes first, so that no half of it stays where they are cut.
    fn without_key(&self, text: &str) -> String {
        let text = self.key.as_ref().map_or_else(|| text.to_owned(), |key| key.remove_from(text));
        answer::bounded(&text)
    }
}

impl Failed {
    /// What was sent and would fail again.
    pub(crate) fn for_good(error: ChatError) -> Self {
        Self { error, again: Again::Never, was_sent: true, is_free: false }
    }
}

impl Again {
    /// How long to wait after so many repetitions.
    fn pause(self, repeated: u32) -> Option<Duration> {
        match self {
            Self::Never => None,
            Self::After(asked) => Some(asked.min(LONGEST_PAUSE)),
            Self::Soon => {
                let pause = PAUSE.saturating_mul(4_u32.saturating_pow(repeated)).min(LONGEST_PAUSE);
                // Those who were refused together should not come back together.
                Some(pause.mul_f64(1.0 + share_by_chance() / 2.0).min(LONGEST_PAUSE))
            }
        }
    }
}

/// Asks the meter, sends, and tells the meter what became of it.
pub(crate) fn metered<T>(
    meter: &dyn Meter,
    planned: &Planned,
    cost: impl FnOnce(Tokens) -> Option<NanoUsd>,
    attempt: impl FnOnce() -> Result<Outcome<T>, Failed>,
) -> Result<T, Failed> {
    let admission = meter.admit(planned).map_err(|refusal| Failed {
        error: refusal.into(),
        again: Again::Never,
        was_sent: false,
        is_free: true,
    })?;
    let result = attempt();
    let (tokens, error, was_sent) = match &result {
        Ok(outcome) => (outcome.tokens.or(more_than(planned, outcome.said)), outcome.error.clone(), true),
        Err(failed) => (failed.is_free.then(Tokens::default), Some(failed.error.in_short()), failed.was_sent),
    };
    let cost = tokens.map_or(planned.cost, cost);
    meter.settle(admission, &Settled { tokens, cost, error, was_sent });
    result.map(|outcome| outcome.value)
}

/// What an answer took that nobody counted and that is longer than was asked for; nothing if the plan covers it.
fn more_than(planned: &Planned, said: u64) -> Option<Tokens> {
    let tokens = Tokens { input: planned.input_tokens, output: said, ..Tokens::default() };
    (said > planned.output_tokens).then_some(tokens)
}

/// Tries until it succeeds, fails for good, was repeated often enough, or is stopped.
pub(crate) fn with_retries<T>(
    retries: u32,
    is_stopped: &dyn Fn() -> bool,
    mut attempt: impl FnMut() -> Result<T, Failed>,
) -> Result<T, ChatError> {
    let mut repeated = 0;
    loop {
        let failed = match attempt() {
            Ok(value) => return Ok(value),
            Err(failed) => failed,
        };
        let Some(pause) = failed.again.pause(repeated).filter(|_| repeated < retries) else { return Err(failed.error) };
        if !sleep(pause, is_stopped) {
            return Err(failed.error);
        }
        repeated += 1;
    }
}

/// False if it was stopped.
fn sleep(mut pause: Duration, is_stopped: &dyn Fn() -> bool) -> bool {
    while !is_stopped() {
        if pause.is_zero() {
            return true;
        }
        let slice = pause.min(SLICE);
        std::thread::sleep(slice);
        pause -= slice;
    }
    false
}

/// Something from 0 to 1.
fn share_by_chance() -> f64 {
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

fn agent(limits: &ChatLimits) -> Agent {
    Agent::config_builder()
        .http_status_as_error(false)
        // Neither texts nor key go anywhere but where the user said.
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("rethread/", env!("CARGO_PKG_VERSION")))
        .timeout_connect(Some(limits.connect))
        .timeout_per_read(Some(limits.first_byte))
        .timeout_global(Some(limits.whole))
        .build()
        .new_agent()
}

fn is_worth_repeating(status: u16) -> bool {
    matches!(status, 408 | 409 | 429 | 500 | 502 | 503 | 504 | 529)
}

/// Whether anything may have reached the server.
fn was_sent(error: &ureq::Error) -> bool {
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
    fn e004_15_pauses_grow_with_jitter_and_a_server_is_obeyed_up_to_a_limit() {
        for (repeated, least, most) in [(0, 200, 300), (1, 800, 1_200), (2, 3_200, 4_800), (9, 20_000, 20_000)] {
            let pause = Again::Soon.pause(repeated).unwrap().as_millis();
            assert!((least..=most).contains(&pause), "{repeated}: {pause}");
        }
        assert_eq!(Again::After(Duration::from_secs(7)).pause(3), Some(Duration::from_secs(7)));
        assert_eq!(Again::After(Duration::ZERO).pause(3), Some(Duration::ZERO));
        assert_eq!(Again::After(Duration::from_hours(1)).pause(0), Some(LONGEST_PAUSE));
        assert_eq!(Again::Never.pause(0), None);
    }

    #[test]
    fn e004_15_only_what_may_pass_is_repeated() {
        let repeated: Vec<u16> = (100..600).filter(|status| is_worth_repeating(*status)).collect();
        assert_eq!(repeated, [408, 409, 429, 500, 502, 503, 504, 529]);
    }

    #[test]
    fn a_pause_ends_when_it_is_stopped() {
        assert!(!sleep(Duration::from_hours(1), &|| true));
        assert!(sleep(Duration::ZERO, &|| false));
    }
}
