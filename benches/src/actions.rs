//! Tool calls of a synthetic agent, independent of a transcript format.

use std::fmt::Write as _;

use crate::ids;
use crate::text_generator::TextGenerator;
use crate::workspace::{SyntheticEdit, SyntheticFile, SyntheticWorkspace};

/// One tool call with its result.
#[derive(Debug)]
pub enum SyntheticAction {
    /// A file was read.
    Read(SyntheticFile),
    /// Part of a file was replaced.
    Edit(SyntheticEdit),
    /// A file was created.
    Write(SyntheticFile),
    /// A command ran.
    Run(SyntheticCommand),
    /// Files were searched.
    Search(SyntheticSearch),
    /// An image was read. These give the longest lines of a transcript.
    Image {
        /// Path of the image.
        path: String,
        /// Image data in base64.
        data: String,
    },
    /// A web page was fetched.
    Fetch {
        /// URL of the page.
        url: String,
        /// Question about the page.
        prompt: String,
        /// Answer from the page.
        result: String,
    },
    /// A to-do list was written.
    Plan(Vec<String>),
    /// A subagent did a task.
    Delegate {
        /// Task for the subagent.
        prompt: String,
        /// Final answer of the subagent.
        report: String,
    },
}

/// A shell command and its result.
#[derive(Debug)]
pub struct SyntheticCommand {
    /// The command line.
    pub line: String,
    /// Standard output and error together.
    pub output: String,
    /// Exit code; 0 means success.
    pub exit: u64,
}

/// A file search and its matches.
#[derive(Debug)]
pub struct SyntheticSearch {
    /// Search pattern.
    pub pattern: String,
    /// Matching lines, one per line, with path and number.
    pub matches: String,
    /// Paths of the files that matched.
    pub files: Vec<String>,
}

impl SyntheticAction {
    /// A random action whose texts have about `max_bytes` bytes at most.
    pub fn random(author: &mut TextGenerator, workspace: &mut SyntheticWorkspace, max_bytes: usize) -> Self {
        match author.random.below(100) {
            0..30 => Self::Read(workspace.file(author, max_bytes).clone()),
            30..48 => Self::Edit(workspace.edit(author, max_bytes)),
            48..53 => Self::Write(workspace.create(author, max_bytes).clone()),
            53..83 => Self::Run(SyntheticCommand::random(author, max_bytes)),
            83..94 => Self::Search(SyntheticSearch::random(author, max_bytes)),
            94..97 => Self::Plan((0..author.random.between(2, 9)).map(|_| author.title()).collect()),
            97..99 => Self::fetch(author, max_bytes),
            _ => Self::delegate(author, max_bytes),
        }
    }

    /// An image with `bytes` bytes of base64.
    pub fn image(author: &mut TextGenerator, workspace: &SyntheticWorkspace, bytes: usize) -> Self {
        let path = workspace.path(author) + ".png";
        Self::Image { path, data: ids::base64(&mut author.random, bytes) }
    }

    /// A task for a subagent.
    pub fn delegate(author: &mut TextGenerator, max_bytes: usize) -> Self {
        let bytes = bounded_size(author, 2_500, max_bytes);
        let prompt = author.prose(600.min(max_bytes));
        Self::Delegate { prompt, report: author.prose(bytes) }
    }

    fn fetch(author: &mut TextGenerator, max_bytes: usize) -> Self {
        let url = format!("https://{}.example/{}", author.content_word(), author.content_word());
        let bytes = bounded_size(author, 4_000, max_bytes);
        Self::Fetch { url, prompt: author.prose(80), result: author.prose(bytes) }
    }
}

impl SyntheticCommand {
    fn random(author: &mut TextGenerator, max_bytes: usize) -> Self {
        let line = Self::line(author);
        let bytes = bounded_size(author, 1_800, max_bytes);
        let mut output = author.output(bytes);
        let exit = if author.random.chance(12) { author.random.between(1, 3) } else { 0 };
        if exit > 0 {
            let (kind, at) = (author.content_word(), author.random.below(900));
            let place = author.path();
            let what = author.title();
            let _ = writeln!(output, "error[E{at:04}]: {what} `{kind}`\n  --> {place}:{at}:9");
        }
        Self { line, output, exit }
    }

    fn line(author: &mut TextGenerator) -> String {
        let (one, path) = (author.content_word(), author.path());
        match author.random.below(500) {
            0..130 => format!("cargo test -p {one}"),
            130..200 => {
                format!("cargo build --release 2>&1 | tail -n {}", author.random.between(5, 90))
            }
            200..260 => format!("git diff --stat {path}"),
            260..300 => format!("git commit -am \"{}\"", author.title()),
            300..380 => format!("ls -la {path} && wc -l {path}"),
            380..440 => format!("npm run {one} -- --filter {path}"),
            440..499 => {
                format!("python3 scripts/{one}.py {path} --limit {}", author.random.below(500))
            }
            // A secret in a format that redaction must detect.
            _ => format!("GITHUB_TOKEN=ghp_{} gh pr list", ids::hex(&mut author.random, 36)),
        }
    }
}

impl SyntheticSearch {
    fn random(author: &mut TextGenerator, max_bytes: usize) -> Self {
        let files = (0..author.random.between(1, 20)).map(|_| author.path()).collect();
        let bytes = bounded_size(author, 1_500, max_bytes);
        let pattern = author.identifier();
        Self { pattern, matches: author.output(bytes), files }
    }
}

/// A random size around `median`, at most `max_bytes`.
fn bounded_size(author: &mut TextGenerator, median: usize, max_bytes: usize) -> usize {
    author.random.size(median, 1.1).min(max_bytes)
}
