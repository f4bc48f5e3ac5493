//! Decides what must not be read: by path, by glob, or by a marker file in the working directory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};

/// A directory that contains this file is skipped; if the file lists globs, only matching subdirectories are.
pub const MARKER_FILE: &str = ".rethread-ignore";
/// A project's own settings file; `intake.enabled = false` skips the project.
pub const PROJECT_CONFIG: &str = ".rethread.toml";

/// An exclude pattern that is not a valid glob.
#[derive(Debug, thiserror::Error)]
#[error("invalid exclude pattern {pattern:?}")]
pub struct InvalidPattern {
    /// The pattern as configured.
    pub pattern: String,
    /// The error of the glob parser.
    #[source]
    pub cause: globset::Error,
}

/// Decides what must not be read. Caches the result per directory.
#[derive(Debug)]
pub struct ExcludeRules {
    folders: Vec<PathBuf>,
    globs: GlobSet,
    marker_cache: HashMap<PathBuf, bool>,
}

impl ExcludeRules {
    /// Builds the rules: a path excludes itself and everything below; anything with `*`, `?` or `[` is a glob.
    pub fn new(patterns: &[String], home: &Path) -> Result<Self, InvalidPattern> {
        let (mut folders, mut globs) = (Vec::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let expanded = pattern.strip_prefix("~/").map_or_else(|| PathBuf::from(pattern), |rest| home.join(rest));
            if pattern.contains(['*', '?', '[']) {
                let bad = |cause| InvalidPattern { pattern: pattern.clone(), cause };
                globs.add(Glob::new(&expanded.to_string_lossy()).map_err(bad)?);
            } else {
                folders.push(expanded);
            }
        }
        let globs = globs.build().map_err(|cause| InvalidPattern { pattern: patterns.join(", "), cause })?;
        Ok(Self { folders, globs, marker_cache: HashMap::new() })
    }

    /// Whether a transcript whose session works in `cwd` must not be read.
    pub fn is_excluded(&mut self, transcript: &Path, cwd: Option<&str>) -> bool {
        self.matches_path(transcript)
            || cwd.map(Path::new).is_some_and(|cwd| self.matches_path(cwd) || self.is_marked(cwd))
    }

    fn matches_path(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder)) || self.globs.is_match(path)
    }

    fn is_marked(&mut self, cwd: &Path) -> bool {
        if let Some(known) = self.marker_cache.get(cwd) {
            return *known;
        }
        let found = cwd.ancestors().any(|folder| marker_excludes(folder, cwd) || is_disabled_by_config(folder));
        self.marker_cache.insert(cwd.to_owned(), found);
        found
    }
}

/// An empty marker excludes its whole directory; lines in it are globs relative to the directory.
fn marker_excludes(folder: &Path, cwd: &Path) -> bool {
    let Ok(text) = fs::read_to_string(folder.join(MARKER_FILE)) else { return false };
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

fn is_disabled_by_config(folder: &Path) -> bool {
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
        ExcludeRules::new(&patterns, Path::new("/h")).unwrap().is_excluded(Path::new("/t/x.jsonl"), Some(cwd))
    }

    #[test]
    fn paths_match_whole_directories_and_globs_match() {
        // E003-03
        assert!(covers(&["/a/x"], "/a/x/sub"));
        assert!(!covers(&["/a/x"], "/a/x-2"));
        assert!(covers(&["~/secret"], "/h/secret/deep"));
        assert!(covers(&["**/private-*"], "/a/private-notes"));
        assert!(covers(&["/t/*.jsonl"], "/anywhere"));
        assert!(ExcludeRules::new(&["[".to_owned()], Path::new("/h")).is_err());
    }

    #[test]
    fn marker_file_or_project_config_disables_a_project() {
        // S003-03
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
