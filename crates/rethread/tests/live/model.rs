//! A language model of our own on loopback: it answers what it is told, and holds its breath when the test wants it to.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// What it calls a conversation.
pub(crate) const TITLE: &str = "A Conversation Worth Naming";

/// A model. `hold NAME …` is answered halfway and then not before NAME is released; `fail` is refused; `call`
/// is answered with a call of the tool `weather`; everything else is repeated word by word.
#[derive(Clone)]
pub(crate) struct Model {
    pub(crate) base: String,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    heard: Vec<String>,
    released: BTreeSet<String>,
    holding: BTreeSet<String>,
}

impl Model {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let model = Self { base, state: Arc::default() };
        let shared = model.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let model = shared.clone();
                // A client that has gone is no reason for the model to stop.
                std::thread::spawn(move || model.answer(stream.unwrap()).ok());
            }
        });
        model
    }

    /// Settings that lead to it.
    pub(crate) fn settings(&self) -> String {
        let base = &self.base;
        format!(
            "[model]\nprovider = \"openai\"\nname = \"small\"\nendpoint = \"{base}\"\n\
             [budget]\ndaily_tokens = 900000000\n"
        )
    }

    /// What it was asked to answer, in order.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.state.0.lock().unwrap().heard.clone()
    }

    /// Lets it go on.
    pub(crate) fn release(&self, name: &str) {
        self.state.0.lock().unwrap().released.insert(name.to_owned());
        self.state.1.notify_all();
    }

    /// Waits until it holds its breath.
    pub(crate) fn wait_until_it_holds(&self, name: &str) {
        let state = self.state.0.lock().unwrap();
        let limit = Duration::from_secs(30);
        let (_held, late) =
            self.state.1.wait_timeout_while(state, limit, |state| !state.holding.contains(name)).unwrap();
        assert!(!late.timed_out(), "it was never asked to hold {name}");
    }

    fn answer(&self, mut stream: TcpStream) -> std::io::Result<()> {
        let body = read(&mut stream);
        let asked = body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap().to_owned();
        if body["stream"] != true {
            return whole(&mut stream, 200, &named());
        }
        self.state.0.lock().unwrap().heard.push(asked.clone());
        if asked.starts_with("fail") {
            return whole(&mut stream, 400, &json!({"error": {"message": "not today"}}));
        }
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")?;
        if asked.starts_with("call") {
            let call = json!({"index": 0, "id": "c1", "function": {"name": "weather", "arguments": "{}"}});
            say(&mut stream, &json!({"tool_calls": [call]}), &Value::Null)?;
            say(&mut stream, &json!({}), &json!("tool_calls"))?;
            return write!(stream, "data: [DONE]\n\n");
        }
        for (at, word) in format!("You said: {asked}").split_inclusive(' ').enumerate() {
            say(&mut stream, &json!({"content": word}), &Value::Null)?;
            if at == 1 && asked.starts_with("hold ") {
                self.hold(asked.split(' ').nth(1).unwrap(), &stream)?;
            }
        }
        say(&mut stream, &json!({}), &json!("stop"))?;
        let usage = json!({"choices": [], "usage": {"prompt_tokens": 30, "completion_tokens": 7}});
        write!(stream, "data: {usage}\n\ndata: [DONE]\n\n")
    }

    /// Holds its breath until it is let go on, or nobody listens any more.
    fn hold(&self, name: &str, mut stream: &TcpStream) -> std::io::Result<()> {
        stream.set_read_timeout(Some(Duration::from_millis(10)))?;
        let mut state = self.state.0.lock().unwrap();
        state.holding.insert(name.to_owned());
        self.state.1.notify_all();
        while !state.released.contains(name) {
            state = self.state.1.wait_timeout(state, Duration::from_millis(10)).unwrap().0;
            if matches!(stream.read(&mut [0; 1]), Ok(0)) {
                return Err(std::io::ErrorKind::BrokenPipe.into());
            }
        }
        Ok(())
    }
}

fn named() -> Value {
    let message = json!({"role": "assistant", "content": TITLE});
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 4});
    json!({"choices": [{"message": message, "finish_reason": "stop"}], "usage": usage})
}

fn whole(stream: &mut TcpStream, status: u16, body: &Value) -> std::io::Result<()> {
    let body = body.to_string();
    let head = format!("HTTP/1.1 {status} So\r\ncontent-type: application/json\r\nconnection: close");
    write!(stream, "{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn say(stream: &mut TcpStream, delta: &Value, end: &Value) -> std::io::Result<()> {
    let event = json!({"choices": [{"index": 0, "delta": delta, "finish_reason": end}]});
    write!(stream, "data: {event}\n\n")
}

/// The body of one request.
fn read(stream: &mut TcpStream) -> Value {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim_end().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    serde_json::from_slice(&body).unwrap()
}
