//! Cline, by our plugin (`install/cline`).

use rethread_model::Agent;

use crate::hook::plugin_events;
use crate::hook::protocol::{DeliveryNotes, HostProtocol};

pub(super) static PROTOCOL: HostProtocol = plugin_events::protocol(
    Agent::Cline,
    DeliveryNotes {
        session_start: "with the first prompt",
        prompt: "yes",
        before_tool: "with the result",
        after_failure: "yes",
        compaction: "–",
        mcp: "yes",
        verified: "client 3.0.65",
    },
);
