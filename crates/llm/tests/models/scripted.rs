//! A server that does as it is told, and a meter that writes everything down.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use rethread_llm::{
    Admission, ChatError, ChatLimits, ChatModel, Key, Meter, Planned, Price, Provider, Refusal, Request, Settled,
};
use rethread_model::thread::ChatMessage;
use serde_json::Value;

/// A key that must never be seen.
pub(crate) const SECRET: &str = "sk-this-is-never-shown-0123456789";

/// One request as it came in: the first line, the headers with their names in lower case, and the body.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The first line and the headers.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Value,
}

/// What the server does with the next request.
pub(crate) enum Reply {
    /// A status line's end, further headers, a body.
    Says(&'static str, &'static str, String),
    /// Events, in pieces of so many bytes, then closes the connection.
    Streams(String, usize),
    /// Events, then nothing until the client goes; then tells that it went.
    Holds(String, Sender<()>),
    /// Events in a chunked body that never ends, then closes the connection.
    Breaks(String),
    /// Closes the connection.
    HangsUp,
    /// What is made of the request's body.
    Makes(fn(&Value) -> String),
}

/// A server for one test.
pub(crate) struct Server {
    /// Where it is.
    pub(crate) base: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Gives these replies, one for each connection, then no more.
    pub(crate) fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        std::thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                let request = read(&mut stream);
                log.lock().unwrap().push(request.clone());
                // A client that has given up is no reason for the server to stop.
                let _ = answer(&mut stream, reply, &request);
            }
        });
        Self { base, received }
    }

    /// One that nobody can reach: no program may listen at this port but a service that no machine runs any more.
    pub(crate) fn gone() -> Self {
        Self { base: "http://127.0.0.1:1".to_owned(), received: Arc::default() }
    }

    /// What came in so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// A model of this server.
    pub(crate) fn model(&self, provider: Provider, limits: ChatLimits) -> ChatModel {
        let key = Some(Key::parse(SECRET).unwrap());
        let base = if provider == Provider::OpenAi { format!("{}/v1", self.base) } else { self.base.clone() };
        ChatModel::new(provider, &base, "small", key, Some(price()), limits).unwrap()
    }

    /// What an error says; never the key, in no form.
    pub(crate) fn told(&self, error: &ChatError) -> String {
        let told = error.to_string();
        assert!(!told.contains("sk-") && !format!("{error:?}").contains("sk-"), "{told}");
        told.replace(&self.base, "BASE")
    }
}

/// Limits with so many repetitions.
pub(crate) fn retrying(retries: u32) -> ChatLimits {
    ChatLimits { retries, ..ChatLimits::PATIENT }
}

/// One billionth for each token of input, three for each of output.
pub(crate) fn price() -> Price {
    Price { input: "0.001".parse().unwrap(), output: "0.003".parse().unwrap(), ..Price::FREE }
}

/// A reply without further headers.
pub(crate) fn says(status: &'static str, body: &str) -> Reply {
    Reply::Says(status, "", body.to_owned())
}

/// A request that asks one thing.
pub(crate) fn asks(text: &str) -> Request {
    let messages = vec![ChatMessage::user(text)];
    Request { system: None, messages, tools: Vec::new(), max_output_tokens: 100, purpose: "turn" }
}

/// Events of a stream, each with its data.
pub(crate) fn events(data: &[&str]) -> String {
    data.iter().flat_map(|data| ["data: ", data, "\n\n"]).collect()
}

/// A sign that is given once.
pub(crate) fn sign() -> (Sender<()>, Receiver<()>) {
    channel()
}

/// Admits all, or refuses from the so-manieth on, and keeps what it was told.
#[derive(Default)]
pub(crate) struct Books {
    /// Requests that are admitted before it refuses; none: all.
    most: Option<usize>,
    planned: Mutex<Vec<Planned>>,
    settled: Mutex<Vec<(Admission, Settled)>>,
}

impl Books {
    /// Refuses all but the first so many.
    pub(crate) fn admitting(most: usize) -> Self {
        Self { most: Some(most), ..Self::default() }
    }

    /// What was planned, in order.
    pub(crate) fn planned(&self) -> Vec<Planned> {
        self.planned.lock().unwrap().clone()
    }

    /// What was settled, in order; each admission once.
    pub(crate) fn settled(&self) -> Vec<Settled> {
        let settled = self.settled.lock().unwrap().clone();
        let numbers: Vec<u64> = settled.iter().map(|(Admission(number), _)| *number).collect();
        let admitted = self.planned().len().min(self.most.unwrap_or(usize::MAX)) as u64;
        assert_eq!(numbers, (1..=admitted).collect::<Vec<_>>(), "what is admitted is settled, once");
        settled.into_iter().map(|(_, settled)| settled).collect()
    }

    /// The errors that were settled.
    pub(crate) fn errors(&self) -> Vec<String> {
        self.settled().into_iter().map(|settled| settled.error.unwrap_or_default()).collect()
    }
}

impl Meter for Books {
    fn admit(&self, planned: &Planned) -> Result<Admission, Refusal> {
        let mut all = self.planned.lock().unwrap();
        all.push(planned.clone());
        if self.most.is_some_and(|most| all.len() > most) {
            return Err(Refusal::NoBudget);
        }
        Ok(Admission(all.len() as u64))
    }

    fn settle(&self, admission: Admission, settled: &Settled) {
        self.settled.lock().unwrap().push((admission, settled.clone()));
    }
}

fn answer(stream: &mut TcpStream, reply: Reply, request: &Received) -> std::io::Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n";
    match reply {
        Reply::Says(status, headers, body) => {
            let length = body.len();
            let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
            stream.write_all(format!("{head}{body}").as_bytes())
        }
        Reply::Makes(make) => answer(stream, says("200 OK", &make(&request.body)), request),
        Reply::Streams(events, size) => {
            write!(stream, "{head}connection: close\r\n\r\n")?;
            stream.set_nodelay(true)?;
            for bytes in events.as_bytes().chunks(size) {
                stream.write_all(bytes)?;
                stream.flush()?;
            }
            Ok(())
        }
        Reply::Holds(events, went) => {
            write!(stream, "{head}connection: close\r\n\r\n{events}")?;
            // Returns when the client closes its end.
            let _ = stream.read(&mut [0; 16]);
            let _ = went.send(());
            Ok(())
        }
        Reply::Breaks(events) => {
            write!(stream, "{head}transfer-encoding: chunked\r\n\r\n{:x}\r\n{events}\r\n", events.len())
        }
        Reply::HangsUp => Ok(()),
    }
}

fn read(stream: &mut TcpStream) -> Received {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        // The names of headers may be written either way.
        let name = line.find(':').filter(|_| !head.is_empty()).unwrap_or(0);
        let line = format!("{}{}", line[..name].to_lowercase(), &line[name..]);
        head = format!("{head}{line}\n");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Received { head, body: serde_json::from_slice(&body).unwrap() }
}
