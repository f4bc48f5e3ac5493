//! The client against a small server of its own: what is sent, what is accepted, what is tried again.

#![expect(clippy::unwrap_used, reason = "a server that cannot be set up must stop the test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rethread_llm::{Embedder, EmbeddingError, Endpoint, Key, Limits};

const SECRET: &str = "sk-this-is-never-shown-0123456789";

/// One request as it came in: the headers in lower case, and the body.
#[derive(Clone, Debug)]
struct Received {
    head: String,
    body: serde_json::Value,
}

/// What the server does with the next request.
enum Reply {
    /// A status line's end, further headers, a body.
    Says(&'static str, &'static str, String),
    /// One vector for each text, its length as the first number, in the wrong order.
    Vectors,
    /// Closes the connection.
    HangsUp,
    /// Nothing for so long.
    Sleeps(Duration),
}

struct Server {
    base: String,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Server {
    /// Gives these replies, one for each connection, then no more.
    fn start(replies: Vec<Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}/v1", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        std::thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                let request = read(&mut stream);
                log.lock().unwrap().push(request.clone());
                let (status, headers, body) = match reply {
                    Reply::Says(status, headers, body) => (status, headers, body),
                    Reply::Vectors => ("200 OK", "", vectors(&request.body)),
                    Reply::HangsUp => continue,
                    Reply::Sleeps(time) => {
                        std::thread::sleep(time);
                        continue;
                    }
                };
                let length = body.len();
                let head =
                    format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
                // A client that has given up is no reason for the server to stop.
                let _ = stream.write_all(format!("{head}{body}").as_bytes());
            }
        });
        Self { base, received }
    }

    fn embedder(&self, limits: Limits) -> Embedder {
        Embedder::new(Endpoint::parse(&self.base).unwrap(), "small", Some(Key::parse(SECRET).unwrap()), limits)
    }

    fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }
}

fn read(stream: &mut impl Read) -> Received {
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
        head = format!("{head}{line}\n");
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    Received { head, body: serde_json::from_slice(&body).unwrap() }
}

fn vectors(asked: &serde_json::Value) -> String {
    let texts = asked["input"].as_array().unwrap();
    let data = texts.iter().enumerate().rev();
    let data = data.map(|(at, text)| serde_json::json!({"index": at, "embedding": [text.as_str().unwrap().len(), 1]}));
    serde_json::json!({"object": "list", "data": data.collect::<Vec<_>>()}).to_string()
}

fn says(status: &'static str, body: &str) -> Reply {
    Reply::Says(status, "", body.to_owned())
}

/// What an error says; never the key, in no form.
fn told(error: &EmbeddingError, server: &Server) -> String {
    let told = error.to_string();
    assert!(!told.contains("sk-") && !format!("{error:?}").contains("sk-"), "{told}");
    told.replace(&server.base, "BASE")
}

#[test]
fn texts_come_back_as_vectors_in_their_order_and_the_key_is_a_bearer() {
    let server = Server::start(vec![Reply::Vectors]);
    let vectors = server.embedder(Limits::PATIENT).embed(&["one", "three", "of"]).unwrap();
    assert_eq!(vectors, [[3.0, 1.0], [5.0, 1.0], [2.0, 1.0]]);
    let received = server.received();
    assert_eq!(received.len(), 1);
    assert!(received[0].head.starts_with("POST /v1/embeddings HTTP/1.1\n"), "{}", received[0].head);
    assert!(received[0].head.to_lowercase().contains(&format!("authorization: bearer {SECRET}\n")));
    let expected = serde_json::json!({"model": "small", "input": ["one", "three", "of"], "encoding_format": "float"});
    assert_eq!(received[0].body, expected);
}

#[test]
fn without_a_key_none_is_sent() {
    let server = Server::start(vec![Reply::Vectors]);
    let embedder = Embedder::new(Endpoint::parse(&server.base).unwrap(), "small", None, Limits::QUICK);
    embedder.embed(&["text"]).unwrap();
    assert!(!server.received()[0].head.to_lowercase().contains("authorization"));
    assert!(embedder.embed(&[]).unwrap().is_empty(), "nothing is asked where there is nothing to ask");
}

#[test]
fn many_texts_go_in_several_requests_and_long_ones_are_cut_between_letters() {
    let server = Server::start(vec![Reply::Vectors, Reply::Vectors, Reply::Vectors]);
    let long = format!("x{}", "ä".repeat(3_000));
    let texts: Vec<&str> = (0..130).map(|at| if at == 129 { long.as_str() } else { "short" }).collect();
    let vectors = server.embedder(Limits::PATIENT).embed(&texts).unwrap();
    assert_eq!((vectors.len(), vectors[129][0]), (130, 1_999.0));
    let counts: Vec<usize> = server.received().iter().map(|one| one.body["input"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [64, 64, 2]);
}

#[test]
fn a_busy_server_and_a_broken_connection_are_tried_again() {
    let busy = Reply::Says("429 Too Many Requests", "retry-after: 0\r\n", "{}".to_owned());
    let server = Server::start(vec![busy, Reply::HangsUp, Reply::Vectors]);
    assert_eq!(server.embedder(Limits::PATIENT).embed(&["text"]).unwrap(), [[4.0, 1.0]]);
    assert_eq!(server.received().len(), 3);
}

#[test]
fn after_two_repetitions_it_is_given_up() {
    let busy = || says("503 Service Unavailable", r#"{"error":{"message":"loading the model"}}"#);
    let server = Server::start(vec![busy(), busy(), busy(), Reply::Vectors]);
    let error = server.embedder(Limits::PATIENT).embed(&["text"]).unwrap_err();
    assert_eq!(told(&error, &server), "BASE/embeddings answered 503: loading the model");
    assert_eq!(server.received().len(), 3);
}

#[test]
fn where_somebody_waits_nothing_is_tried_again() {
    let server = Server::start(vec![says("500 Internal Server Error", "oh"), Reply::Vectors]);
    let error = server.embedder(Limits::QUICK).embed(&["text"]).unwrap_err();
    assert_eq!(told(&error, &server), "BASE/embeddings answered 500");
    assert_eq!(server.received().len(), 1);
}

#[test]
fn a_refusal_is_final_and_repeats_no_key() {
    let echo = format!(r#"{{"error":{{"message":"Incorrect API key provided: {SECRET}"}}}}"#);
    let server = Server::start(vec![says("401 Unauthorized", &echo), Reply::Vectors]);
    let error = server.embedder(Limits::PATIENT).embed(&["text"]).unwrap_err();
    assert_eq!(told(&error, &server), "BASE/embeddings answered 401");
    assert_eq!(server.received().len(), 1);

    let echo = format!(r#"{{"error":"{}no model for {SECRET}"}}"#, " ".repeat(170));
    let server = Server::start(vec![says("404 Not Found", &echo)]);
    let error = server.embedder(Limits::PATIENT).embed(&["text"]).unwrap_err();
    assert_eq!(told(&error, &server), "BASE/embeddings answered 404: no model for [key]");
}

#[test]
fn a_server_that_sends_us_elsewhere_is_not_followed() {
    let elsewhere = Server::start(vec![Reply::Vectors]);
    let location: &'static str = format!("location: {}/embeddings\r\n", elsewhere.base).leak();
    let server = Server::start(vec![Reply::Says("307 Temporary Redirect", location, String::new())]);
    let error = server.embedder(Limits::PATIENT).embed(&["text"]).unwrap_err();
    assert_eq!(told(&error, &server), "BASE/embeddings answered 307");
    assert!(elsewhere.received().is_empty());
}

#[test]
fn an_answer_that_does_not_fit_is_refused() {
    for (body, reason) in [
        (r#"{"data":[]}"#.to_owned(), "0 vectors for 1 texts"),
        ("<html>".to_owned(), "expected value at line 1 column 1"),
        (format!(r#"{{"data":"{SECRET}"}}"#), "invalid type: string \"[key]\", expected a sequence"),
    ] {
        let server = Server::start(vec![says("200 OK", &body), Reply::Vectors]);
        let error = server.embedder(Limits::PATIENT).embed(&["text"]).unwrap_err();
        let told = told(&error, &server);
        assert!(told.starts_with(&format!("BASE/embeddings answered what cannot be used: {reason}")), "{told}");
        assert_eq!(server.received().len(), 1, "a wrong answer is not asked for again");
    }
}

#[test]
fn a_slow_server_is_not_waited_for() {
    let server = Server::start(vec![Reply::Sleeps(Duration::from_secs(5))]);
    let limits = Limits { whole: Duration::from_secs(1), ..Limits::PATIENT };
    let start = Instant::now();
    let error = server.embedder(limits).embed(&["text"]).unwrap_err();
    assert_eq!(told(&error, &server), "BASE/embeddings did not answer within 1 s");
    assert!(start.elapsed() < Duration::from_secs(4), "and not tried again");
}

#[test]
fn a_server_that_is_not_there_is_told_as_such() {
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let server = Server { base: format!("http://{gone}/v1"), received: Arc::default() };
    let error = server.embedder(Limits::QUICK).embed(&["text"]).unwrap_err();
    assert!(matches!(error, EmbeddingError::Unreachable { .. }), "{error:?}");
    assert!(told(&error, &server).starts_with("BASE/embeddings cannot be reached: "));
}
