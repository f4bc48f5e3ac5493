//! The HTTP that the stub model reads and writes.

use std::io::{BufRead, BufReader, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::Duration;

use super::StubRequest;

/// The header of a JSON body.
pub(super) const JSON: &str = "content-type: application/json\r\n";
/// How often an open connection is checked.
pub(super) const POLL: Duration = Duration::from_millis(10);

/// Reads one request.
pub(super) fn read_request(stream: &TcpStream) -> StubRequest {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        // Header names may be written in either case.
        let name = line.find(':').filter(|_| !head.is_empty()).unwrap_or(0);
        head.extend([&line[..name].to_lowercase(), &line[name..], "\n"]);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    StubRequest { head, body: serde_json::from_slice(&body).unwrap_or_default() }
}

/// Writes a whole response and announces the end of the connection.
pub(super) fn write_response(stream: &mut TcpStream, status: &str, headers: &str, body: &str) -> Result<()> {
    let length = body.len();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n");
    stream.write_all(format!("{head}{body}").as_bytes())
}

/// Writes the head of an event stream that ends with the connection.
pub(super) fn start_events(stream: &mut TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
}

/// Writes an event stream in writes of `chunk` bytes.
pub(super) fn write_events(stream: &mut TcpStream, events: &str, chunk: usize) -> Result<()> {
    start_events(stream)?;
    for bytes in events.as_bytes().chunks(chunk) {
        stream.write_all(bytes)?;
        stream.flush()?;
    }
    Ok(())
}

/// Writes one chunk of a chunked event stream and not the chunk that would end it.
pub(super) fn write_broken_events(stream: &mut TcpStream, events: &str) -> Result<()> {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    write!(stream, "{head}{:x}\r\n{events}\r\n", events.len())
}

/// Whether the client has disconnected. Waits a moment for it.
pub(super) fn is_closed(mut stream: &TcpStream) -> Result<bool> {
    stream.set_read_timeout(Some(POLL))?;
    match stream.read(&mut [0; 16]) {
        Ok(read) => Ok(read == 0),
        Err(error) => Ok(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)),
    }
}
