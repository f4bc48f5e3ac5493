//! A server with sessions of two agents and a thread to ask about.

use std::path::PathBuf;

use rethread_testing::{ApiClient, BRANCHES, CLAUDE_FILE, CONVERSATION, PI_FILE, TestHome, TestServer, contents_below};
use serde_json::Value;

/// Paths that are not rows of the route table but are behind the same guard.
pub(crate) const OTHER_PATHS: [(&str, &str); 5] =
    [("GET", "/"), ("GET", "/api/events"), ("GET", "/ws"), ("POST", "/mcp"), ("GET", "/nothing/here")];

/// A home, its server and a client of it.
pub(crate) struct ApiFixture {
    pub(crate) home: TestHome,
    pub(crate) client: ApiClient,
    /// The id of a session of an agent; empty if there is none.
    pub(crate) session: String,
    /// The id of a thread with two messages; empty in an empty home.
    pub(crate) thread: String,
    _server: TestServer,
}

pub(crate) fn new_home() -> TestHome {
    TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"))
}

impl ApiFixture {
    /// With synced transcripts of two agents, and a thread.
    pub(crate) fn new() -> Self {
        let home = new_home();
        home.write(CLAUDE_FILE, CONVERSATION);
        home.write(PI_FILE, BRANCHES);
        home.run_ok(&["sync", "--quiet"]);
        Self::in_home(home)
    }

    /// With nothing stored.
    pub(crate) fn empty() -> Self {
        Self::serve(new_home())
    }

    fn serve(home: TestHome) -> Self {
        let server = home.serve(&["--no-watch"]);
        let client = home.client(&server);
        Self { home, client, session: String::new(), thread: String::new(), _server: server }
    }

    /// With what the home holds, and a thread.
    pub(crate) fn in_home(home: TestHome) -> Self {
        let mut api = Self::serve(home);
        let listed = api.client.json("GET", "/api/sessions?limit=1", None);
        listed["sessions"][0]["id"].as_str().unwrap_or_default().clone_into(&mut api.session);
        let made = api.client.json("POST", "/api/sessions", Some(r#"{"name":"plans"}"#));
        made["session"]["id"].as_str().unwrap().clone_into(&mut api.thread);
        for (role, text) in [("user", "what shall we do?"), ("assistant", "nothing at all")] {
            api.append(&api.thread, role, text);
        }
        api
    }

    /// Appends a message to a thread with the binary.
    pub(crate) fn append(&self, thread: &str, role: &str, text: &str) {
        let arguments = ["thread", "append", thread, "--role", role];
        assert!(self.home.run_with_input(&arguments, text.as_bytes()).status.success());
    }

    /// The `OpenAPI` document.
    pub(crate) fn document(&self) -> Value {
        self.client.json("GET", "/api/openapi.json", None)
    }

    /// Method and path of every documented route.
    pub(crate) fn routes(&self) -> Vec<(String, String)> {
        let document = self.document();
        let mut routes = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            let is_route = |operation: &Value| operation["operationId"].is_string();
            let methods = item.as_object().unwrap().iter().filter(|(_, operation)| is_route(operation));
            routes.extend(methods.map(|(method, _)| (method.to_uppercase(), path.clone())));
        }
        assert!(routes.len() > 30, "{routes:?}");
        routes
    }

    /// Does something that must not change any file of the home.
    pub(crate) fn assert_unchanged(&self, work: impl FnOnce()) {
        let before = contents_below(self.home.root());
        let has = |part: &str| before.keys().any(|path| path.to_string_lossy().contains(part));
        assert!(has("/memory.db") && has("/index/"), "{:?}", before.keys());
        work();
        let after = contents_below(self.home.root());
        let differs = |path: &&PathBuf| before.get(*path) != after.get(*path);
        let changed: Vec<&PathBuf> = before.keys().chain(after.keys()).filter(differs).collect();
        assert!(changed.is_empty(), "{changed:?}");
    }
}
