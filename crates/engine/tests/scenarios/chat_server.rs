//! A language model of our own: says what the test wants it to, as `OpenAI` would, streaming where it is asked to.

#![expect(clippy::unwrap_used, reason = "a server that cannot be set up must stop the test")]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// What the model does next.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// Says this, one piece after the other.
    Says(Vec<String>),
    /// Calls these tools: id, name, arguments.
    Calls(Vec<(&'static str, &'static str, Value)>),
    /// Says this, then nothing more, until the client goes away.
    Stalls(&'static str),
    /// Says this, and breaks off.
    Breaks(&'static str),
    /// Refuses.
    Fails(u16),
}

impl Reply {
    pub(crate) fn says(text: &str) -> Self {
        Reply::Says(text.split_inclusive(' ').map(str::to_owned).collect())
    }
}

pub(crate) struct ChatServer {
    pub(crate) base: String,
    replies: Arc<Mutex<VecDeque<Reply>>>,
    received: Arc<Mutex<Vec<Value>>>,
}

impl ChatServer {
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = Self { base, replies: Arc::new(Mutex::new(replies.into())), received: Arc::default() };
        let (replies, received) = (Arc::clone(&server.replies), Arc::clone(&server.received));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let (replies, received) = (Arc::clone(&replies), Arc::clone(&received));
                std::thread::spawn(move || {
                    let mut stream = stream.unwrap();
                    let (_, body) = read(&mut stream);
                    received.lock().unwrap().push(body.clone());
                    let reply = replies.lock().unwrap().pop_front().unwrap_or(Reply::says("nothing more to say"));
                    // A client that has gone is no reason for the server to stop.
                    let _ = answer(&mut stream, &reply, body["stream"] == true);
                });
            }
        });
        server
    }

    pub(crate) fn then(&self, reply: Reply) {
        self.replies.lock().unwrap().push_back(reply);
    }

    /// The bodies that came in, oldest first.
    pub(crate) fn received(&self) -> Vec<Value> {
        self.received.lock().unwrap().clone()
    }
}

fn answer(stream: &mut (impl Read + Write), reply: &Reply, streams: bool) -> std::io::Result<()> {
    match reply {
        Reply::Fails(status) => {
            let body = json!({"error": {"message": "not today"}}).to_string();
            let length = body.len();
            write!(stream, "HTTP/1.1 {status} No\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
        }
        reply if !streams => {
            let text = if let Reply::Says(pieces) = reply { pieces.concat() } else { String::new() };
            let message = json!({"role": "assistant", "content": text});
            let usage = json!({"prompt_tokens": 20, "completion_tokens": 4});
            let body = json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage}).to_string();
            let length = body.len();
            write!(
                stream,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
            )
        }
        reply => stream_answer(stream, reply),
    }
}

fn stream_answer(stream: &mut (impl Read + Write), reply: &Reply) -> std::io::Result<()> {
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
    let mut send = |value: Value| {
        write!(stream, "data: {value}\n\n")?;
        stream.flush()
    };
    let delta = |delta: Value, end: Value| json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
    let end = match reply {
        Reply::Says(pieces) => {
            for piece in pieces {
                send(delta(json!({"content": piece}), Value::Null))?;
            }
            "stop"
        }
        Reply::Calls(calls) => {
            for (index, (id, name, arguments)) in calls.iter().enumerate() {
                let function = json!({"name": name, "arguments": arguments.to_string()});
                let call = json!({"index": index, "id": id, "type": "function", "function": function});
                send(delta(json!({"tool_calls": [call]}), Value::Null))?;
            }
            "tool_calls"
        }
        Reply::Stalls(text) => {
            send(delta(json!({"content": text}), Value::Null))?;
            // Until the client goes away.
            let _ = stream.read(&mut [0; 1]);
            return Ok(());
        }
        Reply::Breaks(text) => return send(delta(json!({"content": text}), Value::Null)),
        Reply::Fails(_) => return Ok(()),
    };
    send(delta(json!({}), json!(end)))?;
    send(json!({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 7}}))?;
    stream.write_all(b"data: [DONE]\n\n")
}

/// One request as it came in: the head, and the body.
pub(crate) fn read(stream: &mut impl Read) -> (String, Value) {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        head += &line;
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    (head, serde_json::from_slice(&body).unwrap())
}
