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
    /// Continues a session. `None` if the agent cannot continue a session by its id, for sub-agents, and if the id or the
    /// directory has a character that a terminal would act on.
    pub fn resume(session: &Session) -> Option<Self> {
        let id = session.external_id.as_str();
        // Both come from a transcript. The id must not become an option.
        let is_safe = !id.starts_with('-') && is_one_safe_line(id) && Self::has_safe_directory(session);
        let is_resumable = session.kind == SessionKind::Main && is_safe;
        let words = format_of(session.agent).resume_words(id).filter(|_| is_resumable)?;
        Some(Self { agent: session.agent, directory: session.cwd.clone(), words })
    }

    /// Starts a session of an agent where another session worked. `None` if the agent takes no first prompt, or if the
    /// directory has a character that a terminal would act on.
    fn hand_over(session: &Session, agent: Agent, prompt: &str) -> Option<Self> {
        // A command line must not change any more once it is quoted, so nothing may be left for a sanitizer.
        let words = format_of(agent).start_words(&prompt.replace(is_unsafe_to_display, ""))?;
        if !Self::has_safe_directory(session) {
            return None;
        }
        Some(Self { agent, directory: session.cwd.clone(), words })
    }

    /// Whether the directory of a session can be part of a command line.
    pub fn has_safe_directory(session: &Session) -> bool {
        session.cwd.as_deref().is_none_or(is_one_safe_line)
    }

    /// The agents that can be started with a first prompt.
    pub fn startable_agents() -> impl Iterator<Item = Agent> {
        Agent::EXTERNAL.into_iter().filter(|agent| format_of(*agent).start.is_some())
    }

    /// The program.
    pub fn program(&self) -> &str {
        self.words.first().map_or("", String::as_str)
    }

    /// The same as one command line for a shell. It must be printed as it is: changing a quoted text breaks the quotes.
    pub fn shell_line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quote_for_shell(word)).collect();
        let go = self.directory.as_deref().map_or_else(String::new, |path| {
            // Otherwise `cd` would take it as an option, or look for it elsewhere.
            let here = if path.starts_with('/') { "" } else { "./" };
            format!("cd {} && ", quote_for_shell(&format!("{here}{path}")))
        });
        go + &words.join(" ")
    }

    /// The same for PowerShell.
    pub fn powershell_line(&self) -> String {
        let words: Vec<String> = self.words.iter().map(|word| quote_for_powershell(word)).collect();
        let go = |path| format!("Set-Location -LiteralPath {} && ", quote_for_powershell(path));
        self.directory.as_deref().map_or_else(String::new, go) + &words.join(" ")
    }
}

/// Whether a text is one line, without a character that a terminal would act on.
fn is_one_safe_line(text: &str) -> bool {
    !text.contains(|c: char| c.is_control() || is_unsafe_to_display(c))
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
    use std::process::Command;

    use proptest::prelude::*;
    use rethread_model::{SessionCounts, SessionId, Timestamp, Tokens};

    use super::*;

    /// What a real shell understands, with the programs replaced by one that prints its words.
    fn words_of_a_shell(line: &str) -> Vec<String> {
        let script = format!("cd() {{ printf '%s\\0' cd \"$@\"; }}; pi() {{ printf '%s\\0' \"$0\" \"$@\"; }}; {line}");
        let output = Command::new("sh").args(["-c", &script, "pi"]).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.split_terminator('\0').map(str::to_owned).collect()
    }

    fn pi_session(cwd: &str, id: &str) -> Session {
        Session {
            id: SessionId::derive(Agent::Pi, id, Timestamp::from_millis(0)),
            agent: Agent::Pi,
            external_id: id.to_owned(),
            kind: SessionKind::Main,
            parent: None,
            alias: None,
            name: None,
            cwd: Some(cwd.to_owned()),
            project: None,
            namespace: None,
            branch: None,
            model: None,
            started_at: None,
            last_activity_at: None,
            transcript: None,
            counts: SessionCounts::default(),
            tokens: Tokens::default(),
            cost_usd: None,
            raw_tokens: 0,
            kept_tokens: 0,
            is_empty: false,
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn a_shell_gets_the_words_of_a_transcript_back_or_there_is_no_command(
            cwd in "[-/~a '\"\\\\$`;&|!*?#\n\t\r\u{1b}\\[\u{9b}mé日\u{2028}\u{202e}]{0,12}",
            id in "[-a '\"\\\\$`;&|!*?#\n\t\r\u{1b}\\[\u{9b}mé日\u{2028}\u{202e}]{0,12}",
        ) {
            let Some(command) = AgentCommand::resume(&pi_session(&cwd, &id)) else {
                let is_unsafe = |c: char| c.is_control() || is_unsafe_to_display(c);
                prop_assert!(id.starts_with('-') || id.contains(is_unsafe) || cwd.contains(is_unsafe));
                return Ok(());
            };
            let line = command.shell_line();
            prop_assert!(!line.contains(|c: char| c.is_control() || is_unsafe_to_display(c)));
            let directory = if cwd.starts_with('/') { cwd } else { format!("./{cwd}") };
            let mut expected = vec!["cd".to_owned(), directory];
            expected.extend(command.words);
            prop_assert_eq!(words_of_a_shell(&line), expected);
        }
    }

    #[test]
    fn a_color_sequence_cannot_take_a_quote_away() {
        assert_eq!(AgentCommand::resume(&pi_session("/p/proj\u{1b}[", " ; touch x ; #")), None);
        let handed = AgentCommand::hand_over(&pi_session("/p", "x"), Agent::Pi, "go\u{1b}['; touch x\non").unwrap();
        assert_eq!(handed.words.last().map(String::as_str), Some("go['; touch x\non"));
        assert_eq!(AgentCommand::hand_over(&pi_session("/p\u{7}", "x"), Agent::Pi, "go"), None);
    }

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
        let dashed = AgentCommand { directory: Some("-a b".to_owned()), ..command };
        assert!(dashed.shell_line().starts_with("cd './-a b' && pi "));
    }
}
