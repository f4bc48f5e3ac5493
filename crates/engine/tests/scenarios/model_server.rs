//! An embedding model of our own: words of one idea point the same way. Serves HTTP on a free port of this machine.

#![expect(clippy::unwrap_used, reason = "a server that cannot be set up must stop the test")]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crate::chat_server;

/// Each line is one direction.
const IDEAS: [&[&str]; 4] = [
    &["unreliable", "sporadic", "flaky", "intermittent"],
    &["authentication", "login", "password"],
    &["postgres", "database", "table", "query"],
    &["colour", "font", "margin"],
];

/// One request as it came in.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) head: String,
    pub(crate) model: String,
    pub(crate) texts: Vec<String>,
}

pub(crate) struct ModelServer {
    pub(crate) base: String,
    received: Arc<Mutex<Vec<Received>>>,
    /// How many numbers it gives beside one for each idea.
    extra: Arc<AtomicUsize>,
}

impl ModelServer {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let server = Self { base, received: Arc::default(), extra: Arc::new(AtomicUsize::new(1)) };
        let (received, extra) = (Arc::clone(&server.received), Arc::clone(&server.extra));
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let request = read(&mut stream);
                let extra = extra.load(Ordering::Relaxed);
                let numbers = request.texts.iter().map(|text| numbers(text, extra)).enumerate();
                let data =
                    numbers.map(|(index, embedding)| serde_json::json!({"index": index, "embedding": embedding}));
                let body = serde_json::json!({"data": data.collect::<Vec<_>>()}).to_string();
                received.lock().unwrap().push(request);
                let length = body.len();
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
                stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
            }
        });
        server
    }

    /// What came in since the last time this was asked.
    pub(crate) fn take_received(&self) -> Vec<Received> {
        std::mem::take(&mut *self.received.lock().unwrap())
    }

    /// The texts that came in since the last time, sorted.
    pub(crate) fn take_texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.take_received().into_iter().flat_map(|request| request.texts).collect();
        texts.sort();
        texts
    }

    /// Becomes another model under the same name.
    pub(crate) fn change_length(&self, extra: usize) {
        self.extra.store(extra, Ordering::Relaxed);
    }
}

/// A port of this machine where nobody answers.
pub(crate) fn nobody() -> String {
    format!("http://{}/v1", TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap())
}

fn read(stream: &mut impl Read) -> Received {
    let (head, asked) = chat_server::read(stream);
    let texts = asked["input"].as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    Received { head, model: asked["model"].as_str().unwrap().to_owned(), texts }
}

fn numbers(text: &str, extra: usize) -> Vec<f32> {
    let text = text.to_lowercase();
    let ideas = IDEAS.map(|words| words.iter().filter(|word| text.contains(**word)).count() as f32);
    // Every text has something in common with every other, as with real models.
    ideas.into_iter().chain(std::iter::repeat_n(0.2, extra)).collect()
}
