//! The two live connections to a server: the WebSocket at `/ws` and the event stream at `/api/events`.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::{CloseFrame, WebSocket};
use tungstenite::{Error, HandshakeError, Message};

use crate::{ApiClient, WAIT_LIMIT};

/// A client of the WebSocket.
pub struct ApiSocket {
    socket: WebSocket<TcpStream>,
    check_frame: fn(&Value),
    /// Every frame that was received, but for `changed`.
    pub frames: Vec<Value>,
}

impl ApiSocket {
    pub(crate) fn open(client: &ApiClient, query: &str) -> Result<Self, u16> {
        let mut request = format!("ws://{}/ws{query}", client.authority).into_client_request().unwrap();
        request.headers_mut().insert("Authorization", format!("Bearer {}", client.token).parse().unwrap());
        match tungstenite::client(request, client.connect()) {
            Ok((socket, _)) => Ok(Self { socket, check_frame: client.check_frame, frames: Vec::new() }),
            Err(HandshakeError::Failure(Error::Http(response))) => Err(response.status().as_u16()),
            Err(error) => panic!("{error}"),
        }
    }

    /// Sends a frame.
    pub fn send_json(&mut self, frame: &Value) {
        self.send(Message::text(frame.to_string()));
    }

    /// Sends any message.
    pub fn send(&mut self, message: Message) {
        self.try_send(message).unwrap();
    }

    /// The same where the server may have closed the connection.
    pub fn try_send(&mut self, message: Message) -> Result<(), Error> {
        self.socket.send(message)
    }

    /// Sends a `send_message` frame.
    pub fn send_message(&mut self, thread: &str, text: &str) {
        self.send_json(&json!({"type": "send_message", "sessionId": thread, "text": text}));
    }

    /// The next frame. Skips `changed`, which comes whenever the background sync stores something.
    pub fn next_frame(&mut self) -> Value {
        let started = Instant::now();
        loop {
            assert!(started.elapsed() < WAIT_LIMIT, "no frame came after {:?}", self.frames.last());
            match self.socket.read().unwrap() {
                Message::Text(text) => {
                    let frame: Value = serde_json::from_str(&text).unwrap();
                    (self.check_frame)(&frame);
                    if frame["type"] == "changed" {
                        continue;
                    }
                    self.frames.push(frame.clone());
                    return frame;
                }
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?} instead of a frame"),
            }
        }
    }

    /// Reads up to the next frame of a type.
    pub fn wait_for(&mut self, frame_type: &str) -> Value {
        self.wait_for_match(|frame| frame["type"] == frame_type)
    }

    /// Reads up to the next frame that fits.
    pub fn wait_for_match(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        loop {
            let frame = self.next_frame();
            if fits(&frame) {
                return frame;
            }
        }
    }

    /// Reads until `count` pieces of an answer have been received since the connection was opened.
    pub fn wait_for_deltas(&mut self, count: usize) {
        while self.deltas().len() < count {
            self.next_frame();
        }
    }

    /// Reads until the server closes; the close frame, if it sent one.
    pub fn read_to_close(&mut self) -> Option<CloseFrame> {
        let mut close = None;
        loop {
            match self.socket.read() {
                Ok(Message::Close(frame)) => close = frame,
                Ok(Message::Text(text)) => self.frames.push(serde_json::from_str(&text).unwrap()),
                Ok(_) => {}
                Err(_) => return close,
            }
        }
    }

    /// The streamed pieces of answers in the frames received so far.
    pub fn deltas(&self) -> Vec<&str> {
        self.frames.iter().filter_map(|frame| frame["delta"].as_str()).collect()
    }

    /// The types of the frames received so far.
    pub fn frame_types(&self) -> Vec<&str> {
        self.frames.iter().map(|frame| frame["type"].as_str().unwrap()).collect()
    }
}

/// A client of the event stream.
pub struct EventClient {
    reader: BufReader<TcpStream>,
    check_frame: fn(&Value),
}

impl EventClient {
    pub(crate) fn open(client: &ApiClient, query: &str) -> Self {
        let (mut stream, host) = (client.connect(), &client.authority);
        let head = format!("GET /api/events{query} HTTP/1.1\r\nHost: {host}\r\n{}\r\n\r\n", client.bearer());
        stream.write_all(head.as_bytes()).unwrap();
        let mut events = Self { reader: BufReader::new(stream), check_frame: client.check_frame };
        // The server sends this comment once it is subscribed.
        while events.next_line().is_some_and(|line| line != ": listening") {}
        events
    }

    /// The next event; none when the server has ended the stream.
    pub fn next_event(&mut self) -> Option<Value> {
        loop {
            let line = self.next_line()?;
            let Some(event_type) = line.strip_prefix("event: ") else { continue };
            let data = self.next_line()?;
            let event: Value = serde_json::from_str(data.strip_prefix("data: ").unwrap()).unwrap();
            assert_eq!(event["type"], event_type);
            (self.check_frame)(&event);
            return Some(event);
        }
    }

    /// Reads up to the next event that fits.
    pub fn wait_for_match(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        std::iter::from_fn(|| self.next_event()).find(fits).unwrap()
    }

    fn next_line(&mut self) -> Option<String> {
        let mut line = String::new();
        let read = self.reader.read_line(&mut line).unwrap();
        (read > 0).then(|| line.trim_end().to_owned())
    }
}
