//! A node, and two spaces with members of every role.

use rethread_testing::{
    ApiClient, CLAUDE_FILE, CONVERSATION, TestHome, TestPostgres, TestServer, new_space_name, wait_until,
};
use serde_json::Value;

/// A text that only the first space has.
pub(crate) const SECRET_TEXT: &str = "the walrus is in the parser";

/// A node with a space that has a session and a thread, and another space.
pub(crate) struct TeamFixture {
    pub(crate) postgres: &'static TestPostgres,
    pub(crate) home: TestHome,
    pub(crate) server: TestServer,
    pub(crate) space: String,
    pub(crate) other_space: String,
    /// A client with the token of an admin of the space.
    pub(crate) admin: ApiClient,
    /// The id of an agent's session in the space.
    pub(crate) session: String,
    /// The id of a thread in the space.
    pub(crate) thread: String,
}

impl TeamFixture {
    /// `None`, with a loud message, where PostgreSQL is not installed.
    pub(crate) fn start() -> Option<Self> {
        let postgres = TestPostgres::shared()?;
        let (home, space, other_space) = (new_home(), new_space_name(), new_space_name());
        home.write(CLAUDE_FILE, CONVERSATION);
        let url = |space: &str| format!("{}&space={space}", postgres.url());
        for space in [&space, &other_space] {
            home.run_ok(&["admin", "space", "new", space, "--store", &url(space)]);
        }
        home.run_ok(&["sync", "--quiet", "--store", &url(&space)]);
        let server = home.serve(&["--store", postgres.url()]);
        let token = new_token(&home, postgres, &space, &["root", "--role", "admin"]);
        let admin = home.client_with_token(&server, &token);
        let mut team =
            Self { postgres, home, server, space, other_space, admin, session: String::new(), thread: String::new() };
        let listed = team.admin.json("GET", "/api/sessions?limit=1", None);
        listed["sessions"][0]["id"].as_str().unwrap().clone_into(&mut team.session);
        let made = team.admin.json("POST", "/api/sessions", Some(r#"{"name":"quokka"}"#));
        made["session"]["id"].as_str().unwrap().clone_into(&mut team.thread);
        let body = serde_json::json!({"role": "user", "content": SECRET_TEXT});
        assert!(team.admin.post_message(&team.thread, &body).0 < 300);
        // The node reads the thread into memory after it has answered.
        let found = || team.admin.json("GET", "/api/search?query=walrus", None).to_string().contains(SECRET_TEXT);
        wait_until("the thread", found);
        team.wait_until_quiet();
        Some(team)
    }

    /// The token of a new member of the space; the arguments are those of `admin member add`.
    pub(crate) fn new_token(&self, arguments: &[&str]) -> String {
        new_token(&self.home, self.postgres, &self.space, arguments)
    }

    /// A client with the token of a new member of a space.
    pub(crate) fn client(&self, space: &str, role: &str) -> ApiClient {
        let name = format!("{role}-{}", new_space_name());
        let token = new_token(&self.home, self.postgres, space, &[&name[..40.min(name.len())], "--role", role]);
        self.admin.clone().with_token(&token)
    }

    /// Runs an admin command in the space.
    pub(crate) fn admin_command(&self, arguments: &[&str]) -> String {
        let url = format!("{}&space={}", self.postgres.url(), self.space);
        self.home.run_ok(&[&["admin"], arguments, &["--store", &url]].concat())
    }

    /// Method and path of every route, with ids of the space. Those that are not in the document too.
    pub(crate) fn routes(&self) -> Vec<(String, String)> {
        const OTHERS: [(&str, &str); 12] = [
            ("GET", "/"),
            ("GET", "/search?q=walrus"),
            ("GET", "/memory"),
            ("GET", "/memory/graph"),
            ("GET", "/usage"),
            ("GET", "/health"),
            ("GET", "/metrics"),
            ("GET", "/api/events"),
            ("GET", "/ws"),
            ("POST", "/mcp"),
            ("POST", "/logout"),
            ("GET", "/nothing/here"),
        ];
        let document = self.admin.json("GET", "/api/openapi.json", None);
        let mut routes: Vec<(String, String)> =
            OTHERS.map(|(method, path)| (method.to_owned(), path.to_owned())).into();
        for (path, item) in document["paths"].as_object().unwrap() {
            let methods = item.as_object().unwrap().iter().filter(|(_, about)| about["operationId"].is_string());
            for (method, _) in methods {
                for id in [&self.session, &self.thread] {
                    let path = path.replace("{id}", id).replace("{name}", "root").replace("{token}", "0123456789ab");
                    routes.push((method.to_uppercase(), path));
                }
            }
        }
        routes.sort();
        routes.dedup();
        assert!(routes.len() > 60, "{routes:?}");
        routes
    }

    /// Waits until nothing of the space changes any more.
    fn wait_until_quiet(&self) {
        let mut before = self.postgres.contents(&self.space);
        wait_until("a quiet store", || {
            std::thread::sleep(std::time::Duration::from_millis(100));
            let now = self.postgres.contents(&self.space);
            now == std::mem::replace(&mut before, now.clone())
        });
    }

    /// Does something that must not change any row of the space.
    pub(crate) fn assert_unchanged(&self, work: impl FnOnce()) {
        let before = self.postgres.contents(&self.space);
        assert!(!before["entry"].is_empty() && !before["thread"].is_empty(), "{before:?}");
        work();
        let after = self.postgres.contents(&self.space);
        let changed: Vec<&String> = before.keys().filter(|table| before[*table] != after[*table]).collect();
        assert!(changed.is_empty(), "{changed:?}");
    }
}

pub(crate) fn new_home() -> TestHome {
    TestHome::with_binary(env!("CARGO_BIN_EXE_rethread"))
}

/// A body that a route accepts, as far as all can have the same.
pub(crate) fn body_of(method: &str, path: &str) -> Option<&'static str> {
    match (method, path.rsplit('/').next().unwrap_or_default()) {
        ("GET" | "DELETE", _) => None,
        (_, "messages") => Some(r#"{"role":"user","content":"intruder"}"#),
        (_, "ask") => Some(r#"{"question":"where is the walrus?"}"#),
        (_, "search") => Some(r#"{"query":"walrus parser"}"#),
        (_, "fix") => Some(r#"{"error":"walrus parser"}"#),
        (_, "resolve") => Some(r#"{"text":"see @@plans"}"#),
        (_, "members") => Some(r#"{"name":"intruder","role":"admin"}"#),
        (_, "retention") => Some(r#"{"days":1}"#),
        (_, "mcp") => Some(
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"remember","arguments":{"text":"intruder"}}}"#,
        ),
        ("PATCH", _) if path.starts_with("/api/sessions/") => Some(r#"{"name":"intruder"}"#),
        _ => Some("{}"),
    }
}

/// The token with another secret.
pub(crate) fn with_wrong_secret(token: &str) -> String {
    let (start, last) = token.split_at(token.len() - 1);
    format!("{start}{}", if last == "0" { "1" } else { "0" })
}

/// The JSON of a response; null if it is none.
pub(crate) fn parsed(body: &str) -> Value {
    serde_json::from_str(body).unwrap_or_default()
}

fn new_token(home: &TestHome, postgres: &TestPostgres, space: &str, arguments: &[&str]) -> String {
    let url = format!("{}&space={space}", postgres.url());
    home.run_ok(&[&["admin", "member", "add"], arguments, &["--store", &url]].concat()).trim().to_owned()
}
