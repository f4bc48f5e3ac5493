//! Writes transcripts in the format of Claude Code 2.1, one JSON object per line.

mod envelope;
mod system_lines;
mod tools;
mod turn;

use std::io::{self, Write};

use crate::ids;
use crate::plan::{SubagentPlan, TranscriptKind, TranscriptPlan};
use crate::text_generator::TextGenerator;
use crate::vocabulary::Vocabulary;
use crate::workspace::SyntheticWorkspace;

/// A session gets its first image, of 0.5 to 0.9 MB, after this many bytes …
const FIRST_IMAGE_BYTES: usize = 6_000_000;
/// … and another one after every further amount of this size.
const NEXT_IMAGE_BYTES: usize = 40_000_000;

/// Writes the transcript to `sink`. Returns when the session ended, in ms since 1970.
///
/// # Errors
/// When `sink` cannot be written.
pub fn write(plan: &TranscriptPlan, words: &Vocabulary, sink: &mut impl Write) -> io::Result<u64> {
    let mut session = ClaudeTranscriptWriter::new(plan, words);
    session.write_header();
    loop {
        session.turn();
        sink.write_all(&session.out)?;
        session.flushed += session.out.len();
        session.out.clear();
        if session.remaining_bytes() == 0 {
            return Ok(session.clock);
        }
    }
}

/// Content of the file beside a subagent's transcript that names the call which started it.
#[must_use]
pub fn subagent_meta(agent: &SubagentPlan) -> String {
    serde_json::json!({"agentType": "Explore", "toolUseId": agent.call}).to_string()
}

/// Differences between releases: progress lines or attachments, and the order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReleaseStyle {
    Progress,
    Attachment,
}

/// A transcript being written.
struct ClaudeTranscriptWriter<'p> {
    plan: &'p TranscriptPlan,
    text: TextGenerator<'p>,
    workspace: SyntheticWorkspace,
    /// Lines not yet written to the sink.
    out: Vec<u8>,
    flushed: usize,
    clock: u64,
    /// Id of the last entry, the parent of the next one.
    parent: Option<String>,
    /// Parent of the last prompt, for prompts that are edited and sent again.
    prompt_parent: Option<String>,
    prompt_id: String,
    agents: Vec<SubagentPlan>,
    release_style: ReleaseStyle,
    version: &'static str,
    branch: String,
    slug: String,
    /// Transcript sizes in bytes at which an image and a compaction are due.
    image_at: usize,
    compaction_at: usize,
}

impl<'p> ClaudeTranscriptWriter<'p> {
    fn new(plan: &'p TranscriptPlan, words: &'p Vocabulary) -> Self {
        let mut text = TextGenerator::new(words, plan.seed);
        let release_style = if text.chance(50) { ReleaseStyle::Progress } else { ReleaseStyle::Attachment };
        let version = match release_style {
            ReleaseStyle::Progress => *text.random.pick(&["2.1.15", "2.1.42", "2.1.77"]),
            ReleaseStyle::Attachment => *text.random.pick(&["2.1.104", "2.1.119", "2.1.161"]),
        };
        let agents = if let TranscriptKind::Claude(agents) = &plan.kind { agents.clone() } else { Vec::new() };
        Self {
            workspace: SyntheticWorkspace::new(&plan.cwd),
            branch: format!("{}/{}", text.content_word(), text.content_word()),
            slug: text.title().replace(' ', "-"),
            prompt_id: ids::uuid(&mut text.random),
            compaction_at: text.random.size(1_500_000, 0.4),
            image_at: FIRST_IMAGE_BYTES,
            clock: plan.started,
            out: Vec::new(),
            flushed: 0,
            parent: None,
            prompt_parent: None,
            agents,
            release_style,
            version,
            plan,
            text,
        }
    }

    /// Bytes written so far.
    const fn len(&self) -> usize {
        self.flushed + self.out.len()
    }

    /// Bytes left until the planned size.
    const fn remaining_bytes(&self) -> usize {
        self.plan.bytes.saturating_sub(self.len())
    }

    const fn is_subagent(&self) -> bool {
        matches!(self.plan.kind, TranscriptKind::ClaudeAgent(_))
    }

    /// True once each time the transcript grows beyond `self.image_at`.
    const fn is_image_due(&mut self) -> bool {
        let due = self.len() > self.image_at && self.remaining_bytes() > FIRST_IMAGE_BYTES / 2;
        if due {
            self.image_at = self.len() + NEXT_IMAGE_BYTES;
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use crate::plan::HomeSpec;
    use crate::testing::parsed_transcripts;

    #[test]
    fn every_line_parses_and_has_an_earlier_parent() -> Result<(), Box<dyn std::error::Error>> {
        let spec = HomeSpec { bytes: 8_000_000, files: 10, seed: 5 };
        for lines in parsed_transcripts(spec, ".claude", super::write)? {
            let mut known = HashSet::new();
            for line in lines {
                if let Some(parent) = line["parentUuid"].as_str() {
                    assert!(known.contains(parent), "no parent for {line:.300}");
                }
                known.extend(line["uuid"].as_str().map(String::from));
            }
        }
        Ok(())
    }
}
