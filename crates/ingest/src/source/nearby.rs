//! Lists the transcripts of one project without visiting those of others. Opens no files.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rethread_model::{Agent, Timestamp};

use super::file::{self, FileStamp};
use super::{SourceConfig, TranscriptFile, TranscriptRoot, discover, project, roots};
use crate::agents::{Layout, RecentFolders, Storage, format_of};

/// An agent that cuts longer folder names cuts them here and appends a hash.
pub(crate) const MAX_FOLDER_NAME: usize = 200;
/// A slow file system is listed no longer than this, because an agent waits.
const MAX_TIME: Duration = Duration::from_millis(300);
/// Depth of the folders below a session's own folder.
const MAX_DEPTH: usize = 4;
/// Larger files are not listed if that means reading all of them.
const MAX_SLOW_BYTES: u64 = 32 << 20;

/// Where the transcripts of a project may be.
#[derive(Clone, Debug, Default)]
pub struct ProjectPlaces {
    /// Directories that sessions of the project work in.
    work_dirs: Vec<PathBuf>,
    /// Whether sessions in subdirectories belong to the project too.
    has_subdirectories: bool,
    /// Folders that hold transcripts of the project, whatever their names.
    folders: Vec<PathBuf>,
}

impl ProjectPlaces {
    /// The root of a project and its worktrees.
    pub fn new(project: &Path) -> Self {
        let mut work_dirs = vec![project.to_owned()];
        work_dirs.extend(project::worktrees(project));
        // Outside a repository each directory is a project of its own.
        Self { work_dirs, has_subdirectories: project.join(".git").exists(), folders: Vec::new() }
    }

    /// Adds a directory that a session works in.
    pub fn add_work_dir(&mut self, path: &Path) {
        self.work_dirs.push(path.to_owned());
    }

    /// Adds a folder that holds transcripts.
    pub fn add_folder(&mut self, path: &Path) {
        self.folders.push(path.to_owned());
    }

    /// The transcripts of an agent that were modified since a time, in nanoseconds since 1970. Files with several
    /// sessions for which `is_settled` is true are not opened.
    pub fn transcripts(
        &self,
        agent: Agent,
        source_config: &SourceConfig,
        since: i64,
        is_settled: &dyn Fn(&Path, FileStamp) -> bool,
    ) -> Vec<TranscriptFile> {
        let mut all = Vec::new();
        let roots = roots(agent, source_config);
        for layout in format_of(agent).layouts {
            let roots = roots.iter().filter(|root| std::ptr::eq(root.layout, layout));
            if let Storage::Database(_) | Storage::Archive { .. } = layout.storage {
                let is_skipped = |path: &Path, stamp: FileStamp| {
                    let is_slow = layout.lists_slowly && stamp.size > MAX_SLOW_BYTES;
                    stamp.mtime < since || is_slow || is_settled(path, stamp)
                };
                let found = roots.flat_map(|root| discover(root, &is_skipped).0);
                all.extend(found.filter(|found| found.stamp.mtime >= since));
                continue;
            }
            let mut listing = FolderListing::new(agent, layout, since);
            for folder in &self.folders {
                listing.root.clone_from(folder);
                listing.visit(folder, MAX_DEPTH);
            }
            roots.for_each(|root| self.visit_root(&mut listing, root));
            all.extend(listing.found);
        }
        all
    }

    fn visit_root(&self, listing: &mut FolderListing, root: &TranscriptRoot) {
        listing.root.clone_from(&root.path);
        let Some(named) = root.layout.project_folders else {
            return match root.layout.recent_folders {
                RecentFolders::Days => listing.visit_days(&root.path),
                RecentFolders::Any | RecentFolders::Sessions => listing.visit(&root.path, MAX_DEPTH),
            };
        };
        let names: Vec<String> = self.work_dirs.iter().map(|path| (named.name)(&path.to_string_lossy())).collect();
        // Some layouts have all transcripts in one folder.
        let folders = listing.visit_files(&root.path);
        match named.parent.filter(|parent| folders.iter().any(|name| name == parent)) {
            Some(parent) => {
                let parent = root.path.join(parent);
                let below = listing.visit_files(&parent);
                self.visit_matching(listing, &parent, &below, &names);
            }
            None => self.visit_matching(listing, &root.path, &folders, &names),
        }
    }

    fn visit_matching(&self, listing: &mut FolderListing, parent: &Path, folders: &[OsString], names: &[String]) {
        for folder in folders {
            if folder.to_str().is_some_and(|folder| names.iter().any(|name| self.matches(folder, name))) {
                listing.visit(&parent.join(folder), MAX_DEPTH);
            }
        }
    }

    /// Whether a folder belongs to a directory, or may belong to one below it: the transcript itself decides.
    fn matches(&self, folder: &str, name: &str) -> bool {
        let stem = name.strip_suffix("--").unwrap_or(name);
        let may_be_longer = self.has_subdirectories || name.len() >= MAX_FOLDER_NAME;
        folder == name
            || may_be_longer && folder.strip_prefix(stem).is_some_and(|rest| rest.starts_with('-') && rest != "--")
    }
}

/// Collects the transcripts of some folders.
struct FolderListing {
    agent: Agent,
    layout: &'static Layout,
    /// What is being visited.
    root: PathBuf,
    since: i64,
    began: Instant,
    visited: HashSet<PathBuf>,
    found: Vec<TranscriptFile>,
}

impl FolderListing {
    fn new(agent: Agent, layout: &'static Layout, since: i64) -> Self {
        let (visited, found) = (HashSet::new(), Vec::new());
        Self { agent, layout, root: PathBuf::new(), since, began: Instant::now(), visited, found }
    }

    fn visit(&mut self, folder: &Path, depth: usize) {
        let known = self.found.len();
        let folders = self.visit_files(folder);
        for name in folders {
            // The folder of a session can only have news if the session itself has some.
            let is_quiet = |name: &OsString| {
                let transcript = folder.join(name).with_added_extension(self.layout.extension);
                transcript.exists() && !self.found[known..].iter().any(|found| found.path == transcript)
            };
            if depth > 0 && name != "tool-results" && name != "memory" && !is_quiet(&name) {
                let below = folder.join(name);
                // A session that began earlier and is still active is known by now.
                let is_recent = || file::modified_at(&below).is_some_and(|at| at >= self.since);
                if self.layout.recent_folders != RecentFolders::Sessions || is_recent() {
                    self.visit(&below, depth - 1);
                }
            }
        }
    }

    /// Visits the folders `<year>/<month>/<day>` from the day before the first one on: folders have local dates.
    fn visit_days(&mut self, root: &Path) {
        const DAY: i64 = 24 * 60 * 60 * 1_000_000_000;
        self.visit_files(root);
        let first = Timestamp::from_millis((self.since - DAY) / 1_000_000);
        for days in 0..=4 {
            let day = Timestamp::from_millis(first.as_millis() + days * DAY / 1_000_000).to_string();
            let Some(date) = day.get(..10) else { continue };
            self.visit(&root.join(date.replace('-', "/")), 1);
        }
    }

    /// Collects the transcripts in a folder and returns the names of its subfolders.
    fn visit_files(&mut self, folder: &Path) -> Vec<OsString> {
        if !self.visited.insert(folder.to_owned()) {
            return Vec::new();
        }
        let mut folders = Vec::new();
        for entry in fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok) {
            if self.began.elapsed() > MAX_TIME {
                break;
            }
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            if kind.is_dir() {
                folders.push(name);
            } else if kind.is_file()
                && self.layout.has_extension(Path::new(&name))
                && (self.layout.is_transcript)(entry.path().strip_prefix(&self.root).unwrap_or(Path::new(&name)))
                && let Ok(data) = entry.metadata()
            {
                let stamp = FileStamp::from_metadata(&data);
                if stamp.mtime >= self.since {
                    self.found.push(TranscriptFile { agent: self.agent, path: entry.path(), stamp });
                }
            }
        }
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(home: &Path, places: &ProjectPlaces, agent: Agent) -> Vec<String> {
        let source_config = SourceConfig { home: home.to_owned(), ..SourceConfig::default() };
        let found = places.transcripts(agent, &source_config, 0, &|_, _| false);
        let mut names: Vec<String> =
            found.iter().map(|one| one.path.strip_prefix(home).unwrap().display().to_string()).collect();
        names.sort();
        names
    }

    fn folder_name(agent: Agent, work_dir: &Path) -> String {
        (format_of(agent).layouts[0].project_folders.unwrap().name)(&work_dir.to_string_lossy())
    }

    fn touch(path: PathBuf) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "{}\n").unwrap();
    }

    #[test]
    fn only_the_folders_of_the_project_and_its_worktrees_are_listed() {
        // D22, S000-02
        let root = tempfile::tempdir().unwrap();
        let home = root.path();
        fs::create_dir_all(home.join("app/.git/worktrees/fix")).unwrap();
        let pointer = format!("{}\n", home.join("fix_1/.git").display());
        fs::write(home.join("app/.git/worktrees/fix/gitdir"), pointer).unwrap();
        let claude = |path: &str| folder_name(Agent::ClaudeCode, &home.join(path));
        let pi = |path: &str| folder_name(Agent::Pi, &home.join(path));
        let listed = [
            format!(".claude/projects/{}/a.jsonl", claude("app")),
            format!(".claude/projects/{}/a/subagents/agent-1.jsonl", claude("app")),
            format!(".claude/projects/{}/a.jsonl", claude("app/sub.dir")),
            format!(".claude/projects/{}/a.jsonl", claude("fix_1")),
            format!(".pi/agent/sessions/{}/a.jsonl", pi("app")),
            format!(".pi/agent/sessions/{}/a.jsonl", pi("app/sub")),
            ".pi/agent/flat.jsonl".to_owned(),
        ];
        let others = [
            format!(".claude/projects/{}/a.jsonl", claude("apple")),
            format!(".claude/projects/{}/a/notes.txt", claude("app")),
            format!(".pi/agent/sessions/{}/a.jsonl", pi("apple")),
            ".pi/agent/extensions/x.jsonl".to_owned(),
        ];
        for path in listed.iter().chain(&others) {
            touch(home.join(path));
        }
        let places = ProjectPlaces::new(&home.join("app"));
        let mut all = found(home, &places, Agent::ClaudeCode);
        all.extend(found(home, &places, Agent::Pi));
        let mut expected = listed.to_vec();
        expected.sort();
        assert_eq!(all, expected);
    }

    #[test]
    fn outside_a_repository_subdirectories_are_other_projects() {
        // D22
        let root = tempfile::tempdir().unwrap();
        let home = root.path();
        let folder = |path: &str| folder_name(Agent::ClaudeCode, &home.join(path));
        touch(home.join(format!(".claude/projects/{}/a.jsonl", folder("app"))));
        touch(home.join(format!(".claude/projects/{}/a.jsonl", folder("app/sub"))));
        touch(home.join("elsewhere/b.jsonl"));
        let mut places = ProjectPlaces::new(&home.join("app"));
        places.add_folder(&home.join("elsewhere"));
        let expected = [format!(".claude/projects/{}/a.jsonl", folder("app")), "elsewhere/b.jsonl".to_owned()];
        assert_eq!(found(home, &places, Agent::ClaudeCode), expected);
    }

    #[test]
    fn a_folder_name_that_was_cut_is_found_by_its_beginning() {
        // D22
        let root = tempfile::tempdir().unwrap();
        let home = root.path();
        let long = PathBuf::from("/").join("very-long-directory-name/".repeat(12));
        let name = folder_name(Agent::ClaudeCode, &long);
        touch(home.join(format!(".claude/projects/{name}-1x2y3z/a.jsonl")));
        assert_eq!(found(home, &ProjectPlaces::new(&long), Agent::ClaudeCode).len(), 1);
    }
}
