//! The hosts that can call our hook, one file each.

mod claude_code;
mod pi;
#[cfg(test)]
mod tests;

use rethread_model::Agent;

use super::protocol::HostProtocol;

/// Every host, in display order. Each has fixtures in `tests/fixtures/hosts/<host>/`.
pub static HOSTS: [&HostProtocol; 2] = [&claude_code::PROTOCOL, &pi::PROTOCOL];

impl HostProtocol {
    /// The host of an agent; `None` if it calls no hooks.
    pub fn of(agent: Agent) -> Option<&'static Self> {
        HOSTS.into_iter().find(|host| host.agent == agent)
    }
}
