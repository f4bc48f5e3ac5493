//! Episodes as plain text, the form in which they are searched, quoted and handed on.

use rethread_model::{Entry, Episode, Role, ToolUse};
use rethread_store::EntryFilter;

use crate::{Engine, EngineError, Listed};

/// One exchange as text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpisodeText {
    /// `session-<the agent's id>-<number>`.
    pub name: String,
    /// The episode.
    pub episode: Episode,
    /// Lines that begin with `User:`, `Agent:`, `Action:` or `Error:`.
    pub text: String,
}

impl Engine {
    /// The session a reference means, exchange by exchange. Branches the session left are not told.
    pub fn episodes(&self, reference: &str) -> Result<(Listed, Vec<EpisodeText>), EngineError> {
        let store = self.reader()?.ok_or_else(|| EngineError::UnknownReference(reference.to_owned()))?;
        let listed = self.resolve_in(&store, reference)?;
        let entries = store.entries(listed.session.id, EntryFilter::default())?;
        let episodes = store.episodes(listed.session.id)?.into_iter().filter(|episode| !episode.abandoned);
        let texts = episodes.map(|episode| EpisodeText {
            name: format!("session-{}-{}", listed.session.external_id, episode.number),
            text: text_of(entries.iter().filter(|entry| entry.episode == Some(episode.number))),
            episode,
        });
        let texts = texts.collect();
        Ok((listed, texts))
    }
}

fn text_of<'a>(entries: impl Iterator<Item = &'a Entry>) -> String {
    let mut lines = Vec::new();
    for entry in entries {
        match (entry.speech.role(), &entry.tool) {
            (Role::User, _) => lines.push(format!("User: {}", entry.text)),
            (Role::Assistant, _) => lines.push(format!("Agent: {}", entry.text)),
            (Role::Error, _) => lines.push(format!("Error: {}", entry.text)),
            (Role::Tool, Some(tool)) => lines.extend(action(tool)),
            _ => {}
        }
    }
    lines.join("\n")
}

/// What was done, and the error if it failed.
fn action(tool: &ToolUse) -> impl Iterator<Item = String> {
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
