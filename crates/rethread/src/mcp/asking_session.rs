//! Recognizes the session that calls a tool: by what its client sends with each call, or by a variable of this process.

use rethread_engine::{AskingSession, Environment};
use rethread_model::Agent;
use rmcp::model::JsonObject;
use serde_json::Value;

/// Longest id in bytes; a longer one is not an agent's.
const MAX_ID_BYTES: usize = 200;

/// Clients that send the session's id in the metadata of each call. Nothing inherits metadata, so it is trusted as it is.
const METADATA_CLIENTS: [MetadataClient; 2] = [
    MetadataClient {
        agent: Agent::Codex,
        object: Some("x-codex-turn-metadata"),
        session: "session_id",
        thread: Some("thread_id"),
        turn: Some("turn_id"),
    },
    MetadataClient { agent: Agent::Droid, object: None, session: "assemblySessionId", thread: None, turn: None },
];

/// Clients that start us with a variable that has the session's id. A client that was started from the shell of another
/// one inherits its variables, so a variable counts only with the client that sets it.
const VARIABLE_CLIENTS: [VariableClient; 3] = [
    VariableClient { agent: Agent::Copilot, client: "copilot-cli", variable: "COPILOT_AGENT_SESSION_ID" },
    VariableClient { agent: Agent::Qwen, client: "qwen-cli-mcp-client", variable: "QWEN_CODE_SESSION_ID" },
    VariableClient { agent: Agent::ClaudeCode, client: "claude-code", variable: "CLAUDE_CODE_SESSION_ID" },
];

struct MetadataClient {
    agent: Agent,
    /// The field of the metadata that has the ids; `None` if they are in the metadata itself.
    object: Option<&'static str>,
    session: &'static str,
    /// The id of the conversation that calls. If it is not the session's, it is a sub-agent's.
    thread: Option<&'static str>,
    turn: Option<&'static str>,
}

struct VariableClient {
    agent: Agent,
    /// The name that the client gives itself. It may add `-` and the name of the server.
    client: &'static str,
    variable: &'static str,
}

/// The ids of sessions in the variables of this process, for the clients that set them. Empty for the HTTP server, whose
/// variables say nothing about its callers.
#[derive(Clone, Debug, Default)]
pub(super) struct SessionVariables(Vec<(Agent, String)>);

impl SessionVariables {
    pub(super) fn from_environment(environment: &Environment) -> Self {
        let value = |client: &VariableClient| {
            let found = environment.variables.iter().find(|(name, _)| name == client.variable)?;
            Some((client.agent, checked_id(&found.1)?))
        };
        Self(VARIABLE_CLIENTS.iter().filter_map(value).collect())
    }

    fn get(&self, client: &str) -> Option<AskingSession> {
        let known = VARIABLE_CLIENTS.iter().find(|known| {
            client.strip_prefix(known.client).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        })?;
        let (agent, id) = self.0.iter().find(|(agent, _)| *agent == known.agent)?;
        Some(AskingSession { agent: *agent, external_id: id.clone(), turn: None, is_subagent: false })
    }
}

/// The session that calls, if its client names it.
pub(super) fn asking_session(
    metadata: &JsonObject,
    client: Option<&str>,
    variables: &SessionVariables,
) -> Option<AskingSession> {
    let sent = METADATA_CLIENTS.iter().find_map(|client| client.read(metadata));
    sent.or_else(|| variables.get(client?))
}

impl MetadataClient {
    fn read(&self, metadata: &JsonObject) -> Option<AskingSession> {
        let fields = match self.object {
            Some(name) => metadata.get(name)?.as_object()?,
            None => metadata,
        };
        let id = |name: &str| fields.get(name).and_then(Value::as_str).and_then(checked_id);
        let session = id(self.session)?;
        let thread = self.thread.and_then(id);
        Some(AskingSession {
            agent: self.agent,
            turn: self.turn.and_then(id),
            is_subagent: thread.is_some_and(|thread| thread != session),
            external_id: session,
        })
    }
}

/// An id without spaces around it, unless it cannot be one.
fn checked_id(id: &str) -> Option<String> {
    let id = id.trim();
    let is_id = !id.is_empty() && id.len() <= MAX_ID_BYTES && !id.contains(|c: char| c.is_control());
    is_id.then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn variables(set: &[(&str, &str)]) -> SessionVariables {
        let mut environment = Environment::for_home(std::path::Path::new("/home/dev"));
        environment.variables = set.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        SessionVariables::from_environment(&environment)
    }

    fn check(metadata: &Value, client: &str, set: &[(&str, &str)], expect: Option<(Agent, &str)>) {
        let found = asking_session(metadata.as_object().unwrap(), Some(client), &variables(set));
        let found = found.as_ref().map(|asker| (asker.agent, asker.external_id.as_str()));
        assert_eq!(found, expect, "{metadata} {client} {set:?}");
    }

    #[test]
    fn metadata_of_a_call_names_its_session() {
        let codex = json!({"progressToken": 1, "x-codex-turn-metadata": {"session_id": "s1", "thread_id": "s1"}});
        check(&codex, "codex-mcp-client", &[], Some((Agent::Codex, "s1")));
        check(&json!({"assemblySessionId": "d1", "caller": "AGENT"}), "factory-cli", &[], Some((Agent::Droid, "d1")));
        for odd in [
            json!({}),
            json!({"x-codex-turn-metadata": "s1"}),
            json!({"x-codex-turn-metadata": {"session_id": 7}}),
            json!({"assemblySessionId": ""}),
            json!({"assemblySessionId": "a\nb"}),
            json!({"assemblySessionId": "x".repeat(300)}),
        ] {
            check(&odd, "factory-cli", &[], None);
        }
    }

    #[test]
    fn a_sub_agent_asks_for_its_session() {
        let call = json!({"x-codex-turn-metadata": {"session_id": "s1", "thread_id": "s2", "turn_id": "t3"}});
        let asker = asking_session(call.as_object().unwrap(), None, &SessionVariables::default()).unwrap();
        assert_eq!((asker.external_id.as_str(), asker.turn.as_deref(), asker.is_subagent), ("s1", Some("t3"), true));
    }

    #[test]
    fn a_variable_counts_only_with_the_client_that_sets_it() {
        let all = [
            ("COPILOT_AGENT_SESSION_ID", "c1"),
            ("QWEN_CODE_SESSION_ID", "q1"),
            ("CLAUDE_CODE_SESSION_ID", "a1"),
            ("GEMINI_SESSION_ID", "g1"),
        ];
        for (client, expect) in [
            ("copilot-cli", Some((Agent::Copilot, "c1"))),
            ("qwen-cli-mcp-client-rethread", Some((Agent::Qwen, "q1"))),
            ("claude-code", Some((Agent::ClaudeCode, "a1"))),
            ("claude-codex", None),
            ("gemini-cli-mcp-client", None),
            ("opencode", None),
        ] {
            check(&json!({}), client, &all, expect);
        }
        check(&json!({}), "qwen-cli-mcp-client-rethread", &all[..1], None);
        assert_eq!(asking_session(&JsonObject::new(), None, &variables(&all)), None, "a client without a name");
    }
}
