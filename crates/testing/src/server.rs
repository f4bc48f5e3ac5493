//! A running `rethread serve`.

use std::io::{BufRead, BufReader, Read};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitStatus, Stdio};

use serde_json::Value;

use crate::{ClientResponse, TestHome, WAIT_LIMIT, exchange};

/// A server on a free port. It is killed when dropped.
pub struct TestServer {
    child: Child,
    /// What the server printed when it was ready: `url`, `socket`, `link`.
    pub started: Value,
}

impl TestServer {
    pub(crate) fn start(home: &TestHome, arguments: &[&str]) -> Self {
        let arguments = [&["serve", "--listen", "127.0.0.1:0", "--json"], arguments].concat();
        let mut child = home.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let started = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut stderr = String::new();
            child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
            panic!("the server did not start: {line}{stderr}")
        });
        Self { child, started }
    }

    /// Host and port.
    pub fn authority(&self) -> String {
        self.started["url"].as_str().unwrap().split_once("://").unwrap().1.to_owned()
    }

    /// The path of the link that signs a browser in once.
    pub fn login_path(&self) -> String {
        self.started["link"].as_str().unwrap().split_once(&self.authority()).unwrap().1.to_owned()
    }

    /// Sends a request with exactly these head lines, see [`exchange`].
    pub fn send(&self, head: &[&str], body: &str) -> ClientResponse {
        let stream = TcpStream::connect(self.authority()).unwrap();
        stream.set_read_timeout(Some(WAIT_LIMIT)).unwrap();
        exchange(stream, &self.authority(), head, body)
    }

    /// The same over the Unix socket that only the owner can open.
    pub fn send_over_unix_socket(&self, head: &[&str], body: &str) -> ClientResponse {
        let stream = UnixStream::connect(self.started["socket"].as_str().unwrap()).unwrap();
        exchange(stream, "localhost", head, body)
    }

    /// A GET with this token.
    pub fn get(&self, path: &str, token: &str) -> ClientResponse {
        self.send(&[&format!("GET {path}"), &format!("Authorization: Bearer {token}")], "")
    }

    /// Sends SIGTERM and waits for the server to finish.
    pub fn stop(&mut self) -> ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap()
    }

    /// Ends the server without a chance to clean up.
    pub fn kill(&mut self) {
        // An error means that it has already ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.kill();
    }
}
