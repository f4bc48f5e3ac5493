//! A home with a server in it, and the simplest way to speak to it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long anything is waited for before the test has failed.
const LIMIT: Duration = Duration::from_secs(30);

/// A home of its own.
pub(crate) struct House {
    folder: PathBuf,
    _keep: tempfile::TempDir,
}

/// A server that runs. Dropped, it is killed.
pub(crate) struct Server {
    child: Child,
    /// What it said when it began.
    pub(crate) told: Value,
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl House {
    pub(crate) fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let folder = keep.path().canonicalize().unwrap();
        Self { folder, _keep: keep }
    }

    /// A path in the user's home.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Writes a file in the user's home.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The binary with nothing from this machine's environment.
    pub(crate) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rethread"));
        command.args(words).current_dir(&self.folder).env_clear().env("HOME", &self.folder).env("TZ", "UTC");
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().unwrap()
    }

    /// The token.
    pub(crate) fn token(&self) -> String {
        String::from_utf8(self.run(&["token"]).stdout).unwrap().trim().to_owned()
    }

    /// A server on a free port.
    pub(crate) fn serve(&self, more: &[&str]) -> Server {
        let words = [&["serve", "--listen", "127.0.0.1:0", "--json"], more].concat();
        let mut child = self.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told = serde_json::from_str(&line).unwrap_or_else(|_| {
            let mut said = String::new();
            child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
            panic!("it did not start: {line}{said}")
        });
        Server { child, told }
    }
}

impl Server {
    /// Its address without the scheme.
    pub(crate) fn authority(&self) -> String {
        self.told["url"].as_str().unwrap().split_once("://").unwrap().1.to_owned()
    }

    /// Sends a request as it stands, but for `HOST`, and reads the answer to its end.
    pub(crate) fn ask(&self, head: &[&str], body: &str) -> Answer {
        let stream = TcpStream::connect(self.authority()).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        speak(stream, &self.authority(), head, body)
    }

    /// The same through the socket of the same user.
    pub(crate) fn ask_by_socket(&self, head: &[&str], body: &str) -> Answer {
        let stream = UnixStream::connect(self.told["socket"].as_str().unwrap()).unwrap();
        speak(stream, "localhost", head, body)
    }

    /// A GET with the token.
    pub(crate) fn get(&self, path: &str, token: &str) -> Answer {
        self.ask(&[&format!("GET {path}"), &format!("Authorization: Bearer {token}")], "")
    }

    /// Asks it to end, and waits until it did.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
        self.child.wait().unwrap()
    }

    /// Ends it without asking.
    pub(crate) fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// One request over any stream. The first line of `head` has no version.
pub(crate) fn speak(mut stream: impl Read + Write, host: &str, head: &[&str], body: &str) -> Answer {
    let mut lines = vec![format!("{} HTTP/1.1", head[0])];
    if !head.iter().any(|line| line.starts_with("Host:")) {
        lines.push(format!("Host: {host}"));
    }
    lines.extend(head[1..].iter().map(|line| (*line).to_owned()));
    lines.extend(["Connection: close".to_owned(), format!("Content-Length: {}\r\n\r\n{body}", body.len())]);
    let text = lines.join("\r\n");
    stream.write_all(text.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    // A peer that closes without a farewell of TLS has said all it wanted.
    let _ = stream.read_to_end(&mut bytes);
    let answer = String::from_utf8_lossy(&bytes).into_owned();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or((&answer, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_lowercase(), body: body.to_owned() }
}

/// Waits until something is so.
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LIMIT, "{what} did not happen");
        std::thread::sleep(Duration::from_millis(20));
    }
}
