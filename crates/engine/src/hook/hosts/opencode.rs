//! OpenCode, by our plugin (`install/opencode`).

use rethread_model::Agent;

use crate::hook::plugin_events;
use crate::hook::protocol::{DeliveryNotes, HostProtocol};

pub(super) static PROTOCOL: HostProtocol = plugin_events::protocol(
    Agent::OpenCode,
    DeliveryNotes {
        session_start: "with the first prompt",
        prompt: "yes",
        before_tool: "with the result",
        after_failure: "yes",
        compaction: "with the next prompt",
        mcp: "yes",
        verified: "client 1.18.33",
    },
);
