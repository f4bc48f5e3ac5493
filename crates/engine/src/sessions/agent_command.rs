//! The command of an agent that continues a session, or starts a new one with a handoff note. Starts nothing itself.

use rethread_ingest::agents::format_of;
use rethread_model::{Agent, Session, SessionKind, is_unsafe_to_display, quote_for_powershell, quote_for_shell};
use rethread_recall::handoff_prompt;

use crate::{EngineError, HandoffReport, SessionService};

/// A command of an agent, and where to run it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentCommand {
    /// The agent that it starts.
    pub agent: Agent,
    /// The directory of the session; `None` if it is unknown.
    pub directory: Option<String>,
    /// The program and its arguments.
    pub words: Vec<String>,
}

impl AgentCommand {
    /// Continues a session. `None` if the agent cannot continue a session by its id, and for sub-agents.
    pub fn resume(session: &Session) -> Option<Self> {
        let id = session.external_id.as_str();
        // The id comes from a transcript, and must not become an option.
        let is_argument = !id.starts_with('-') && !id.contains(is_unsafe_to_display);
        let is_resumable = session.kind == SessionKind::Main && is_argument;
        let words = format_of(session.agent).resume_words(id).filter(|_| is_resumable)?;
        Some(Self { agent: session.agent, directory: session.cwd.clone(), words })
    }

    /// Starts a session of an agent where another session worked. `None` if the agent takes no first prompt.
    fn hand_over(session: &Session, agent: Agent, prompt: &str) -> Option<Self> {
        let words = format_of(agent).start_words(prompt)?;
        Some(Self { agent, directory: session.cwd.clone(), words })
    }

    /// The agents that can be started with a first prompt.
    pub fn startable_agents() -> impl Iterator<Item = Agent> {
        Agent::EXTERNAL.into_iter().filter(|agent| format_of(*agent).start.is_some())
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The same as one command line for a shell.
    pub fn shell_line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quote_for_shell(word)).collect();
        let go = self.directory.as_deref().map_or_else(String::new, |path| format!("cd {} && ", quote_for_shell(path)));
        go + &words.join(" ")
    }

    /// The same for PowerShell.
    pub fn powershell_line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quote_for_powershell(word)).collect();
        let go = |path| format!("Set-Location -LiteralPath {} && ", quote_for_powershell(path));
        self.directory.as_deref().map_or_else(String::new, go) + &words.join(" ")
    }
}

impl SessionService<'_> {
    /// The command that starts another agent with the handoff note of a session as its first prompt. `None` if the
    /// agent takes no first prompt.
    pub fn hand_over(self, reference: &str, agent: Agent) -> Result<Option<AgentCommand>, EngineError> {
        let HandoffReport { listed, text } = self.engine.questions().handoff(reference)?;
        let prompt = handoff_prompt(&text, &listed.session);
        Ok(AgentCommand::hand_over(&listed.session, agent, &prompt))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_that_resumes_is_named_by_its_first_word_and_takes_the_id_whole() {
        for agent in Agent::EXTERNAL {
            let Some(words) = format_of(agent).resume_words("an id; rm -rf") else { continue };
            assert!(words[0].chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{words:?}");
            let holders = words.iter().filter(|word| word.contains("an id; rm -rf")).count();
            assert_eq!(holders, usize::from(agent != Agent::Aider), "{words:?}");
        }
    }

    #[test]
    fn a_first_prompt_is_the_last_word() {
        let agents: Vec<Agent> = AgentCommand::startable_agents().collect();
        for agent in [Agent::ClaudeCode, Agent::Codex, Agent::Gemini, Agent::OpenCode, Agent::Pi] {
            assert!(agents.contains(&agent), "{agent}");
        }
        for agent in agents {
            let words = format_of(agent).start_words("two\nlines").unwrap();
            assert_eq!(words.last().map(String::as_str), Some("two\nlines"), "{agent}");
        }
    }

    #[test]
    fn words_and_directory_are_quoted_for_a_shell() {
        let words = vec!["pi".to_owned(), "it's\n$HOME".to_owned()];
        let command = AgentCommand { agent: Agent::Pi, directory: Some("/a b".to_owned()), words };
        assert_eq!(command.shell_line(), "cd '/a b' && pi 'it'\\''s\n$HOME'");
        assert_eq!(command.powershell_line(), "Set-Location -LiteralPath '/a b' && pi 'it''s\n$HOME'");
    }
}
