//! The other side: a socket, a stream of events, and requests, each frame of which is held against its definition.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::{CloseFrame, WebSocket};
use tungstenite::{Error, Message};

use crate::house::{Answer, Server};
use crate::shapes;

/// How long anything is waited for before the test has failed.
const LIMIT: Duration = Duration::from_secs(30);

/// A client of the socket.
pub(crate) struct Socket {
    inner: WebSocket<TcpStream>,
    /// Every frame it got.
    pub(crate) seen: Vec<Value>,
}

impl Socket {
    /// Opens one, with a query such as `?session=…`.
    pub(crate) fn open(server: &Server, token: &str, query: &str) -> Self {
        Self::try_open(server, token, query).unwrap()
    }

    /// Opens one, or gives the status it was refused with.
    pub(crate) fn try_open(server: &Server, token: &str, query: &str) -> Result<Self, u16> {
        let mut request = format!("ws://{}/ws{query}", server.authority()).into_client_request().unwrap();
        request.headers_mut().insert("Authorization", format!("Bearer {token}").parse().unwrap());
        let stream = TcpStream::connect(server.authority()).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        match tungstenite::client(request, stream) {
            Ok((inner, _)) => Ok(Self { inner, seen: Vec::new() }),
            Err(tungstenite::HandshakeError::Failure(Error::Http(answer))) => Err(answer.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends a frame.
    pub(crate) fn say(&mut self, frame: &Value) {
        self.send(Message::text(frame.to_string()));
    }

    /// Sends whatever it is.
    pub(crate) fn send(&mut self, message: Message) {
        self.try_send(message).unwrap();
    }

    /// The same where the other side may have hung up.
    pub(crate) fn try_send(&mut self, message: Message) -> Result<(), Error> {
        self.inner.send(message)
    }

    /// Has a message run.
    pub(crate) fn send_message(&mut self, thread: &str, text: &str) {
        self.say(&json!({"type": "send_message", "sessionId": thread, "text": text}));
    }

    /// The next frame, but for those that tell that memory has taken something in: they come whenever it does.
    pub(crate) fn next(&mut self) -> Value {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < LIMIT, "nothing but pings came after {:?}", self.seen.last());
            match self.inner.read().unwrap() {
                Message::Text(text) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    shapes::check(&frame);
                    if frame["type"] == "changed" {
                        continue;
                    }
                    self.seen.push(frame.clone());
                    return frame;
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?} instead of a frame"),
            }
        }
    }

    /// Reads on until a frame is of that kind, and gives it.
    pub(crate) fn until(&mut self, kind: &str) -> Value {
        self.until_so(|frame| frame["type"] == kind)
    }

    /// Reads on until a frame is so, and gives it.
    pub(crate) fn until_so(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.next();
            if is_it(&frame) {
                return frame;
            }
        }
    }

    /// Reads to the end, and gives the other side's farewell.
    pub(crate) fn farewell(&mut self) -> Option<CloseFrame> {
        let mut farewell = None;
        loop {
            match self.inner.read() {
                Ok(Message::Close(frame)) => farewell = frame,
                Ok(Message::Text(text)) => self.seen.push(serde_json::from_str(&text).unwrap()),
                Ok(_) => {}
                Err(_) => return farewell,
            }
        }
    }

    /// What a model said in the frames that were seen.
    pub(crate) fn deltas(&self) -> Vec<&str> {
        self.seen.iter().filter_map(|frame| frame["delta"].as_str()).collect()
    }

    /// The kinds of the frames that were seen.
    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.seen.iter().map(|frame| frame["type"].as_str().unwrap()).collect()
    }
}

/// A client of the events.
pub(crate) struct Page(BufReader<TcpStream>);

impl Page {
    /// Listens, with a query such as `?session=…`. From when this returns nothing is missed.
    pub(crate) fn open(server: &Server, token: &str, query: &str) -> Self {
        let mut stream = TcpStream::connect(server.authority()).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        let host = server.authority();
        let head = format!("GET /api/events{query} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut page = Self(BufReader::new(stream));
        while page.line().is_some_and(|line| line != ": listening") {}
        page
    }

    /// The next event and its name; nothing when the server has ended it.
    pub(crate) fn next(&mut self) -> Option<Value> {
        loop {
            let line = self.line()?;
            let Some(kind) = line.strip_prefix("event: ") else { continue };
            let data = self.line()?;
            let frame: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(frame["type"], kind);
            shapes::check(&frame);
            return Some(frame);
        }
    }

    /// Reads on until an event is so, and gives it.
    pub(crate) fn until_so(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        std::iter::from_fn(|| self.next()).find(is_it).unwrap()
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.0.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }
}

/// A POST of a message.
pub(crate) fn post(server: &Server, token: &str, thread: &str, body: &Value) -> (u16, Value) {
    let answer = post_as(server, token, thread, &[], &body.to_string());
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
}

/// The same with further lines in its head.
pub(crate) fn post_as(server: &Server, token: &str, thread: &str, more: &[&str], body: &str) -> Answer {
    let first = format!("POST /api/sessions/{thread}/messages");
    let bearer = format!("Authorization: Bearer {token}");
    let head = [&[first.as_str(), &bearer, "Content-Type: application/json"], more].concat();
    server.ask(&head, body)
}
