//! What a synthetic agent does with its tools, before any format is chosen for it.

use std::fmt::Write as _;

use crate::author::Author;
use crate::ids;
use crate::workspace::{Change, SourceFile, Workspace};

/// One tool call with what came back.
#[derive(Debug)]
pub enum Action {
    /// A file was read.
    Read(SourceFile),
    /// Part of a file was replaced.
    Edit(Change),
    /// A file was created.
    Write(SourceFile),
    /// A command ran.
    Run(Command),
    /// A search through files.
    Search(Search),
    /// A picture was read: the source of the longest lines.
    Picture {
        /// Where it is.
        path: String,
        /// The bytes, in base64.
        data: String,
    },
    /// A page was fetched.
    Fetch {
        /// Its address.
        url: String,
        /// What was wanted of it.
        prompt: String,
        /// What came of it.
        result: String,
    },
    /// A to-do list was written.
    Plan(Vec<String>),
    /// A sub-agent did something.
    Delegate {
        /// What it was told.
        prompt: String,
        /// What it answered.
        report: String,
    },
}

/// A command and its outcome.
#[derive(Debug)]
pub struct Command {
    /// The line as typed.
    pub line: String,
    /// Standard output and error together.
    pub output: String,
    /// 0 when it went well.
    pub exit: u64,
}

/// A search and its hits.
#[derive(Debug)]
pub struct Search {
    /// What was looked for.
    pub pattern: String,
    /// Matching lines, one per line, with path and number.
    pub matches: String,
    /// Paths of the files that matched.
    pub files: Vec<String>,
}

impl Action {
    /// Draws an action whose texts take about `room` bytes at most.
    pub fn draw(author: &mut Author, workspace: &mut Workspace, room: usize) -> Self {
        match author.random.below(100) {
            0..30 => Self::Read(workspace.file(author, room).clone()),
            30..48 => Self::Edit(workspace.change(author, room)),
            48..53 => Self::Write(workspace.create(author, room).clone()),
            53..83 => Self::Run(Command::draw(author, room)),
            83..94 => Self::Search(Search::draw(author, room)),
            94..97 => Self::Plan((0..author.random.between(2, 9)).map(|_| author.title()).collect()),
            97..99 => Self::fetch(author, room),
            _ => Self::delegate(author, room),
        }
    }

    /// A picture of `bytes` bytes in base64.
    pub fn picture(author: &mut Author, workspace: &Workspace, bytes: usize) -> Self {
        let path = workspace.path(author) + ".png";
        Self::Picture { path, data: ids::base64(&mut author.random, bytes) }
    }

    /// A sub-agent's work.
    pub fn delegate(author: &mut Author, room: usize) -> Self {
        let bytes = size(author, 2_500, room);
        let prompt = author.prose(600.min(room));
        Self::Delegate { prompt, report: author.prose(bytes) }
    }

    fn fetch(author: &mut Author, room: usize) -> Self {
        let url = format!("https://{}.example/{}", author.name(), author.name());
        let bytes = size(author, 4_000, room);
        Self::Fetch { url, prompt: author.prose(80), result: author.prose(bytes) }
    }
}

impl Command {
    fn draw(author: &mut Author, room: usize) -> Self {
        let line = Self::line(author);
        let bytes = size(author, 1_800, room);
        let mut output = author.output(bytes);
        let exit = if author.random.chance(12) { author.random.between(1, 3) } else { 0 };
        if exit > 0 {
            let (kind, at) = (author.name(), author.random.below(900));
            let place = author.path();
            let what = author.title();
            let _ = writeln!(output, "error[E{at:04}]: {what} `{kind}`\n  --> {place}:{at}:9");
        }
        Self { line, output, exit }
    }

    fn line(author: &mut Author) -> String {
        let (one, path) = (author.name(), author.path());
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
            // Something for the redaction to find, in a shape it must know.
            _ => format!("GITHUB_TOKEN=ghp_{} gh pr list", ids::hex(&mut author.random, 36)),
        }
    }
}

impl Search {
    fn draw(author: &mut Author, room: usize) -> Self {
        let files = (0..author.random.between(1, 20)).map(|_| author.path()).collect();
        let bytes = size(author, 1_500, room);
        let pattern = author.identifier();
        Self { pattern, matches: author.output(bytes), files }
    }
}

/// A size around `median`, no more than `room`.
fn size(author: &mut Author, median: usize, room: usize) -> usize {
    author.random.size(median, 1.1).min(room)
}
