//! What must not be read: by path, by glob, by a marker file in the working directory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};

/// A directory with this file in it, or with a matching line in it, is left alone.
pub const MARKER: &str = ".rethread-ignore";
/// A project's own settings; `intake.enabled = false` leaves the project alone.
pub const PROJECT_CONFIG: &str = ".rethread.toml";

/// A pattern that cannot be understood.
#[derive(Debug, thiserror::Error)]
#[error("bad exclude pattern {pattern:?}")]
pub struct BadPattern {
    /// The pattern.
    pub pattern: String,
    /// Why.
    #[source]
    pub cause: globset::Error,
}

/// Decides what must not be read. Remembers what it found in directories.
#[derive(Debug)]
pub struct Excludes {
    folders: Vec<PathBuf>,
    globs: GlobSet,
    marked: HashMap<PathBuf, bool>,
}

impl Excludes {
    /// From patterns: a path excludes itself and everything below; anything with `*`, `?` or `[` is a glob.
    pub fn new(patterns: &[String], home: &Path) -> Result<Self, BadPattern> {
        let (mut folders, mut globs) = (Vec::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let expanded = pattern.strip_prefix("~/").map_or_else(|| PathBuf::from(pattern), |rest| home.join(rest));
            if pattern.contains(['*', '?', '[']) {
                let bad = |cause| BadPattern { pattern: pattern.clone(), cause };
                globs.add(Glob::new(&expanded.to_string_lossy()).map_err(bad)?);
            } else {
                folders.push(expanded);
            }
        }
        let globs = globs.build().map_err(|cause| BadPattern { pattern: patterns.join(", "), cause })?;
        Ok(Self { folders, globs, marked: HashMap::new() })
    }

    /// Whether a transcript, working in `cwd`, must not be read.
    pub fn covers(&mut self, transcript: &Path, cwd: Option<&str>) -> bool {
        self.names(transcript) || cwd.map(Path::new).is_some_and(|cwd| self.names(cwd) || self.is_marked(cwd))
    }

    fn names(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder)) || self.globs.is_match(path)
    }

    fn is_marked(&mut self, cwd: &Path) -> bool {
        if let Some(known) = self.marked.get(cwd) {
            return *known;
        }
        let found = cwd.ancestors().any(|folder| marker_covers(folder, cwd) || switched_off(folder));
        self.marked.insert(cwd.to_owned(), found);
        found
    }
}

/// An empty marker covers its whole directory; lines in it are globs below the directory.
fn marker_covers(folder: &Path, cwd: &Path) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(MARKER)) else { return false };
    let mut patterns = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')).peekable();
    if patterns.peek().is_none() {
        return true;
    }
    let below = cwd.strip_prefix(folder).unwrap_or(cwd);
    patterns.any(|pattern| {
        let pattern = pattern.trim_matches('/');
        below.ancestors().any(|part| Glob::new(pattern).is_ok_and(|glob| glob.compile_matcher().is_match(part)))
    })
}

fn switched_off(folder: &Path) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(PROJECT_CONFIG)) else { return false };
    let read = text.parse::<toml::Table>().ok();
    let enabled = read.as_ref().and_then(|table| table.get("intake")?.get("enabled")?.as_bool());
    enabled == Some(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(patterns: &[&str], cwd: &str) -> bool {
        let patterns: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        Excludes::new(&patterns, Path::new("/h")).unwrap().covers(Path::new("/t/x.jsonl"), Some(cwd))
    }

    #[test]
    fn e003_03_paths_have_a_directory_border_and_globs_match() {
        assert!(covers(&["/a/x"], "/a/x/sub"));
        assert!(!covers(&["/a/x"], "/a/x-2"));
        assert!(covers(&["~/secret"], "/h/secret/deep"));
        assert!(covers(&["**/private-*"], "/a/private-notes"));
        assert!(covers(&["/t/*.jsonl"], "/anywhere"));
        assert!(Excludes::new(&["[".to_owned()], Path::new("/h")).is_err());
    }

    #[test]
    fn s003_03_a_marker_file_or_the_projects_config_switches_a_project_off() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path).display().to_string();
        for name in ["all/deep", "some/open", "some/closed", "off", "on"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("all/.rethread-ignore"), "").unwrap();
        fs::write(at("some/.rethread-ignore"), "# only this\nclosed\n").unwrap();
        fs::write(at("off/.rethread.toml"), "[intake]\nenabled = false\n").unwrap();
        assert!(covers(&[], &at("all/deep")));
        assert!(covers(&[], &at("some/closed")));
        assert!(!covers(&[], &at("some/open")));
        assert!(covers(&[], &at("off")));
        assert!(!covers(&[], &at("on")));
    }
}
