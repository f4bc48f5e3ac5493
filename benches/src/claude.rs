//! Writes sessions as Claude Code does, one JSON object per line. The shapes follow 2.1 releases.

mod envelope;
mod noise;
mod tools;
mod turn;

use std::io::{self, Write};

use crate::author::Author;
use crate::ids;
use crate::plan::{Kind, SubAgent, Transcript};
use crate::words::Words;
use crate::workspace::Workspace;

/// A session gets its first picture of a megabyte or two after this many bytes …
const FIRST_PICTURE: usize = 6_000_000;
/// … and one more after each further stretch of this length.
const NEXT_PICTURE: usize = 40_000_000;

/// Writes the transcript to `sink`; says when the session ended, in ms since 1970.
///
/// # Errors
/// When `sink` cannot be written.
pub fn write(plan: &Transcript, words: &Words, sink: &mut impl Write) -> io::Result<u64> {
    let mut session = Session::new(plan, words);
    session.head();
    loop {
        session.turn();
        sink.write_all(&session.out)?;
        session.flushed += session.out.len();
        session.out.clear();
        if session.room() == 0 {
            return Ok(session.clock);
        }
    }
}

/// The file beside a sub-agent's transcript that names the call which started it.
#[must_use]
pub fn sidecar(agent: &SubAgent) -> String {
    serde_json::json!({"agentType": "Explore", "toolUseId": agent.call}).to_string()
}

/// What the releases differ in: progress lines or attachments, and the order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Era {
    Progress,
    Attachment,
}

/// A transcript being written.
struct Session<'p> {
    plan: &'p Transcript,
    author: Author<'p>,
    workspace: Workspace,
    /// Lines not yet handed to the sink.
    out: Vec<u8>,
    flushed: usize,
    clock: u64,
    /// The last entry, on which the next one hangs.
    parent: Option<String>,
    /// What the last prompt hung on, for prompts that are edited and sent again.
    prompt_parent: Option<String>,
    prompt_id: String,
    agents: Vec<SubAgent>,
    era: Era,
    version: &'static str,
    branch: String,
    slug: String,
    /// Transcript sizes at which a picture and a compaction are due.
    picture_at: usize,
    compaction_at: usize,
}

impl<'p> Session<'p> {
    fn new(plan: &'p Transcript, words: &'p Words) -> Self {
        let mut author = Author::new(words, plan.seed);
        let era = if author.chance(50) { Era::Progress } else { Era::Attachment };
        let version = match era {
            Era::Progress => *author.random.pick(&["2.1.15", "2.1.42", "2.1.77"]),
            Era::Attachment => *author.random.pick(&["2.1.104", "2.1.119", "2.1.161"]),
        };
        let agents = if let Kind::Claude(agents) = &plan.kind { agents.clone() } else { Vec::new() };
        Self {
            workspace: Workspace::new(&plan.cwd),
            branch: format!("{}/{}", author.name(), author.name()),
            slug: author.title().replace(' ', "-"),
            prompt_id: ids::uuid(&mut author.random),
            compaction_at: author.random.size(1_500_000, 0.4),
            picture_at: FIRST_PICTURE,
            clock: plan.started,
            out: Vec::new(),
            flushed: 0,
            parent: None,
            prompt_parent: None,
            agents,
            era,
            version,
            plan,
            author,
        }
    }

    /// Bytes written so far.
    const fn len(&self) -> usize {
        self.flushed + self.out.len()
    }

    /// Bytes still wanted.
    const fn room(&self) -> usize {
        self.plan.bytes.saturating_sub(self.len())
    }

    const fn is_agent(&self) -> bool {
        matches!(self.plan.kind, Kind::ClaudeAgent(_))
    }

    /// True once each time the transcript outgrows `self.picture_at`.
    const fn picture_is_due(&mut self) -> bool {
        let due = self.len() > self.picture_at && self.room() > FIRST_PICTURE / 2;
        if due {
            self.picture_at = self.len() + NEXT_PICTURE;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use serde_json::Value;

    use crate::plan::{Wish, transcripts};
    use crate::words::Words;

    #[test]
    fn every_line_parses_and_hangs_on_an_earlier_one() -> Result<(), Box<dyn std::error::Error>> {
        let words = Words::new(5);
        let plans = transcripts(Wish { bytes: 8_000_000, files: 10, seed: 5 }, &words);
        for plan in plans.iter().filter(|plan| plan.path.starts_with(".claude")) {
            let mut out = Vec::new();
            super::write(plan, &words, &mut out)?;
            let mut known = HashSet::new();
            for line in std::str::from_utf8(&out)?.lines() {
                let line: Value = serde_json::from_str(line)?;
                if let Some(parent) = line["parentUuid"].as_str() {
                    assert!(known.contains(parent), "no parent for {line:.300}");
                }
                known.extend(line["uuid"].as_str().map(String::from));
            }
        }
        Ok(())
    }
}
