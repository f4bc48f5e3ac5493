//! Reads an answer along. A thread waits for the network, so that whoever listens can stop at any time.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rethread_model::Tokens;
use rethread_model::thread::Stop;
use ureq::http::header::CONTENT_TYPE;

use super::gathered::{Each, Gathered};
use super::sse::Events;
use super::wire::{self, Manner, Said};
use super::{ChatModel, LONGEST_ANSWER, Request, Streamed};
use crate::http::{Again, Client, Failed, Outcome, metered, with_retries};
use crate::{ChatError, Endpoint, Meter};

/// How often it is asked whether to stop.
const WAIT: Duration = Duration::from_millis(50);
/// What the thread may be ahead of the listener.
const MOST_AHEAD: usize = 64;
/// Bytes that are read at once.
const CHUNK: usize = 16 << 10;

/// What the thread tells.
enum Heard {
    /// Something came that says nothing.
    Bytes,
    /// An event of the stream.
    Event(String),
    /// All of the answer, from a server that does not stream.
    Whole(Vec<u8>),
    /// It went wrong.
    Failed(Failed),
    /// The server closed the stream.
    End,
}

/// How listening ended.
enum Ended {
    Said,
    Stopped,
    Broken(Failed),
}

/// One request that is listened to.
struct Listening<'a> {
    model: &'a ChatModel,
    request: &'a Request,
    is_stopped: &'a dyn Fn() -> bool,
}

impl ChatModel {
    /// Asks, and tells every piece as it comes. Stops within moments of `is_stopped`, also while nothing comes.
    ///
    /// A stop is no failure: what was said until then is the answer, and be it nothing.
    pub fn stream(
        &self,
        request: &Request,
        meter: &dyn Meter,
        is_stopped: &dyn Fn() -> bool,
        each: &mut dyn FnMut(crate::Piece<'_>),
    ) -> Result<Streamed, ChatError> {
        match self.stream_as(Manner::Stream, request, meter, is_stopped, each) {
            Err(ChatError::Refused { status: 400 | 422, message, .. }) if message.contains("stream_options") => {
                self.stream_as(Manner::StreamUncounted, request, meter, is_stopped, each)
            }
            other => other,
        }
    }

    fn stream_as(
        &self,
        manner: Manner,
        request: &Request,
        meter: &dyn Meter,
        is_stopped: &dyn Fn() -> bool,
        each: &mut dyn FnMut(crate::Piece<'_>),
    ) -> Result<Streamed, ChatError> {
        let listening = Listening { model: self, request, is_stopped };
        let body = self.body(request, wire::Format::Free, manner);
        let planned = self.plan(&body, request);
        let streamed = with_retries(self.client.limits().retries, is_stopped, || {
            if is_stopped() {
                return Ok(listening.nothing());
            }
            metered(meter, &planned, |tokens| self.cost(tokens), || listening.attempt(&body, each))
        });
        // A pause between two attempts was stopped.
        if streamed.is_err() && is_stopped() { Ok(listening.nothing()) } else { streamed }
    }
}

impl Listening<'_> {
    fn nothing(&self) -> Streamed {
        let answer = Gathered::new(&[]).unfinished(&self.model.model, Stop::Aborted);
        Streamed { answer, failed: None }
    }

    fn attempt(&self, body: &[u8], each: &mut Each<'_>) -> Result<Outcome<Streamed>, Failed> {
        let (client, agent) = self.model.client.alone();
        let (sender, receiver) = sync_channel(MOST_AHEAD);
        let (endpoint, body) = (self.model.streamed.clone(), body.to_vec());
        let thread = std::thread::Builder::new().name("model-stream".to_owned());
        let spawned = thread.spawn(move || tell(&client, &endpoint, &body, &sender));
        if let Err(error) = spawned {
            let error = self.model.client.broken(&self.model.streamed, &error.to_string());
            return Err(Failed { error, again: Again::Never, was_sent: false, is_free: true });
        }
        let mut gathered = Gathered::new(&self.request.messages);
        let ended = self.listen(&receiver, &mut gathered, each);
        // However it ended, the connection is closed, and the thread ends with it.
        agent.shutdown();
        self.outcome(ended, gathered)
    }

    fn listen(&self, receiver: &Receiver<Heard>, gathered: &mut Gathered, each: &mut Each<'_>) -> Ended {
        let limits = self.model.client.limits();
        let start = Instant::now();
        let mut last = start;
        while start.elapsed() < limits.whole {
            if (self.is_stopped)() {
                return Ended::Stopped;
            }
            match receiver.recv_timeout(WAIT) {
                Ok(heard) => {
                    if let Some(ended) = self.take(heard, gathered, each) {
                        return ended;
                    }
                    last = Instant::now();
                }
                Err(RecvTimeoutError::Timeout) if last.elapsed() >= limits.first_byte => {
                    return self.slow(gathered, limits.first_byte);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.ended(gathered),
            }
        }
        self.slow(gathered, limits.whole)
    }

    fn take(&self, heard: Heard, gathered: &mut Gathered, each: &mut Each<'_>) -> Option<Ended> {
        let provider = self.model.provider;
        match heard {
            Heard::Bytes => None,
            Heard::Event(data) => match wire::event(provider, &data, gathered, each) {
                Ok(Said::More) => None,
                Ok(Said::All) => Some(Ended::Said),
                Err(reason) => Some(self.broken(&reason)),
            },
            Heard::Whole(body) => match wire::read(provider, &body, gathered, each) {
                Ok(()) => Some(Ended::Said),
                Err(reason) => {
                    let error = self.model.client.unusable(&self.model.streamed, &reason);
                    Some(Ended::Broken(Failed::for_good(error)))
                }
            },
            // Once the reason to stop is known only numbers can be missing.
            Heard::Failed(_) if gathered.stop.is_some() => Some(Ended::Said),
            Heard::Failed(failed) => Some(Ended::Broken(failed)),
            Heard::End => Some(self.ended(gathered)),
        }
    }

    fn ended(&self, gathered: &Gathered) -> Ended {
        if gathered.stop.is_some() { Ended::Said } else { self.broken("the connection was closed") }
    }

    fn broken(&self, reason: &str) -> Ended {
        let error = self.model.client.broken(&self.model.streamed, reason);
        Ended::Broken(Failed { error, again: Again::Soon, was_sent: true, is_free: false })
    }

    fn slow(&self, gathered: &Gathered, waited: Duration) -> Ended {
        if gathered.stop.is_some() {
            return Ended::Said;
        }
        let endpoint = self.model.streamed.to_string();
        Ended::Broken(Failed::for_good(ChatError::Slow { endpoint, seconds: waited.as_secs() }))
    }

    fn outcome(&self, ended: Ended, gathered: Gathered) -> Result<Outcome<Streamed>, Failed> {
        let model = &self.model.model;
        let (answer, error, failed) = match ended {
            Ended::Said => (gathered.finished(model), None, None),
            Ended::Stopped => (gathered.unfinished(model, Stop::Aborted), Some("stopped".to_owned()), None),
            Ended::Broken(failed) if gathered.is_empty() => return Err(failed),
            Ended::Broken(failed) => {
                (gathered.unfinished(model, Stop::Error), Some(failed.error.in_short()), Some(failed.error))
            }
        };
        let (tokens, said): (Option<Tokens>, u64) = (answer.usage, answer.estimated_tokens());
        Ok(Outcome { value: Streamed { answer, failed }, tokens, said, error })
    }
}

/// The thread: sends the request and tells what comes. Ends when nobody listens any more.
fn tell(client: &Client, endpoint: &Endpoint, body: &[u8], to: &SyncSender<Heard>) {
    let end = match read(client, endpoint, body, to) {
        Ok(Some(whole)) => Heard::Whole(whole),
        Ok(None) => Heard::End,
        Err(failed) => Heard::Failed(failed),
    };
    // Nobody may be there to hear it.
    let _ = to.send(end);
}

/// The whole answer, if it does not come as events.
fn read(client: &Client, endpoint: &Endpoint, body: &[u8], to: &SyncSender<Heard>) -> Result<Option<Vec<u8>>, Failed> {
    let mut response = client.open(endpoint, body)?;
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") {
        let whole = response.body_mut().with_config().limit(LONGEST_ANSWER).read_to_vec();
        return whole.map(Some).map_err(|error| client.failed(endpoint, &error));
    }
    let mut reader = response.into_body().into_reader();
    let mut events = Events::default();
    let mut chunk = vec![0; CHUNK];
    let mut total = 0_u64;
    loop {
        let count = reader.read(&mut chunk).map_err(|error| broken_off(client, endpoint, error))?;
        total += count as u64;
        let complete = match events.feed(&chunk[..count]) {
            Ok(complete) if total <= LONGEST_ANSWER => complete,
            _ => return Err(Failed::for_good(client.unusable(endpoint, "too long an answer"))),
        };
        let complete = if count == 0 { events.rest().into_iter().collect() } else { complete };
        let nothing = complete.is_empty().then_some(Heard::Bytes);
        for heard in complete.into_iter().map(Heard::Event).chain(nothing) {
            if to.send(heard).is_err() {
                return Ok(None);
            }
        }
        if count == 0 {
            return Ok(None);
        }
    }
}

/// A connection that fails while the answer comes was reached all the same.
fn broken_off(client: &Client, endpoint: &Endpoint, error: std::io::Error) -> Failed {
    let mut failed = client.failed(endpoint, &ureq::Error::from(error));
    if let ChatError::Unreachable { cause, .. } = &failed.error {
        failed.error = client.broken(endpoint, cause);
    }
    Failed { was_sent: true, is_free: false, ..failed }
}
