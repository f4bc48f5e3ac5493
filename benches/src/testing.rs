//! Generates small homes for unit tests.

use std::error::Error;
use std::io;

use serde_json::Value;

use crate::plan::{HomeSpec, TranscriptPlan, plan_transcripts};
use crate::vocabulary::Vocabulary;

/// The parsed lines of each transcript that a home with this plan has below `folder`.
pub(crate) fn parsed_transcripts(
    spec: HomeSpec,
    folder: &str,
    write: impl Fn(&TranscriptPlan, &Vocabulary, &mut Vec<u8>) -> io::Result<u64>,
) -> Result<Vec<Vec<Value>>, Box<dyn Error>> {
    let words = Vocabulary::new(spec.seed);
    let plans = plan_transcripts(spec, &words);
    let mut transcripts = Vec::new();
    for plan in plans.iter().filter(|plan| plan.path.starts_with(folder)) {
        let mut out = Vec::new();
        write(plan, &words, &mut out)?;
        let lines = std::str::from_utf8(&out)?.lines().map(serde_json::from_str);
        transcripts.push(lines.collect::<Result<_, _>>()?);
    }
    Ok(transcripts)
}
