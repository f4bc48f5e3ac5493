//! Tags: tickets, files, packages, programs, languages and topics that occur in a session. Nothing is made up.

use rethread_model::one_line;

use super::clean::lines;
use super::deeds::{Deeds, Tally, file_name};
use super::words::telling;
use super::{CARD_TAG_CHARS, CARD_TAGS, CardSource};
use crate::cues::weight_of;

/// Of each kind at most so many.
const MOST_OF_A_KIND: usize = 3;
const MOST_TOPICS: usize = 4;
/// Upper-case words with a number that are no tickets.
const NO_TICKETS: [&str; 16] =
    ["UTF", "SHA", "ISO", "RFC", "AES", "MD", "GPT", "HTTP", "TLS", "CVE", "ES", "BASE", "UTC", "WP", "STEP", "PHASE"];
/// Programs that say something about the work. Sorted.
const PROGRAMS: [&str; 38] = [
    "aws",
    "bazel",
    "brew",
    "bun",
    "bundle",
    "cargo",
    "cmake",
    "deno",
    "docker",
    "dotnet",
    "eslint",
    "ffmpeg",
    "gcloud",
    "gh",
    "git",
    "go",
    "gradle",
    "helm",
    "kubectl",
    "make",
    "mix",
    "mvn",
    "mypy",
    "node",
    "npm",
    "pip",
    "playwright",
    "pnpm",
    "poetry",
    "psql",
    "pytest",
    "ruff",
    "sqlite3",
    "terraform",
    "tmux",
    "uv",
    "xcodebuild",
    "yarn",
];
/// Languages by the ends of file names.
const LANGUAGES: [(&str, &str); 20] = [
    ("rs", "rust"),
    ("go", "go"),
    ("py", "python"),
    ("ts", "typescript"),
    ("tsx", "typescript"),
    ("js", "javascript"),
    ("jsx", "javascript"),
    ("java", "java"),
    ("kt", "kotlin"),
    ("swift", "swift"),
    ("rb", "ruby"),
    ("php", "php"),
    ("c", "c"),
    ("cpp", "c++"),
    ("cs", "c#"),
    ("ex", "elixir"),
    ("sh", "shell"),
    ("sql", "sql"),
    ("html", "html"),
    ("css", "css"),
];

/// Between three and twelve tags.
pub(super) fn tags(source: &CardSource<'_>, deeds: &Deeds) -> Vec<String> {
    let prompts: Vec<String> = source
        .prompts()
        .map(|entry| lines(&entry.text).into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n"))
        .collect();
    let mut tags = Tags::default();
    tags.add(MOST_OF_A_KIND, prompts.iter().flat_map(|text| tickets(text)));
    tags.add(MOST_OF_A_KIND, deeds.changed.iter().map(|path| file_name(path).to_owned()));
    tags.add(MOST_OF_A_KIND - 1, deeds.packages.iter().map(|name| format!("package:{name}")));
    tags.add(MOST_OF_A_KIND - 1, languages(deeds).into_iter());
    let programs = deeds.programs.iter().filter(|program| PROGRAMS.binary_search(&program.as_str()).is_ok());
    tags.add(MOST_OF_A_KIND - 1, programs.cloned());
    tags.add(MOST_TOPICS, topics(source, &prompts).into_iter());
    tags.fill(source);
    tags.0
}

/// What a session's prompts speak of most often.
fn topics(source: &CardSource<'_>, prompts: &[String]) -> Vec<String> {
    let mut tally = Tally::default();
    // The title counts twice: somebody thought about it.
    let title = source.title.unwrap_or_default();
    for text in [title, title].into_iter().chain(prompts.iter().map(String::as_str)) {
        let plain = text.split_whitespace().filter(|word| !word.contains(['/', '@', '\\', '=']));
        let words = telling(&plain.collect::<Vec<_>>().join(" "));
        // A long text that was pasted must not outweigh all others.
        let mut known: Vec<String> = Vec::new();
        let is_topic = |word: &String| (4..=30).contains(&word.chars().count()) && weight_of(word) >= 1.0;
        for word in words.filter(is_topic) {
            if !known.contains(&word) {
                tally.add(&word);
                known.push(word);
            }
        }
    }
    if prompts.len() > 3 {
        tally.keep_at_least(2);
    }
    tally.most_first()
}

fn languages(deeds: &Deeds) -> Vec<String> {
    let mut tally = Tally::default();
    for path in &deeds.changed {
        let end = path.rsplit_once('.').map_or("", |(_, end)| end);
        if let Some((_, language)) = LANGUAGES.iter().find(|(known, _)| *known == end) {
            tally.add(language);
        }
    }
    tally.most_first()
}

/// Tickets (`ABC-123`), and issues by their address or as `#12`.
fn tickets(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.split(|c: char| c.is_whitespace() || "()[],;\"'`".contains(c)) {
        let bare = word.trim_end_matches(['.', ':', '?', '!']);
        let parts: Vec<&str> = bare.split('/').collect();
        if let [.., owner, repository, "issues" | "pull", number] = parts[..]
            && is_number(number)
        {
            found.push(format!("issue:{owner}/{repository}#{number}"));
        } else if let Some(number) = bare.strip_prefix('#').filter(|number| is_number(number)) {
            found.push(format!("issue:#{number}"));
        } else if let Some((key, number)) = bare.split_once('-')
            && (2..=10).contains(&key.len())
            && key.bytes().all(|byte| byte.is_ascii_uppercase())
            && is_number(number)
            && !NO_TICKETS.contains(&key)
        {
            found.push(format!("ticket:{bare}"));
        }
    }
    found
}

fn is_number(text: &str) -> bool {
    (1..=7).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[derive(Default)]
struct Tags(Vec<String>);

impl Tags {
    /// Adds at most so many of a kind.
    fn add(&mut self, most: usize, tags: impl Iterator<Item = String>) {
        let mut added = 0;
        for tag in tags {
            if added < most && self.0.len() < *CARD_TAGS.end() && self.put(&tag) {
                added += 1;
            }
        }
    }

    fn put(&mut self, tag: &str) -> bool {
        let tag = one_line(tag);
        let is_known = self.0.iter().any(|known| known.eq_ignore_ascii_case(&tag));
        let fits = !tag.is_empty() && tag.chars().count() <= CARD_TAG_CHARS && !tag.contains(['<', '>', '{', '}']);
        if fits && !is_known {
            self.0.push(tag);
            return true;
        }
        false
    }

    /// What is known of every session, until there are enough.
    fn fill(&mut self, source: &CardSource<'_>) {
        let session = source.session;
        let project = session.project.as_deref().map(file_name).unwrap_or_default();
        let branch = session.branch.as_deref().unwrap_or_default();
        for tag in [project, session.agent.as_str(), branch, "session", "conversation", "transcript"] {
            if self.0.len() < *CARD_TAGS.start() {
                self.put(tag);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_found_and_never_made_up() {
        let check = |text: &str, expect: &[&str]| assert_eq!(tickets(text), expect, "{text}");
        check("fix ABC-123, and UTF-8 (see #42).", &["ticket:ABC-123", "issue:#42"]);
        check("https://github.com/entireio/skills/issues/3", &["issue:entireio/skills#3"]);
        check("step-1 A-1 abc-12 2026-07", &[]);
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(PROGRAMS.is_sorted());
    }
}
