//! Everything live with the real binary and a model on loopback: events, the socket, turns, queues, and the end.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

#[path = "live/client.rs"]
mod client;
#[path = "live/ending.rs"]
mod ending;
#[path = "live/events.rs"]
mod events;
#[expect(dead_code, reason = "tests of the door use the rest of it")]
#[path = "serve/house.rs"]
mod house;
#[path = "live/messages.rs"]
mod messages;
#[path = "live/model.rs"]
mod model;
#[path = "live/queue.rs"]
mod queue;
#[path = "live/shapes.rs"]
mod shapes;
#[path = "live/socket.rs"]
mod socket;

use serde_json::Value;

use client::{Page, Socket};
use house::{House, Server};
use model::Model;

/// A home with a model, a server and one thread in it.
struct Scene {
    house: House,
    model: Model,
    server: Server,
    token: String,
    thread: String,
}

impl Scene {
    /// With further lines in the settings.
    fn new(settings: &str) -> Self {
        let (house, model) = (House::new(), Model::start());
        house.write(".rethread/config.toml", &format!("{}{settings}", model.settings()));
        let server = house.serve(&["--no-watch"]);
        let token = house.token();
        let mut scene = Self { house, model, server, token, thread: String::new() };
        scene.thread = scene.new_thread();
        scene
    }

    /// One that names no thread, so that nothing but what is tested is asked of the model.
    fn unnamed(settings: &str) -> Self {
        let titles = "[threads]\ntitles = false\n";
        let settings = if settings.contains("[threads]") {
            settings.replace("[threads]\n", titles)
        } else {
            format!("{settings}{titles}")
        };
        Self::new(&settings)
    }

    fn new_thread(&self) -> String {
        let made = self.house.run(&["thread", "new"]);
        String::from_utf8(made.stdout).unwrap().trim().to_owned()
    }

    fn socket(&self) -> Socket {
        Socket::open(&self.server, &self.token, "")
    }

    /// A socket that listens to the thread.
    fn listener(&self) -> Socket {
        let mut socket = Socket::open(&self.server, &self.token, &format!("?session={}", self.thread));
        assert_eq!(socket.next()["status"], "subscribed");
        socket
    }

    fn page(&self, query: &str) -> Page {
        Page::open(&self.server, &self.token, query)
    }

    fn post(&self, body: &Value) -> (u16, Value) {
        client::post(&self.server, &self.token, &self.thread, body)
    }

    /// The log of the thread: role, text, run.
    fn log(&self) -> Vec<(String, String, String)> {
        self.records().iter().map(said).collect()
    }

    fn records(&self) -> Vec<Value> {
        let path = self.house.path(&format!(".rethread/threads/{}/session.jsonl", self.thread));
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// What our own log says happened.
    fn journal(&self) -> Vec<Value> {
        let files = std::fs::read_dir(self.house.path(".rethread/logs")).unwrap();
        let text: String = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap()).collect();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn said(record: &Value) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&record["role"]), text(&record["content"][0]["text"]), text(&record["runId"]))
}
