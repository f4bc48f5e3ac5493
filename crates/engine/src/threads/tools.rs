//! Tools that the engine itself offers to a model in a thread.

use rethread_llm::ToolDefinition;
use rethread_model::thread::ThreadId;
use rethread_recall::{SEARCH_MEMORY_DESCRIPTION, hit_line};
use serde_json::{Map, Value, json};

use crate::SearchRequest;
use crate::threads::TurnService;

/// Name of the tool that searches memory.
pub(super) const SEARCH_MEMORY_TOOL: &str = "search_memory";
/// Number of hits if the model does not say.
const DEFAULT_HITS: u64 = 5;
/// Maximum number of hits.
const MAX_HITS: u64 = 20;

/// The tool's description for the model.
pub(super) fn search_memory_tool() -> ToolDefinition {
    ToolDefinition {
        name: SEARCH_MEMORY_TOOL.to_owned(),
        description: SEARCH_MEMORY_DESCRIPTION.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "words to search for"},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_HITS},
            },
            "required": ["query"],
        }),
    }
}

impl TurnService<'_> {
    /// Runs one of our own tools. Returns its output and whether it failed. `None` if the tool is not ours.
    pub(super) fn run_own_tool(
        self,
        thread: ThreadId,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Option<(String, bool)> {
        (name == SEARCH_MEMORY_TOOL).then(|| self.search_for_model(thread, arguments))
    }

    /// Searches only the project of the current directory, so that nothing of other projects is sent to a model.
    fn search_for_model(self, thread: ThreadId, arguments: &Map<String, Value>) -> (String, bool) {
        let Some(query) = arguments.get("query").and_then(Value::as_str).filter(|query| !query.trim().is_empty())
        else {
            return ("\"query\" must be a non-empty string".to_owned(), true);
        };
        let limit = arguments.get("limit").and_then(Value::as_u64).unwrap_or(DEFAULT_HITS).clamp(1, MAX_HITS);
        let request = SearchRequest {
            text: query.to_owned(),
            scope: self.engine.sessions().current_project(),
            // Twice as many, because hits in the thread itself are dropped: the model has them already.
            limit: 2 * limit as usize,
            ..SearchRequest::default()
        };
        match self.engine.search().run(&request) {
            Ok(report) => {
                let others = report.hits.iter().filter(|recalled| recalled.hit.session.id != thread.session_id());
                let hits = others.take(limit as usize).map(|recalled| hit_line(&recalled.hit));
                let hits: Vec<String> = hits.collect();
                (if hits.is_empty() { "no results".to_owned() } else { hits.join("\n") }, false)
            }
            Err(error) => (error.to_string(), true),
        }
    }
}
