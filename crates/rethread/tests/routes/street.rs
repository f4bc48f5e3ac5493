//! A house with a server and something to remember in it, and ways to knock at its door.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use crate::house::{Answer, House, Server};

const CONVERSATION: &str = include_str!("../../../ingest/tests/fixtures/claude_code/conversation.jsonl");
const BRANCHES: &str = include_str!("../../../ingest/tests/fixtures/pi/branches.jsonl");

/// Paths that are no rows of the table: others answer there, behind the same door.
pub(crate) const BESIDE: [(&str, &str); 5] =
    [("GET", "/"), ("GET", "/api/events"), ("GET", "/ws"), ("POST", "/mcp"), ("GET", "/nothing/here")];

/// A house that is lived in.
pub(crate) struct Street {
    pub(crate) house: House,
    pub(crate) server: Server,
    pub(crate) token: String,
    /// A session of an agent.
    pub(crate) session: String,
    /// A thread with something in it.
    pub(crate) thread: String,
}

impl Street {
    /// With transcripts of two agents that were read, and a thread.
    pub(crate) fn new() -> Self {
        let house = House::new();
        house.write(".claude/projects/-home-dev-parser/5e551011-0000-4000-8000-00000000000a.jsonl", CONVERSATION);
        house.write(".pi/agent/sessions/--home-dev-site--/2026-04-01T10-00-00-000Z_0198a000.jsonl", BRANCHES);
        assert!(house.run(&["sync", "--quiet"]).status.success());
        Self::open(house)
    }

    /// With nothing in it.
    pub(crate) fn open_empty() -> Self {
        Self::serve(House::new())
    }

    fn serve(house: House) -> Self {
        let server = house.serve(&["--no-watch"]);
        let token = house.token();
        Self { house, server, token, session: String::new(), thread: String::new() }
    }

    /// With whatever is in the house, and a thread.
    pub(crate) fn open(house: House) -> Self {
        let mut street = Self::serve(house);
        let listed = street.json("GET", "/api/sessions?limit=1", None);
        listed["sessions"][0]["id"].as_str().unwrap_or_default().clone_into(&mut street.session);
        let made = street.json("POST", "/api/sessions", Some(r#"{"name":"plans"}"#));
        made["session"]["id"].as_str().unwrap().clone_into(&mut street.thread);
        for (role, text) in [("user", "what shall we do?"), ("assistant", "nothing at all")] {
            street.append(&street.thread, role, text);
        }
        street
    }

    /// Says something in a thread.
    pub(crate) fn append(&self, thread: &str, role: &str, text: &str) {
        let mut command = self.house.command(&["thread", "append", thread, "--role", role]);
        let mut child =
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::null()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        assert!(child.wait().unwrap().success());
    }

    /// A request with the token, and a JSON body if there is one.
    pub(crate) fn ask(&self, method: &str, path: &str, body: Option<&str>) -> Answer {
        let (line, bearer) = (format!("{method} {path}"), format!("Authorization: Bearer {}", self.token));
        let mut head = vec![line.as_str(), &bearer];
        head.extend(body.map(|_| "Content-Type: application/json"));
        self.server.ask(&head, body.unwrap_or_default())
    }

    /// The same where a good answer is expected.
    pub(crate) fn json(&self, method: &str, path: &str, body: Option<&str>) -> Value {
        let answer = self.ask(method, path, body);
        assert!(answer.status < 300, "{method} {path}: {answer:?}");
        serde_json::from_str(&answer.body).unwrap_or_default()
    }

    /// The status and the code of a refusal.
    pub(crate) fn refusal(&self, method: &str, path: &str, body: Option<&str>) -> (u16, String) {
        code_of(&self.ask(method, path, body))
    }

    /// Bytes as they are, and whatever comes back.
    pub(crate) fn knock(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.server.authority()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        // Who is refused may find the door closed before all is said.
        let _ = stream.write_all(bytes);
        let mut told = Vec::new();
        let _ = stream.read_to_end(&mut told);
        let told = String::from_utf8_lossy(&told).into_owned();
        let (head, body) = told.split_once("\r\n\r\n").unwrap_or((&told, ""));
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Answer { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    /// The document of the API.
    pub(crate) fn document(&self) -> Value {
        self.json("GET", "/api/openapi.json", None)
    }

    /// Every route, with ids of somebody who is there in its path.
    pub(crate) fn rows(&self) -> Vec<(String, String)> {
        let document = self.document();
        let mut rows = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let is_row = |operation: &Value| operation["operationId"].is_string();
            let methods = item.as_object().unwrap().iter().filter(|(_, operation)| is_row(operation));
            rows.extend(methods.map(|(method, _)| (method.to_uppercase(), path.clone())));
        }
        assert!(rows.len() > 30, "{rows:?}");
        rows
    }

    /// Every file in the house with what is in it. The memory that readers of a database share is no content, and the
    /// log tells of requests.
    pub(crate) fn everything(&self) -> BTreeMap<String, Vec<u8>> {
        let mut all = BTreeMap::new();
        gather(&self.house.path(""), &mut all);
        all.retain(|name, _| !name.ends_with("-shm") && !name.contains("/logs/"));
        assert!(all.keys().any(|name| name.ends_with("memory.db")) && all.keys().any(|name| name.contains("/index/")));
        all
    }

    /// Does something that must leave the house as it is.
    pub(crate) fn unchanged(&self, work: impl FnOnce()) {
        let before = self.everything();
        work();
        let after = self.everything();
        let differs = |name: &&String| before.get(*name) != after.get(*name);
        let changed: Vec<&String> = before.keys().chain(after.keys()).filter(differs).collect();
        assert!(changed.is_empty(), "{changed:?}");
    }
}

/// The status and the code of a refusal, which has the shape of all refusals.
pub(crate) fn code_of(answer: &Answer) -> (u16, String) {
    let told: Value = serde_json::from_str(&answer.body).unwrap_or_else(|_| panic!("no JSON: {answer:?}"));
    assert!(told["error"]["message"].is_string() && told["schema"] == 1, "{answer:?}");
    assert!(answer.head.contains("content-type: application/json"), "{answer:?}");
    (answer.status, told["error"]["code"].as_str().unwrap().to_owned())
}

fn gather(folder: &Path, all: &mut BTreeMap<String, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            gather(&path, all);
        } else if path.is_file() {
            all.insert(path.display().to_string(), fs::read(&path).unwrap());
        }
    }
}
