//! A home directory of its own, and the real binary in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use assert_cmd::cargo::cargo_bin;

/// The moment it always is.
pub(crate) const NOW: &str = "2026-02-20T12:00:00Z";

/// A home, a directory to work in, and nothing else.
pub(crate) struct World {
    folder: PathBuf,
    _keep: tempfile::TempDir,
}

impl World {
    /// A home without agents.
    pub(crate) fn new() -> Self {
        let keep = tempfile::tempdir().unwrap();
        let folder = keep.path().canonicalize().unwrap();
        fs::create_dir_all(folder.join("home")).unwrap();
        fs::create_dir_all(folder.join("desk")).unwrap();
        Self { folder, _keep: keep }
    }

    /// A path below the home directory.
    pub(crate) fn home(&self, path: &str) -> PathBuf {
        self.folder.join("home").join(path)
    }

    /// The directory commands are run in.
    pub(crate) fn desk(&self) -> PathBuf {
        self.folder.join("desk")
    }

    /// Writes a file below the home directory.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.home(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The binary with nothing from this machine's environment.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo_bin("rethread"));
        command.args(arguments).current_dir(self.desk()).env_clear();
        command.env("HOME", self.folder.join("home")).env("RETHREAD_NOW", NOW).env("TZ", "UTC");
        command
    }

    /// Runs the binary.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the binary and tells everything about it, without what differs from run to run.
    pub(crate) fn tell(&self, arguments: &[&str]) -> String {
        self.told(&self.run(arguments))
    }

    /// Exit code and both streams, without what differs from run to run.
    pub(crate) fn told(&self, output: &Output) -> String {
        let code = output.status.code().map_or("none".to_owned(), |code| code.to_string());
        let stream = |bytes: &[u8]| self.steady(&String::from_utf8_lossy(bytes));
        format!("exit {code}\n--- stdout\n{}--- stderr\n{}", stream(&output.stdout), stream(&output.stderr))
    }

    fn steady(&self, text: &str) -> String {
        let binary = cargo_bin("rethread");
        let binary = binary.canonicalize().unwrap_or(binary);
        let text = text.replace(&binary.display().to_string(), "[BINARY]");
        let text = text.replace(&self.folder.display().to_string(), "[FOLDER]");
        let lines = text.lines().map(|line| without_seconds(&without_sizes(line)));
        lines.map(|line| line + "\n").collect()
    }

    /// Whether anything of ours was made.
    pub(crate) fn has_our_folder(&self) -> bool {
        self.home(".rethread").exists()
    }
}

/// `0.3 s` or `4 ms` at the end of a line and `"seconds":0.3` in JSON.
fn without_seconds(line: &str) -> String {
    if let Some((before, _)) = line.rsplit_once(" · ").filter(|(_, last)| last.ends_with(" s") || last.ends_with(" ms"))
    {
        return format!("{before} · [SECONDS]");
    }
    cut(line, "\"seconds\":", "[SECONDS]")
}

/// How large SQLite and tantivy make their files is none of our business.
fn without_sizes(line: &str) -> String {
    for label in ["store        ", "index        "] {
        if let Some((_, rest)) = line.strip_prefix(label).and_then(|rest| rest.split_once(',')) {
            return format!("{label}[SIZE],{rest}");
        }
    }
    cut(&cut(line, "\"databaseBytes\":", "[SIZE]"), "\"indexBytes\":", "[SIZE]")
}

/// The line with the number after `label` replaced.
fn cut(line: &str, label: &str, with: &str) -> String {
    let Some((before, after)) = line.split_once(label) else { return line.to_owned() };
    let rest = after.trim_start_matches(|c: char| c.is_ascii_digit() || ".e-".contains(c));
    format!("{before}{label}{with}{rest}")
}

/// All files below a folder.
pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.path().is_dir() {
            files.extend(files_below(&entry.path()));
        } else {
            files.push(entry.path());
        }
    }
    files
}
