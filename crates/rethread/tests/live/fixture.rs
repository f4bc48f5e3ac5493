//! A home with a stub model, a server and one thread in it.

use rethread_testing::{ApiClient, ApiSocket, StubModel, StubReply, StubRequest, TestHome, TestServer};
use serde_json::Value;

use crate::frame_schema;

/// The title the model gives to every thread.
pub(crate) const TITLE: &str = "A Conversation Worth Naming";

pub(crate) struct LiveFixture {
    pub(crate) home: TestHome,
    pub(crate) model: StubModel,
    pub(crate) server: TestServer,
    pub(crate) client: ApiClient,
    pub(crate) thread: String,
}

impl LiveFixture {
    /// With more settings.
    pub(crate) fn new(settings: &str) -> Self {
        let home = TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"));
        let model = StubModel::with_responder(respond);
        home.write(".rethread/config.toml", format!("{}{settings}", model.config()));
        let server = home.serve(&["--no-watch"]);
        let client = home.client(&server).checking_frames(frame_schema::check);
        let mut live = Self { home, model, server, client, thread: String::new() };
        live.thread = live.new_thread();
        live
    }

    /// Without titles, so that the model gets no request but those of the test.
    pub(crate) fn without_titles(settings: &str) -> Self {
        let titles = "[threads]\ntitles = false\n";
        let settings = if settings.contains("[threads]") {
            settings.replace("[threads]\n", titles)
        } else {
            format!("{settings}{titles}")
        };
        Self::new(&settings)
    }

    /// Starts a new server in place of one that has ended.
    pub(crate) fn restart(&mut self) {
        self.server = self.home.serve(&["--no-watch"]);
        self.client = self.home.client(&self.server).checking_frames(frame_schema::check);
    }

    pub(crate) fn new_thread(&self) -> String {
        self.home.run_ok(&["thread", "new"]).trim().to_owned()
    }

    /// A WebSocket without a subscription.
    pub(crate) fn socket(&self) -> ApiSocket {
        self.client.web_socket("")
    }

    /// A WebSocket that is subscribed to the thread.
    pub(crate) fn subscriber(&self) -> ApiSocket {
        let mut socket = self.client.web_socket(&format!("?session={}", self.thread));
        assert_eq!(socket.next_frame()["status"], "subscribed");
        socket
    }

    /// Posts a message to the thread.
    pub(crate) fn post(&self, body: &Value) -> (u16, Value) {
        self.client.post_message(&self.thread, body)
    }

    /// Role, text and run of every record of the thread.
    pub(crate) fn messages(&self) -> Vec<(String, String, String)> {
        self.records().iter().map(message).collect()
    }

    pub(crate) fn records(&self) -> Vec<Value> {
        let text = self.home.read(&format!(".rethread/threads/{}/session.jsonl", self.thread));
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Role, text and run of a record.
pub(crate) fn message(record: &Value) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (text(&record["role"]), text(&record["content"][0]["text"]), text(&record["runId"]))
}

/// Repeats the prompt word by word. `hold NAME …` is held after two words until NAME is released, `fail` is refused,
/// and `call` is answered with a call of the tool `weather`. A request without a stream is for a title.
fn respond(request: &StubRequest) -> StubReply {
    let prompt = request.last_message();
    let answer = format!("You said: {prompt}");
    if !request.wants_stream() {
        StubReply::text(TITLE)
    } else if prompt.starts_with("fail") {
        StubReply::Status(400)
    } else if prompt.starts_with("call") {
        StubReply::ToolCalls(vec![("c1", "weather", serde_json::json!({}))])
    } else if let Some(rest) = prompt.strip_prefix("hold ") {
        StubReply::held(rest.split(' ').next().unwrap_or_default(), &answer)
    } else {
        StubReply::text(&answer)
    }
}
