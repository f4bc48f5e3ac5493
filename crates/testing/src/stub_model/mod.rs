//! A model server on loopback that does what a test scripts, for every provider's wire format.
//!
//! Text, tool calls and errors are written in the format of `OpenAI`. For Anthropic, Gemini and broken answers a test
//! scripts the response itself: [`StubReply::Http`] for a whole one, [`StubReply::Events`] for a stream.

mod embeddings;
mod http;
mod openai;

use std::collections::{BTreeSet, VecDeque};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

use serde_json::{Value, json};

use crate::WAIT_LIMIT;

/// A request as it came in.
#[derive(Clone, Debug)]
pub struct StubRequest {
    /// Request line and headers, one per line; header names in lower case.
    pub head: String,
    /// The body.
    pub body: Value,
}

impl StubRequest {
    /// Whether the client wants the answer as a stream.
    pub fn wants_stream(&self) -> bool {
        self.body["stream"] == true
    }

    /// The text of the last chat message.
    pub fn last_message(&self) -> &str {
        self.body["messages"].as_array().and_then(|all| all.last()?["content"].as_str()).unwrap_or_default()
    }
}

/// What the stub does with one request.
#[derive(Clone, Debug)]
pub enum StubReply {
    /// Answers with this text. A stream gets one event per piece.
    Text(Vec<String>),
    /// Calls tools: id, name, arguments.
    ToolCalls(Vec<(&'static str, &'static str, Value)>),
    /// Streams `before`, waits for [`StubModel::release`] of `name`, then streams `after`. Without a stream, waits
    /// before the whole answer.
    Held {
        /// The name to release.
        name: String,
        /// Pieces sent at once.
        before: Vec<String>,
        /// Pieces sent after the release.
        after: Vec<String>,
    },
    /// Streams this text, then nothing more until the client disconnects.
    Stall(&'static str),
    /// Streams this text, then closes the connection.
    CutOff(&'static str),
    /// Refuses with this status and the message `not today`.
    Status(u16),
    /// A whole HTTP response.
    Http {
        /// Such as `429 Too Many Requests`.
        status: &'static str,
        /// More header lines, each ended by `\r\n`.
        headers: String,
        /// The body.
        body: String,
    },
    /// Server-sent events in writes of `chunk` bytes, then the end of the connection.
    Events {
        /// See [`events`].
        text: String,
        /// Bytes per write.
        chunk: usize,
    },
    /// Server-sent events, then nothing more until the client disconnects.
    StalledEvents(String),
    /// Server-sent events in a chunked body that is cut off.
    BrokenEvents(String),
    /// Whatever this makes of the request.
    Computed(fn(&StubRequest) -> StubReply),
    /// Closes the connection without an answer.
    Close,
}

impl StubReply {
    /// A text, streamed word by word.
    pub fn text(text: &str) -> Self {
        StubReply::Text(words(text))
    }

    /// A JSON value as text, in one piece.
    pub fn json(value: &Value) -> Self {
        StubReply::Text(vec![value.to_string()])
    }

    /// A whole HTTP response without special headers.
    pub fn http(status: &'static str, body: &str) -> Self {
        StubReply::Http { status, headers: String::new(), body: body.to_owned() }
    }

    /// A text like [`StubReply::text`] that waits after its first two words until `name` is released.
    pub fn held(name: &str, text: &str) -> Self {
        let mut before = words(text);
        let after = before.split_off(2);
        StubReply::Held { name: name.to_owned(), before, after }
    }
}

/// Server-sent events, each with its data.
pub fn events(data: &[&str]) -> String {
    data.iter().flat_map(|data| ["data: ", data, "\n\n"]).collect()
}

fn words(text: &str) -> Vec<String> {
    text.split_inclusive(' ').map(str::to_owned).collect()
}

type Responder = Box<dyn Fn(&StubRequest) -> StubReply + Send + Sync>;

/// The server. Clones share it.
#[derive(Clone)]
pub struct StubModel {
    address: String,
    shared: Arc<Shared>,
}

struct Shared {
    responder: Responder,
    state: Mutex<StubState>,
    changed: Condvar,
}

#[derive(Default)]
struct StubState {
    replies: VecDeque<StubReply>,
    requests: Vec<StubRequest>,
    held: BTreeSet<String>,
    released: BTreeSet<String>,
    disconnects: usize,
}

impl StubModel {
    /// Gives these replies in order, then the text `nothing more to say`.
    pub fn with_replies(replies: Vec<StubReply>) -> Self {
        let model = Self::with_responder(|_| StubReply::text("nothing more to say"));
        model.shared.state.lock().unwrap().replies = replies.into();
        model
    }

    /// Gives these replies in order, then closes every connection.
    pub fn with_only(replies: Vec<StubReply>) -> Self {
        let model = Self::with_responder(|_| StubReply::Close);
        model.shared.state.lock().unwrap().replies = replies.into();
        model
    }

    /// Computes each reply from its request.
    pub fn with_responder(responder: impl Fn(&StubRequest) -> StubReply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let shared = Shared { responder: Box::new(responder), state: Mutex::default(), changed: Condvar::new() };
        let model = Self { address, shared: Arc::new(shared) };
        let shared = Arc::clone(&model.shared);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let shared = Arc::clone(&shared);
                // An error is a client that disconnected, which the test sees on the client's side.
                std::thread::spawn(move || shared.serve(stream.unwrap()).ok());
            }
        });
        model
    }

    /// An embedding model: words of one topic give similar vectors. `padding` adds that many numbers to each vector,
    /// so that a test can change the model under its name.
    pub fn with_embeddings(padding: impl Fn() -> usize + Send + Sync + 'static) -> Self {
        Self::with_responder(move |request| embeddings::reply(request, padding()))
    }

    /// A model that no client can reach: nothing listens at its address.
    pub fn unreachable() -> Self {
        let shared =
            Shared { responder: Box::new(|_| StubReply::Close), state: Mutex::default(), changed: Condvar::new() };
        // Port 1 was given to a service that no machine runs any more.
        Self { address: "127.0.0.1:1".to_owned(), shared: Arc::new(shared) }
    }

    /// `http://` with host and port, as Anthropic and Gemini want it.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The same with `/v1`, as `OpenAI` wants it.
    pub fn openai_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Settings for `config.toml` that use this model as the chat model, with an ample budget.
    pub fn config(&self) -> String {
        format!(
            "[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"{}\"\n\
             [budget]\ndaily_tokens = 900000000\n",
            self.openai_url()
        )
    }

    /// The same as settings of an engine.
    pub fn settings(&self) -> Vec<(String, String)> {
        let settings = [
            ("model.provider", "openai".to_owned()),
            ("model.name", "small".to_owned()),
            ("model.endpoint", self.openai_url()),
            ("budget.daily_tokens", "1000000".to_owned()),
        ];
        settings.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    /// Adds a reply.
    pub fn push(&self, reply: StubReply) {
        self.shared.state.lock().unwrap().replies.push_back(reply);
    }

    /// The requests so far, oldest first.
    pub fn requests(&self) -> Vec<StubRequest> {
        self.shared.state.lock().unwrap().requests.clone()
    }

    /// The bodies of the requests so far, oldest first.
    pub fn bodies(&self) -> Vec<Value> {
        self.requests().into_iter().map(|request| request.body).collect()
    }

    /// The requests since the last call, oldest first.
    pub fn take_requests(&self) -> Vec<StubRequest> {
        std::mem::take(&mut self.shared.state.lock().unwrap().requests)
    }

    /// The last message of every streaming request so far.
    pub fn prompts(&self) -> Vec<String> {
        let requests = self.requests().into_iter().filter(StubRequest::wants_stream);
        requests.map(|request| request.last_message().to_owned()).collect()
    }

    /// Lets the reply that is held under this name continue.
    pub fn release(&self, name: &str) {
        self.shared.state.lock().unwrap().released.insert(name.to_owned());
        self.shared.changed.notify_all();
    }

    /// Waits until a reply is held under this name.
    pub fn wait_until_held(&self, name: &str) {
        self.wait_for(&format!("a reply held as {name}"), |state| state.held.contains(name));
    }

    /// Waits until a client has disconnected from a stalled or held reply.
    pub fn wait_for_disconnect(&self) {
        self.wait_for("a disconnect", |state| state.disconnects > 0);
        self.shared.state.lock().unwrap().disconnects -= 1;
    }

    fn wait_for(&self, what: &str, is_done: impl Fn(&StubState) -> bool) {
        let state = self.shared.state.lock().unwrap();
        let waited = self.shared.changed.wait_timeout_while(state, WAIT_LIMIT, |state| !is_done(state));
        assert!(!waited.unwrap().1.timed_out(), "{what} did not happen");
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let request = http::read_request(&stream);
        let scripted = {
            let mut state = self.state.lock().unwrap();
            state.requests.push(request.clone());
            state.replies.pop_front()
        };
        let mut reply = scripted.unwrap_or_else(|| (self.responder)(&request));
        if let StubReply::Computed(compute) = reply {
            reply = compute(&request);
        }
        match reply {
            StubReply::Close => Ok(()),
            StubReply::Http { status, headers, body } => http::write_response(&mut stream, status, &headers, &body),
            StubReply::Status(status) => {
                let body = json!({"error": {"message": "not today"}}).to_string();
                http::write_response(&mut stream, &format!("{status} No"), "", &body)
            }
            StubReply::Events { text, chunk } => http::write_events(&mut stream, &text, chunk),
            StubReply::BrokenEvents(text) => http::write_broken_events(&mut stream, &text),
            StubReply::StalledEvents(text) => {
                http::write_events(&mut stream, &text, text.len().max(1))?;
                self.stall(&stream)
            }
            chat if !request.wants_stream() => {
                let text = match chat {
                    StubReply::Text(pieces) => pieces.concat(),
                    StubReply::Held { name, before, after } => {
                        self.hold(&name, &stream)?;
                        before.concat() + &after.concat()
                    }
                    _ => String::new(),
                };
                http::write_response(&mut stream, "200 OK", http::JSON, &openai::answer(&text))
            }
            chat => self.stream_chat(&mut stream, chat),
        }
    }

    fn stream_chat(&self, stream: &mut TcpStream, reply: StubReply) -> std::io::Result<()> {
        http::start_events(stream)?;
        let finish = match reply {
            StubReply::Text(pieces) => {
                openai::write_pieces(stream, &pieces)?;
                "stop"
            }
            StubReply::Held { name, before, after } => {
                openai::write_pieces(stream, &before)?;
                self.hold(&name, stream)?;
                openai::write_pieces(stream, &after)?;
                "stop"
            }
            StubReply::ToolCalls(calls) => {
                openai::write_tool_calls(stream, &calls)?;
                "tool_calls"
            }
            StubReply::Stall(text) => {
                openai::write_pieces(stream, &[text.to_owned()])?;
                return self.stall(stream);
            }
            StubReply::CutOff(text) => return openai::write_pieces(stream, &[text.to_owned()]),
            other => panic!("{other:?} is not a chat reply"),
        };
        openai::write_end(stream, finish)
    }

    /// Waits until the name is released. Fails when the client disconnects first.
    fn hold(&self, name: &str, stream: &TcpStream) -> std::io::Result<()> {
        let mut state = self.state.lock().unwrap();
        state.held.insert(name.to_owned());
        self.changed.notify_all();
        while !state.released.contains(name) {
            state = self.changed.wait_timeout(state, http::POLL).unwrap().0;
            if http::is_closed(stream)? {
                state.disconnects += 1;
                self.changed.notify_all();
                return Err(std::io::ErrorKind::BrokenPipe.into());
            }
        }
        Ok(())
    }

    /// Waits until the client disconnects.
    fn stall(&self, stream: &TcpStream) -> std::io::Result<()> {
        while !http::is_closed(stream)? {}
        self.state.lock().unwrap().disconnects += 1;
        self.changed.notify_all();
        Ok(())
    }
}
