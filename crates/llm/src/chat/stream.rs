//! Streamed answers. A thread reads from the network, so that the caller can stop at any time.

use std::io::Read;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

use rethread_model::Tokens;
use rethread_model::thread::StopReason;
use ureq::http::header::CONTENT_TYPE;

use super::answer_builder::{AnswerBuilder, ChunkHandler};
use super::sse::SseParser;
use super::wire::{self, DeliveryMode, StreamProgress};
use super::{ChatModel, ChatRequest, MAX_ANSWER_BYTES, StreamedAnswer};
use crate::http::{FailedRequest, HttpClient, RequestOutcome, RetryAdvice, send_metered, with_retries};
use crate::{ChatError, Endpoint, Meter};

/// How often the receiver checks whether it was stopped.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Messages the reader thread may be ahead of the receiver.
const CHANNEL_CAPACITY: usize = 64;
/// Bytes per read.
const CHUNK_BYTES: usize = 16 << 10;

/// Messages from the reader thread.
enum StreamMessage {
    /// Bytes arrived, but no complete event.
    PartialEvent,
    /// Data of one server-sent event.
    Event(String),
    /// A complete response, from a server that does not stream.
    CompleteResponse(Vec<u8>),
    /// The request failed.
    Failed(FailedRequest),
    /// The server closed the stream.
    End,
}

/// How receiving ended.
enum StreamEnd {
    Complete,
    Stopped,
    Failed(FailedRequest),
}

/// One streamed request.
struct StreamRequest<'a> {
    model: &'a ChatModel,
    request: &'a ChatRequest,
    is_stopped: &'a dyn Fn() -> bool,
}

impl ChatModel {
    /// Sends a request and passes every chunk to `each` as it arrives. Stops shortly after `is_stopped` returns true, also
    /// while the server is silent.
    ///
    /// A stop is not an error: the answer is what arrived until then, possibly nothing.
    pub fn stream(
        &self,
        request: &ChatRequest,
        meter: &dyn Meter,
        is_stopped: &dyn Fn() -> bool,
        each: &mut dyn FnMut(crate::AnswerChunk<'_>),
    ) -> Result<StreamedAnswer, ChatError> {
        match self.stream_with_delivery(DeliveryMode::Stream, request, meter, is_stopped, each) {
            Err(ChatError::HttpStatus { status: 400 | 422, message, .. }) if message.contains("stream_options") => {
                self.stream_with_delivery(DeliveryMode::StreamWithoutUsage, request, meter, is_stopped, each)
            }
            other => other,
        }
    }

    fn stream_with_delivery(
        &self,
        manner: DeliveryMode,
        request: &ChatRequest,
        meter: &dyn Meter,
        is_stopped: &dyn Fn() -> bool,
        each: &mut dyn FnMut(crate::AnswerChunk<'_>),
    ) -> Result<StreamedAnswer, ChatError> {
        let listening = StreamRequest { model: self, request, is_stopped };
        let body = self.body(request, wire::AnswerFormat::Text, manner);
        let planned = self.estimate_body(&body, request);
        let streamed = with_retries(self.client.limits().retries, is_stopped, || {
            if is_stopped() {
                return Ok(listening.empty_answer());
            }
            send_metered(meter, &planned, |tokens| self.cost(tokens), || listening.attempt(&body, each))
        });
        // It was stopped in the pause between two attempts.
        if streamed.is_err() && is_stopped() { Ok(listening.empty_answer()) } else { streamed }
    }
}

impl StreamRequest<'_> {
    fn empty_answer(&self) -> StreamedAnswer {
        let answer = AnswerBuilder::new(&[]).finish_incomplete(&self.model.model, StopReason::Aborted);
        StreamedAnswer { answer, error: None }
    }

    fn attempt(
        &self,
        body: &[u8],
        each: &mut ChunkHandler<'_>,
    ) -> Result<RequestOutcome<StreamedAnswer>, FailedRequest> {
        let (client, agent) = self.model.client.with_own_connections();
        let (sender, receiver) = sync_channel(CHANNEL_CAPACITY);
        let (endpoint, body) = (self.model.stream_endpoint.clone(), body.to_vec());
        let thread = std::thread::Builder::new().name("model-stream".to_owned());
        let spawned = thread.spawn(move || run_reader(&client, &endpoint, &body, &sender));
        if let Err(error) = spawned {
            let error = self.model.client.interrupted(&self.model.stream_endpoint, &error.to_string());
            return Err(FailedRequest { error, retry: RetryAdvice::Never, was_sent: false, is_free: true });
        }
        let mut builder = AnswerBuilder::new(&self.request.messages);
        let ended = self.receive(&receiver, &mut builder, each);
        // Closing the connection also ends the thread.
        agent.shutdown();
        self.outcome(ended, builder)
    }

    fn receive(
        &self,
        receiver: &Receiver<StreamMessage>,
        builder: &mut AnswerBuilder,
        each: &mut ChunkHandler<'_>,
    ) -> StreamEnd {
        let limits = self.model.client.limits();
        let start = Instant::now();
        let mut last = start;
        while start.elapsed() < limits.total {
            if (self.is_stopped)() {
                return StreamEnd::Stopped;
            }
            match receiver.recv_timeout(STOP_POLL_INTERVAL) {
                Ok(message) => {
                    if let Some(ended) = self.handle_message(message, builder, each) {
                        return ended;
                    }
                    last = Instant::now();
                }
                Err(RecvTimeoutError::Timeout) if last.elapsed() >= limits.idle => {
                    return self.timed_out(builder, limits.idle);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return self.end_of_stream(builder),
            }
        }
        self.timed_out(builder, limits.total)
    }

    fn handle_message(
        &self,
        message: StreamMessage,
        builder: &mut AnswerBuilder,
        each: &mut ChunkHandler<'_>,
    ) -> Option<StreamEnd> {
        let provider = self.model.provider;
        match message {
            StreamMessage::PartialEvent => None,
            StreamMessage::Event(data) => match wire::read_event(provider, &data, builder, each) {
                Ok(StreamProgress::More) => None,
                Ok(StreamProgress::Done) => Some(StreamEnd::Complete),
                Err(reason) => Some(self.interrupted(&reason)),
            },
            StreamMessage::CompleteResponse(body) => match wire::read_response(provider, &body, builder, each) {
                Ok(()) => Some(StreamEnd::Complete),
                Err(reason) => {
                    let error = self.model.client.invalid_response(&self.model.stream_endpoint, &reason);
                    Some(StreamEnd::Failed(FailedRequest::permanent(error)))
                }
            },
            // Once the stop reason is known, only the usage can be missing.
            StreamMessage::Failed(_) if builder.stop.is_some() => Some(StreamEnd::Complete),
            StreamMessage::Failed(failed) => Some(StreamEnd::Failed(failed)),
            StreamMessage::End => Some(self.end_of_stream(builder)),
        }
    }

    fn end_of_stream(&self, builder: &AnswerBuilder) -> StreamEnd {
        if builder.stop.is_some() { StreamEnd::Complete } else { self.interrupted("the connection was closed") }
    }

    fn interrupted(&self, reason: &str) -> StreamEnd {
        let error = self.model.client.interrupted(&self.model.stream_endpoint, reason);
        StreamEnd::Failed(FailedRequest { error, retry: RetryAdvice::WithBackoff, was_sent: true, is_free: false })
    }

    fn timed_out(&self, builder: &AnswerBuilder, waited: Duration) -> StreamEnd {
        if builder.stop.is_some() {
            return StreamEnd::Complete;
        }
        let endpoint = self.model.stream_endpoint.to_string();
        StreamEnd::Failed(FailedRequest::permanent(ChatError::Timeout { endpoint, seconds: waited.as_secs() }))
    }

    fn outcome(
        &self,
        ended: StreamEnd,
        builder: AnswerBuilder,
    ) -> Result<RequestOutcome<StreamedAnswer>, FailedRequest> {
        let model = &self.model.model;
        let (answer, error, failed) = match ended {
            StreamEnd::Complete => (builder.finish(model), None, None),
            StreamEnd::Stopped => {
                (builder.finish_incomplete(model, StopReason::Aborted), Some("stopped".to_owned()), None)
            }
            StreamEnd::Failed(failed) if builder.is_empty() => return Err(failed),
            StreamEnd::Failed(failed) => (
                builder.finish_incomplete(model, StopReason::Error),
                Some(failed.error.short_reason()),
                Some(failed.error),
            ),
        };
        let (tokens, estimated_output): (Option<Tokens>, u64) = (answer.usage, answer.estimated_tokens());
        Ok(RequestOutcome { value: StreamedAnswer { answer, error: failed }, tokens, estimated_output, error })
    }
}

/// Body of the reader thread: sends the request and forwards the response. Ends when the receiver is gone.
fn run_reader(client: &HttpClient, endpoint: &Endpoint, body: &[u8], to: &SyncSender<StreamMessage>) {
    let end = match read_stream(client, endpoint, body, to) {
        Ok(Some(whole)) => StreamMessage::CompleteResponse(whole),
        Ok(None) => StreamMessage::End,
        Err(failed) => StreamMessage::Failed(failed),
    };
    // The receiver may already be gone.
    let _ = to.send(end);
}

/// Forwards events. Returns the response if it is complete JSON instead of an event stream.
fn read_stream(
    client: &HttpClient,
    endpoint: &Endpoint,
    body: &[u8],
    to: &SyncSender<StreamMessage>,
) -> Result<Option<Vec<u8>>, FailedRequest> {
    let mut response = client.open(endpoint, body)?;
    let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    if kind.starts_with("application/json") {
        let whole = response.body_mut().with_config().limit(MAX_ANSWER_BYTES).read_to_vec();
        return whole.map(Some).map_err(|error| client.failed_request(endpoint, &error));
    }
    let mut reader = response.into_body().into_reader();
    let mut events = SseParser::default();
    let mut chunk = vec![0; CHUNK_BYTES];
    let mut total = 0_u64;
    loop {
        let count = reader.read(&mut chunk).map_err(|error| interrupted_read(client, endpoint, error))?;
        total += count as u64;
        let complete = match events.feed(&chunk[..count]) {
            Ok(complete) if total <= MAX_ANSWER_BYTES => complete,
            _ => return Err(FailedRequest::permanent(client.invalid_response(endpoint, "response too long"))),
        };
        let complete = if count == 0 { events.finish().into_iter().collect() } else { complete };
        let nothing = complete.is_empty().then_some(StreamMessage::PartialEvent);
        for message in complete.into_iter().map(StreamMessage::Event).chain(nothing) {
            if to.send(message).is_err() {
                return Ok(None);
            }
        }
        if count == 0 {
            return Ok(None);
        }
    }
}

/// A connection lost during the response is reported as interrupted, not as unreachable.
fn interrupted_read(client: &HttpClient, endpoint: &Endpoint, error: std::io::Error) -> FailedRequest {
    let mut failed = client.failed_request(endpoint, &ureq::Error::from(error));
    if let ChatError::Unreachable { cause, .. } = &failed.error {
        failed.error = client.interrupted(endpoint, cause);
    }
    FailedRequest { was_sent: true, is_free: false, ..failed }
}
