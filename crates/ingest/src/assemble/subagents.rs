//! Finds which sub-agent conversation inside a parent's file an event belongs to.

use super::SessionAssembler;
use crate::{EventScope, TranscriptEvent};

/// The conversation that a sub-agent's line inside its parent's file belongs to.
pub fn subagent_conversation(main: &mut SessionAssembler, event: &TranscriptEvent) -> Option<String> {
    let EventScope::Subagent { agent_id, parent_id: parent } = &event.scope else { return None };
    if let Some(agent_id) = agent_id {
        // Same as its file name, for versions that write both.
        return Some(format!("agent-{agent_id}"));
    }
    let sides = &mut main.state.subagent_conversations;
    let above = parent.as_ref().and_then(|parent| sides.get(parent)).cloned();
    // The first line of a conversation has no parent and names it.
    let name = above.unwrap_or_else(|| event.native_id.clone());
    sides.insert(event.native_id.clone(), name.clone());
    Some(name)
}
