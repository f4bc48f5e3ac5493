//! Splits the Markdown of a rule file into list items and sentences, each with its line. Headings, code, tables and front
//! matter are left out.

/// Something that may be a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RuleCandidate {
    /// The line at which it begins, from 1.
    pub(super) line: u64,
    pub(super) text: String,
}

/// List items whole, and running text by sentences.
pub(super) fn rule_candidates(text: &str) -> Vec<RuleCandidate> {
    let mut blocks: Vec<(bool, Vec<(u64, String)>)> = Vec::new();
    let mut is_open = false;
    let (mut is_fenced, mut is_front) = (false, false);
    for (number, raw) in (1..).zip(text.lines()) {
        let line = raw.trim();
        if line == "---" && (number == 1 || is_front) {
            is_front = number == 1;
            continue;
        }
        let is_fence = line.starts_with("```") || line.starts_with("~~~");
        is_fenced ^= is_fence;
        let is_other = line.is_empty() || line.starts_with(['#', '|', '<']) || line.starts_with("---");
        if is_front || is_fenced || is_fence || is_other {
            is_open = false;
            continue;
        }
        match (list_item(line), blocks.last_mut()) {
            (Some(item), _) => blocks.push((true, vec![(number, item.to_owned())])),
            (None, Some((_, lines))) if is_open => lines.push((number, line.to_owned())),
            (None, _) => blocks.push((false, vec![(number, line.to_owned())])),
        }
        is_open = true;
    }
    blocks.into_iter().flat_map(|(is_item, lines)| if is_item { whole(&lines) } else { sentences(&lines) }).collect()
}

/// The text of a list item, without its marker.
fn list_item(line: &str) -> Option<&str> {
    let digits = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.strip_prefix(['.', ')']).filter(|_| digits.len() < line.len());
    let rest = numbered.or_else(|| line.strip_prefix(['-', '*', '+', '•']))?;
    let rest = rest.strip_prefix(' ')?.trim_start();
    Some(rest.strip_prefix("[ ] ").or_else(|| rest.strip_prefix("[x] ")).unwrap_or(rest))
}

fn whole(lines: &[(u64, String)]) -> Vec<RuleCandidate> {
    let text = lines.iter().map(|(_, line)| line.as_str()).collect::<Vec<_>>().join(" ");
    lines.first().map(|(line, _)| RuleCandidate { line: *line, text }).into_iter().collect()
}

/// Sentences of wrapped lines; each has the line at which it begins.
fn sentences(lines: &[(u64, String)]) -> Vec<RuleCandidate> {
    let mut all: Vec<RuleCandidate> = Vec::new();
    let mut is_open = false;
    for (number, line) in lines {
        let mut rest = line.as_str();
        while !rest.is_empty() {
            let end = rest.match_indices(['.', '!', '?']).find(|(at, _)| rest[at + 1..].starts_with(' '));
            let (sentence, after) = end.map_or((rest, ""), |(at, _)| (&rest[..=at], rest[at + 1..].trim_start()));
            match all.last_mut() {
                Some(last) if is_open => last.text = format!("{} {sentence}", last.text),
                _ => all.push(RuleCandidate { line: *number, text: sentence.to_owned() }),
            }
            is_open = !sentence.ends_with(['.', '!', '?', ':']);
            rest = after;
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_and_sentences_keep_their_lines() {
        let text = "---\nalwaysApply: true\n---\n# Rules\n\nUse tabs. Never push\nto main.\n\n- Run the linter\n  before \
                    you commit\n* no emojis\n\n```\nnpm test\n```\n| a | b |\n1. Ask first\n";
        let found: Vec<(u64, String)> = rule_candidates(text).into_iter().map(|one| (one.line, one.text)).collect();
        let expected = [
            (6, "Use tabs."),
            (6, "Never push to main."),
            (9, "Run the linter before you commit"),
            (11, "no emojis"),
            (17, "Ask first"),
        ];
        assert_eq!(found, expected.map(|(line, text)| (line, text.to_owned())));
    }
}
