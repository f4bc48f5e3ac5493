//! Decides what must not be read: by path, by glob, or by a marker file in the working directory.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};

use super::address::split_address;

/// A directory that contains this file is skipped; if the file lists globs, only matching subdirectories are.
pub const MARKER_FILE: &str = ".rethread-ignore";
/// A project's own settings file; `intake.enabled = false` skips the project.
pub const PROJECT_CONFIG: &str = ".rethread.toml";

/// An exclude pattern that cannot be used. It is refused, because a pattern that matches nothing hides nothing.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid exclude pattern {pattern:?}: {reason}")]
pub struct InvalidPattern {
    /// The pattern as configured.
    pub pattern: String,
    /// What is wrong with it.
    pub reason: String,
}

const GLOB_CHARACTERS: [char; 3] = ['*', '?', '['];

/// Decides what must not be read. Caches the result per directory.
#[derive(Debug)]
pub struct ExcludeRules {
    folders: Vec<PathBuf>,
    globs: GlobSet,
    marker_cache: HashMap<PathBuf, bool>,
}

impl ExcludeRules {
    /// Builds the rules: a path excludes itself and everything below; anything with `*`, `?` or `[` is a glob. A
    /// relative path is looked for below the home directory and below every directory with transcripts; a single name
    /// matches at any depth.
    pub fn new(patterns: &[String], home: &Path, roots: &[PathBuf]) -> Result<Self, InvalidPattern> {
        let (mut folders, mut globs) = (Vec::new(), GlobSetBuilder::new());
        for pattern in patterns {
            let invalid = |reason: &str| InvalidPattern { pattern: pattern.clone(), reason: reason.to_owned() };
            for (base, below) in resolve(pattern, home, roots).map_err(invalid)? {
                if below.contains(GLOB_CHARACTERS) {
                    let glob =
                        Glob::new(&below_base(&base, &below)).map_err(|error| invalid(&error.kind().to_string()))?;
                    globs.add(glob);
                } else {
                    folders.push(base.join(below));
                }
            }
        }
        let invalid =
            |error: globset::Error| InvalidPattern { pattern: patterns.join(", "), reason: error.to_string() };
        Ok(Self { folders, globs: globs.build().map_err(invalid)?, marker_cache: HashMap::new() })
    }

    /// Whether a transcript whose session works in `cwd` must not be read.
    pub fn is_excluded(&mut self, transcript: &Path, cwd: Option<&str>) -> bool {
        let database = split_address(transcript).map(|(database, _)| database);
        self.matches_path(transcript)
            || database.is_some_and(|database| self.matches_path(database))
            || cwd.map(Path::new).is_some_and(|cwd| self.matches_path(cwd) || self.is_marked(cwd))
    }

    fn matches_path(&self, path: &Path) -> bool {
        self.folders.iter().any(|folder| path.starts_with(folder))
            || path.ancestors().any(|part| self.globs.is_match(part))
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

/// Where a pattern applies: pairs of a directory and the pattern below it.
fn resolve(pattern: &str, home: &Path, roots: &[PathBuf]) -> Result<Vec<(PathBuf, String)>, &'static str> {
    let text = match pattern.trim().trim_end_matches('/') {
        "" if pattern.trim().starts_with('/') => return Ok(vec![(PathBuf::from("/"), String::new())]),
        "" => return Err("it is empty"),
        text => text,
    };
    if text.split('/').any(|part| part == "..") {
        return Err("it must not contain \"..\"");
    }
    let text = text.trim_start_matches("./");
    if let Some(below) = text.strip_prefix('/') {
        return Ok(vec![(PathBuf::from("/"), below.to_owned())]);
    }
    if let Some(rest) = text.strip_prefix('~') {
        return match rest.strip_prefix('/') {
            Some(below) => Ok(vec![(home.to_owned(), below.to_owned())]),
            None if rest.is_empty() => Ok(vec![(home.to_owned(), String::new())]),
            None => Err("only \"~/\" stands for a home directory"),
        };
    }
    if text.starts_with("**/") {
        return Ok(vec![(PathBuf::from("/"), text.to_owned())]);
    }
    if !text.contains('/') {
        return Ok(vec![(PathBuf::from("/"), format!("**/{text}"))]);
    }
    let bases = std::iter::once(home).chain(roots.iter().map(PathBuf::as_path));
    Ok(bases.map(|base| (base.to_owned(), text.to_owned())).collect())
}

/// The glob for a pattern below a directory, whose own name is taken literally.
fn below_base(base: &Path, pattern: &str) -> String {
    format!("{}/{pattern}", globset::escape(base.to_string_lossy().trim_end_matches('/')))
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
        let pattern = pattern.trim_start_matches("./").trim_matches('/');
        // A pattern that cannot be read may be meant for anything here.
        let Ok(glob) = Glob::new(pattern) else { return true };
        let glob = glob.compile_matcher();
        below.ancestors().any(|part| glob.is_match(part))
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
        let mut rules = ExcludeRules::new(&patterns, Path::new("/h"), &["/t".into()]).unwrap();
        rules.is_excluded(Path::new("/t/-h-app/x.jsonl"), Some(cwd))
    }

    #[test]
    fn paths_match_whole_directories_and_globs_match() {
        // E003-03
        assert!(covers(&["/a/x"], "/a/x/sub"));
        assert!(!covers(&["/a/x"], "/a/x-2"));
        assert!(covers(&["~/secret"], "/h/secret/deep"));
        assert!(covers(&["**/private-*"], "/a/private-notes"));
        assert!(covers(&["/t/*.jsonl"], "/anywhere"));
        assert!(covers(&["/a/*/x"], "/a/b/x/deep"), "a directory with everything below it");
    }

    #[test]
    fn relative_patterns_apply_below_home_and_the_transcripts() {
        // D8, E003-03
        assert!(covers(&["work/secret"], "/h/work/secret/deep"));
        assert!(covers(&["./work/secret/"], "/h/work/secret"));
        assert!(!covers(&["work/secret"], "/h/work/secret-2"));
        assert!(!covers(&["work/secret"], "/a/work/secret"));
        assert!(covers(&["work/*/notes"], "/h/work/a/notes/x"));
        assert!(covers(&["-h-app/x.jsonl"], "/anywhere"), "below the directory with transcripts");
        assert!(covers(&["secret"], "/a/b/secret/c"), "a name at any depth");
        assert!(!covers(&["secret"], "/a/b/secrets"));
        assert!(covers(&["*.secret"], "/a/b.secret"));
        assert!(covers(&["~"], "/h/x"));
    }

    #[test]
    fn pattern_that_cannot_match_is_refused() {
        // D8
        for (pattern, reason) in [
            ("", "it is empty"),
            ("../x", "it must not contain \"..\""),
            ("~other/x", "only \"~/\" stands for a home directory"),
            ("[", "unclosed character class; missing ']'"),
        ] {
            let refused = ExcludeRules::new(&[pattern.to_owned()], Path::new("/h"), &[]).unwrap_err();
            assert_eq!((refused.pattern.as_str(), refused.reason.as_str()), (pattern, reason));
        }
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
