//! Derives tags from tickets, files, packages, languages, programs and topics that occur in a session.

use rethread_model::one_line;

use super::actions::{OrderedCounts, SessionActions, file_name};
use super::prose::prose_lines;
use super::result_name::is_result_verb;
use super::words::distinctive_words;
use super::{CARD_TAG_CHARS, CARD_TAG_COUNT, CardSource};
use crate::cues::word_weight;

/// Maximum number of tags per kind.
const MAX_PER_KIND: usize = 3;
const MAX_TOPICS: usize = 4;
/// Number of answers in which topics are counted, newest first.
const MAX_ANSWERS_READ: usize = 40;
/// Prefixes that look like ticket keys (`UTF-8`) but are not.
const NOT_TICKETS: [&str; 16] =
    ["UTF", "SHA", "ISO", "RFC", "AES", "MD", "GPT", "HTTP", "TLS", "CVE", "ES", "BASE", "UTC", "WP", "STEP", "PHASE"];
/// Programs worth a tag. Sorted.
const TAGGED_PROGRAMS: [&str; 38] = [
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
/// Words of requests that are about anything, and so about nothing. Sorted.
#[rustfmt::skip]
const FILLER_WORDS: [&str; 305] = [
    "across", "again", "against", "agent", "agents", "already", "always", "another", "answer", "anyone", "apply",
    "approach", "approved", "aren", "based", "basically", "because", "better", "between", "both", "bring", "broken",
    "build", "call", "case", "change", "changed", "check", "choose", "clarifying", "clean", "clear", "code",
    "combined", "come", "commit", "commits", "compare", "complete", "complex", "configure", "consider", "contain",
    "content", "control", "convert", "correct", "could", "couldn", "create", "created", "critical", "current",
    "currently", "data", "debug", "decide", "delete", "demonstrate", "describe", "design", "details", "didn",
    "different", "discuss", "document", "doesn", "done", "each", "enable", "enough", "ensure", "entering", "error",
    "errors", "ever", "every", "everything", "exact", "exactly", "example", "execute", "existing", "exits", "explain",
    "extend", "feature", "features", "feel", "figure", "file", "files", "final", "fine", "finish", "first", "fixed",
    "folder", "found", "four", "full", "general", "generate", "getting", "goal", "going", "gonna", "great", "handle",
    "happen", "happens", "have", "haven", "having", "heres", "hopefully", "idea", "identified", "implement",
    "implemented", "improve", "include", "including", "individual", "information", "install", "instead",
    "instruction", "instructions", "investigate", "isn", "issue", "issues", "just", "kind", "later", "latest",
    "leave", "level", "line", "lines", "list", "little", "look", "looking", "made", "main", "make", "manually",
    "maybe", "mean", "medium", "mention", "message", "messages", "missing", "mode", "more", "move", "much",
    "multiple", "name", "nearby", "needed", "never", "nice", "nothing", "notice", "number", "numbers", "occurrences",
    "often", "okay", "only", "open", "option", "options", "other", "output", "owns", "part", "parts", "path",
    "people", "pick", "place", "plan", "please", "point", "possible", "probably", "problem", "proceed", "process",
    "project", "prompt", "proper", "properly", "provide", "pull", "push", "question", "quick", "quite", "rather",
    "read", "ready", "really", "recheck", "record", "reflect", "related", "relevant", "remaining", "remove", "rename",
    "repeat", "replace", "repo", "report", "request", "research", "response", "result", "results", "retry", "return",
    "review", "rewrite", "running", "same", "second", "seem", "seems", "self", "separate", "session", "several",
    "should", "shouldn", "show", "simple", "simplify", "some", "somehow", "someone", "something", "somthing", "spawn",
    "specific", "start", "started", "state", "step", "steps", "still", "stuff", "sub", "summarize", "support", "talk",
    "talking", "task", "tested", "text", "thing", "think", "third", "though", "thought", "time", "times", "today",
    "tomorrow", "trying", "understand", "update", "updated", "usage", "user", "using", "usually", "various",
    "version", "wait", "want", "wasn", "what", "when", "where", "which", "while", "within", "without", "wondering",
    "word", "words", "working", "would", "wouldn", "write", "written", "wrong", "yes", "yesterday",
];
/// Languages by file extension.
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
pub(super) fn tags(source: &CardSource<'_>, session_actions: &SessionActions) -> Vec<String> {
    let prompts: Vec<String> = source
        .prompts()
        .map(|entry| prose_lines(&entry.text).into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n"))
        .collect();
    let mut tags = TagList::default();
    tags.add(MAX_PER_KIND, prompts.iter().flat_map(|text| tickets(text)));
    tags.add(MAX_PER_KIND, session_actions.changed_paths.iter().map(|path| file_name(path).to_owned()));
    tags.add(MAX_PER_KIND - 1, session_actions.packages.iter().map(|name| format!("package:{name}")));
    tags.add(MAX_PER_KIND - 1, languages(session_actions).into_iter());
    let programs =
        session_actions.programs.iter().filter(|program| TAGGED_PROGRAMS.binary_search(&program.as_str()).is_ok());
    tags.add(MAX_PER_KIND - 1, programs.cloned());
    tags.add(MAX_TOPICS, topics(source, &prompts).into_iter());
    if tags.0.len() < *CARD_TAG_COUNT.start() {
        let name = source.session.name.as_deref().unwrap_or_default();
        tags.add(MAX_TOPICS, topic_words(name, name).into_iter());
    }
    tags.add_generic(source);
    tags.0
}

/// Words of the name and the prompts that the session is about, most frequent first: those that occur in several
/// prompts, or in a prompt and an answer. A word that only one side uses once is a typo or an aside.
fn topics(source: &CardSource<'_>, prompts: &[String]) -> Vec<String> {
    let name = source.session.name.as_deref().unwrap_or_default();
    let mut tally = OrderedCounts::default();
    let mut asked: Vec<String> = Vec::new();
    for word in prompts.iter().flat_map(|text| topic_words(text, name)) {
        tally.add(&word);
        asked.push(word);
    }
    for answer in source.answers().rev().take(MAX_ANSWERS_READ) {
        let words = topic_words(&answer.text, name);
        words.iter().filter(|word| asked.contains(word)).for_each(|word| tally.add(word));
    }
    tally.keep_at_least(2);
    let frequent = tally.most_first();
    let (named, others): (Vec<String>, Vec<String>) = frequent.into_iter().partition(|word| has_word(name, word));
    named.into_iter().chain(others).collect()
}

/// The topic words of a text, each once, so that one long pasted text does not outweigh the others.
fn topic_words(text: &str, name: &str) -> Vec<String> {
    let plain = text.split_whitespace().filter(|word| !word.contains(['/', '@', '\\', '=']));
    let mut words: Vec<String> = Vec::new();
    for word in distinctive_words(&plain.collect::<Vec<_>>().join(" ")).filter(|word| is_topic(word, name)) {
        if !words.contains(&word) {
            words.push(word);
        }
    }
    words
}

fn has_word(name: &str, word: &str) -> bool {
    distinctive_words(name).any(|known| known == word)
}

fn is_topic(word: &str, name: &str) -> bool {
    let singular = word.strip_suffix('s').unwrap_or(word);
    let is_filler = [word, singular].iter().any(|form| FILLER_WORDS.binary_search(form).is_ok());
    (4..=30).contains(&word.chars().count())
        && word_weight(word) >= 1.0
        && !is_filler
        && !is_result_verb(word)
        && !word.ends_with("ly")
        // A name that is one handle is not a topic of its own.
        && !word.eq_ignore_ascii_case(name)
}

fn languages(session_actions: &SessionActions) -> Vec<String> {
    let mut tally = OrderedCounts::default();
    for path in &session_actions.changed_paths {
        let end = path.rsplit_once('.').map_or("", |(_, end)| end);
        if let Some((_, language)) = LANGUAGES.iter().find(|(known, _)| *known == end) {
            tally.add(language);
        }
    }
    tally.most_first()
}

/// Tickets (`ABC-123`), and issues by URL or as `#12`.
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
            && !NOT_TICKETS.contains(&key)
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
struct TagList(Vec<String>);

impl TagList {
    /// Adds at most `limit` of the given tags.
    fn add(&mut self, limit: usize, tags: impl Iterator<Item = String>) {
        let mut added = 0;
        for tag in tags {
            if added < limit && self.0.len() < *CARD_TAG_COUNT.end() && self.try_push(&tag) {
                added += 1;
            }
        }
    }

    fn try_push(&mut self, tag: &str) -> bool {
        let tag = one_line(tag);
        let singular = |word: &str| word.to_lowercase().trim_end_matches('s').to_owned();
        let is_known = self.0.iter().any(|known| singular(known) == singular(&tag));
        let fits = !tag.is_empty() && tag.chars().count() <= CARD_TAG_CHARS && !tag.contains(['<', '>', '{', '}']);
        if fits && !is_known {
            self.0.push(tag);
            return true;
        }
        false
    }

    /// Adds what is known of any session until the minimum number is reached.
    fn add_generic(&mut self, source: &CardSource<'_>) {
        let session = source.session;
        let project = session.project.as_deref().map(file_name).unwrap_or_default();
        let branch = session.branch.as_deref().unwrap_or_default();
        let model = session.model.as_deref().unwrap_or_default();
        let month = session.started_at.or(session.last_activity_at).map(|at| at.to_string()).unwrap_or_default();
        let month = month.get(..7).unwrap_or("undated");
        let branch = if matches!(branch, "main" | "master" | "HEAD") { "" } else { branch };
        for tag in [project, branch, session.agent.as_str(), model, month, "no-project", "no-branch"] {
            if self.0.len() < *CARD_TAG_COUNT.start() {
                self.try_push(tag);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tickets_are_found_but_never_invented() {
        let check = |text: &str, expect: &[&str]| assert_eq!(tickets(text), expect, "{text}");
        check("fix ABC-123, and UTF-8 (see #42).", &["ticket:ABC-123", "issue:#42"]);
        check("https://github.com/entireio/skills/issues/3", &["issue:entireio/skills#3"]);
        check("step-1 A-1 abc-12 2026-07", &[]);
    }

    #[test]
    fn words_of_any_request_are_not_topics() {
        // D16
        for filler in ["update", "files", "create", "really", "commits", "session"] {
            assert!(!is_topic(filler, "Fix the parser"), "{filler}");
        }
        assert!(is_topic("parser", "Fix the parser") && !is_topic("parser-fix", "parser-fix"));
    }

    #[test]
    fn the_tables_are_sorted() {
        assert!(TAGGED_PROGRAMS.is_sorted() && FILLER_WORDS.is_sorted());
    }
}
