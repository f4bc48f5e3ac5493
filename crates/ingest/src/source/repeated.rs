//! Finds sessions that an agent stores in more than one way, so that each is read once, from the best place.

use std::collections::HashMap;
use std::path::Path;

use rethread_model::Agent;

use super::{TranscriptFile, split_address};
use crate::agents::{Storage, format_of};

/// In which layout each session is stored, of agents that may store one in several layouts.
#[derive(Debug, Default)]
pub struct KnownSessions(HashMap<(Agent, String), usize>);

impl KnownSessions {
    /// Adds a transcript that was read before. One that does not exist any more can be read from elsewhere.
    pub fn add_read(&mut self, agent: Agent, path: &Path) {
        if format_of(agent).repeats_sessions && (split_address(path).is_some() || path.exists()) {
            self.add(agent, path);
        }
    }

    /// Leaves out transcripts whose session is also stored in an earlier layout of the agent, now or in what was read
    /// before.
    pub fn retain_best(mut self, mut found: Vec<TranscriptFile>) -> Vec<TranscriptFile> {
        for file in &found {
            self.add(file.agent, &file.path);
        }
        found.retain(|file| {
            let place = place_of(file.agent, &file.path);
            place.is_none_or(|(id, layout)| self.0.get(&(file.agent, id)).is_none_or(|best| *best == layout))
        });
        found
    }

    fn add(&mut self, agent: Agent, path: &Path) {
        if let Some((id, layout)) = place_of(agent, path) {
            let best = self.0.entry((agent, id)).or_insert(layout);
            *best = layout.min(*best);
        }
    }
}

/// The session of a transcript, if its path shows it.
pub fn session_in_path(agent: Agent, path: &Path) -> Option<String> {
    place_of(agent, path).map(|(id, _)| id)
}

/// The session of a transcript and the number of its layout.
fn place_of(agent: Agent, path: &Path) -> Option<(String, usize)> {
    let format = Some(format_of(agent)).filter(|format| format.repeats_sessions)?;
    let layout = format.layout_of(path);
    let number = format.layouts.iter().position(|one| std::ptr::eq(one, layout))?;
    let id = match layout.storage {
        Storage::Database(_) | Storage::Archive { .. } => split_address(path)?.1.to_owned(),
        Storage::Lines | Storage::Document { .. } => (format.session_id_in_path)(path.to_str()?)?.to_owned(),
    };
    Some((id, number))
}
