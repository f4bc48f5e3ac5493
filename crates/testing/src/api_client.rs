//! HTTP requests to a test server, written byte by byte so that a test controls every header.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::{ApiSocket, EventClient, TestServer, WAIT_LIMIT};

/// A client that sends the API token with every request.
#[derive(Clone)]
pub struct ApiClient {
    /// Host and port of the server.
    pub authority: String,
    /// The token.
    pub token: String,
    pub(crate) check_frame: fn(&Value),
}

/// A response, read to its end.
#[derive(Debug)]
pub struct ClientResponse {
    /// 0 if the server closed the connection without one.
    pub status: u16,
    /// Status line and headers in lower case.
    pub head: String,
    /// The body as text.
    pub body: String,
}

impl ApiClient {
    pub(crate) fn new(server: &TestServer, token: &str) -> Self {
        Self { authority: server.authority(), token: token.to_owned(), check_frame: |_| {} }
    }

    /// Passes every frame and event that is received to `check`.
    #[must_use]
    pub fn checking_frames(mut self, check: fn(&Value)) -> Self {
        self.check_frame = check;
        self
    }

    /// The same client with another token.
    #[must_use]
    pub fn with_token(mut self, token: &str) -> Self {
        token.clone_into(&mut self.token);
        self
    }

    /// A request, with a JSON body if there is one.
    pub fn request(&self, method: &str, path: &str, body: Option<&str>) -> ClientResponse {
        self.request_with(method, path, &[], body)
    }

    /// The same with more header lines.
    pub fn request_with(&self, method: &str, path: &str, headers: &[&str], body: Option<&str>) -> ClientResponse {
        let (line, bearer) = (format!("{method} {path}"), self.bearer());
        let mut head = vec![line.as_str(), &bearer];
        head.extend(body.map(|_| "Content-Type: application/json"));
        head.extend(headers);
        exchange(self.connect(), &self.authority, &head, body.unwrap_or_default())
    }

    /// The body of a request that must succeed.
    pub fn json(&self, method: &str, path: &str, body: Option<&str>) -> Value {
        let response = self.request(method, path, body);
        assert!(response.status < 300, "{method} {path}: {response:?}");
        serde_json::from_str(&response.body).unwrap_or_default()
    }

    /// Status and error code of a request that must be refused.
    pub fn error(&self, method: &str, path: &str, body: Option<&str>) -> (u16, String) {
        self.request(method, path, body).error()
    }

    /// Posts a message to a thread; status and body.
    pub fn post_message(&self, thread: &str, body: &Value) -> (u16, Value) {
        let path = format!("/api/sessions/{thread}/messages");
        let response = self.request("POST", &path, Some(&body.to_string()));
        (response.status, serde_json::from_str(&response.body).unwrap_or_default())
    }

    /// Sends any bytes and reads whatever comes back.
    pub fn send_bytes(&self, bytes: &[u8]) -> ClientResponse {
        let mut stream = self.connect();
        // The server may refuse and close before everything is sent.
        let _ = stream.write_all(bytes);
        read_response(stream)
    }

    /// Sends a request to `path` and returns the open connection without reading from it. `length` is the announced
    /// size of the body.
    pub fn start_post(&self, path: &str, length: usize, body: &str) -> TcpStream {
        let (mut stream, host, bearer) = (self.connect(), &self.authority, self.bearer());
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\nContent-Type: application/json\r\n\
             Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .unwrap();
        stream
    }

    /// Opens `/ws` with a query such as `?session=…`.
    pub fn web_socket(&self, query: &str) -> ApiSocket {
        self.try_web_socket(query).unwrap()
    }

    /// The same; an error is the status it was refused with.
    pub fn try_web_socket(&self, query: &str) -> Result<ApiSocket, u16> {
        ApiSocket::open(self, query)
    }

    /// Opens `/api/events` with a query such as `?session=…`. No event after this is missed.
    pub fn event_stream(&self, query: &str) -> EventClient {
        EventClient::open(self, query)
    }

    /// The header line with the token.
    pub(crate) fn bearer(&self) -> String {
        format!("Authorization: Bearer {}", self.token)
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(WAIT_LIMIT)).unwrap();
        stream
    }
}

impl ClientResponse {
    /// Status and error code. Checks that the error has the form of all errors.
    pub fn error(&self) -> (u16, String) {
        let body: Value = serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"));
        assert!(body["error"]["message"].is_string() && body["schema"] == 1, "{self:?}");
        assert!(self.head.contains("content-type: application/json"), "{self:?}");
        (self.status, body["error"]["code"].as_str().unwrap().to_owned())
    }
}

/// Sends one request over any stream and reads the response to its end. The first line of `head` is method and path
/// without the version; a `Host` line is added unless there is one.
pub fn exchange(mut stream: impl Read + Write, host: &str, head: &[&str], body: &str) -> ClientResponse {
    let mut lines = vec![format!("{} HTTP/1.1", head[0])];
    if !head.iter().any(|line| line.starts_with("Host:")) {
        lines.push(format!("Host: {host}"));
    }
    lines.extend(head[1..].iter().map(|line| (*line).to_owned()));
    lines.extend(["Connection: close".to_owned(), format!("Content-Length: {}\r\n\r\n{body}", body.len())]);
    // The server may refuse and close before everything is sent.
    let _ = stream.write_all(lines.join("\r\n").as_bytes());
    read_response(stream)
}

fn read_response(mut stream: impl Read) -> ClientResponse {
    let mut bytes = Vec::new();
    // An error is a peer that closed early; what it sent before still counts.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    ClientResponse { status, head: head.to_lowercase(), body: body.to_owned() }
}
