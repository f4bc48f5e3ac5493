//! Episodes as plain text, the form in which they are searched, quoted and passed on.

use rethread_model::{Entry, EntryRole, Episode, ToolUse};
use rethread_store::EntryFilter;

use crate::{EngineError, ListedSession, SessionService};

/// One episode as plain text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeText {
    /// `session-<the agent's session id>-<episode number>`.
    pub name: String,
    /// Number, times and lines of the episode.
    pub episode: Episode,
    /// Lines starting with `User:`, `Agent:`, `Action:` or `Error:`.
    pub text: String,
}

impl SessionService<'_> {
    /// The episodes of a session as text. Abandoned branches are left out.
    pub fn episodes(self, reference: &str) -> Result<(ListedSession, Vec<EpisodeText>), EngineError> {
        let store = self.engine.reader_for(reference)?;
        let listed = self.resolve_in(&store, reference)?;
        let entries = store.entries(listed.session.id, EntryFilter::default())?;
        let episodes = store.episodes(listed.session.id)?.into_iter().filter(|episode| !episode.is_abandoned);
        let texts = episodes.map(|episode| EpisodeText {
            name: format!("session-{}-{}", listed.session.external_id, episode.number),
            text: episode_text(entries.iter().filter(|entry| entry.episode == Some(episode.number))),
            episode,
        });
        let texts = texts.collect();
        Ok((listed, texts))
    }
}

fn episode_text<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let mut lines = Vec::new();
    for entry in entries {
        match (entry.kind.role(), &entry.tool) {
            (EntryRole::User, _) => lines.push(format!("User: {}", entry.text)),
            (EntryRole::Assistant, _) => lines.push(format!("Agent: {}", entry.text)),
            (EntryRole::Error, _) => lines.push(format!("Error: {}", entry.text)),
            (EntryRole::Tool, Some(tool)) => lines.extend(action_lines(tool)),
            _ => {}
        }
    }
    lines.join("\n")
}

/// The tool call with its result, and the error if it failed.
fn action_lines(tool: &ToolUse) -> impl Iterator<Item = String> {
    let arguments = [tool.target.as_str(), tool.arguments.as_str()];
    let arguments: Vec<&str> = arguments.into_iter().filter(|part| !part.is_empty()).collect();
    let call = format!("Action: {}({})", tool.name, arguments.join(", "));
    let (result, error) = match &tool.outcome {
        None => ("no result".to_owned(), None),
        Some(outcome) => (format!("{} ({})", outcome.status.as_str(), outcome.summary), outcome.error.as_deref()),
    };
    let error = error.map(|error| format!("Error: {error}"));
    std::iter::once(format!("{call} → {result}")).chain(error)
}
