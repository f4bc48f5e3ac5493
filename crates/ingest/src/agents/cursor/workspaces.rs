//! Finds the directory that a session of Cursor worked in.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use serde::Deserialize;
use serde_json::Value;

use super::files::subfolders;
use crate::source::{open_database, path_in_uri, read_text};

/// More folders than a path has: a name that needs more steps is not one.
const MAX_DEPTH: usize = 40;
const MAX_BYTES: u64 = 1 << 20;

/// The directory whose path Cursor writes as this name: everything but letters and digits is a hyphen. Several
/// directories may have the same name, so those that exist decide.
pub(super) fn directory_of_slug(slug: &str) -> Option<String> {
    let found = search(Path::new("/"), &normalized(slug), MAX_DEPTH)?;
    found.to_str().map(str::to_owned)
}

/// The directory below a folder whose rest of the path has this name.
fn search(folder: &Path, rest: &str, depth: usize) -> Option<PathBuf> {
    if rest.is_empty() {
        return Some(folder.to_owned());
    }
    let entries = fs::read_dir(folder).ok().filter(|_| depth > 0)?.filter_map(Result::ok);
    let matching = entries.filter_map(|entry| {
        let rest = rest.strip_prefix(&normalized(entry.file_name().to_str()?))?;
        let after = rest.strip_prefix('-').or_else(|| rest.is_empty().then_some(rest))?;
        Some((entry.path(), after.to_owned()))
    });
    let mut matching: Vec<_> = matching.filter(|(path, _)| path.is_dir()).collect();
    // The longest name first: `my-app` before `my`.
    matching.sort_by_key(|(path, rest)| (rest.len(), path.clone()));
    matching.iter().find_map(|(path, rest)| search(path, rest, depth - 1))
}

/// Letters and digits, and one hyphen for everything between them.
fn normalized(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-")
}

/// The directory of a workspace, from the file beside its database.
pub(super) fn directory_of_workspace(folder: &Path) -> Option<String> {
    #[derive(Default, Deserialize)]
    #[serde(default)]
    struct CursorWorkspaceFile {
        folder: Value,
        workspace: Value,
    }
    let text = read_text(&folder.join("workspace.json"), MAX_BYTES).ok()?;
    let file: CursorWorkspaceFile = serde_json::from_str(&text).ok()?;
    let of_several = || Path::new(&path_in_uri(file.workspace.as_str()?)?).parent()?.to_str().map(str::to_owned);
    file.folder.as_str().and_then(path_in_uri).or_else(of_several)
}

/// Sessions and their directories.
type Directories = HashMap<String, String>;
/// The folder of the workspaces, when it changed, and what was read from it.
type ReadWorkspaces = (PathBuf, Option<SystemTime>, Arc<Directories>);

/// Which sessions each workspace lists, as the editor did before it stored the directory with the session. Every session
/// without a directory asks for it, and there can be hundreds of workspaces: the last answer is kept.
static LAST_READ: Mutex<Option<ReadWorkspaces>> = Mutex::new(None);

/// The directory of a session, by the workspace that lists it.
pub(super) fn directory_in_workspaces(storage: &Path, session: &str) -> Option<String> {
    let modified = fs::metadata(storage).ok()?.modified().ok();
    let mut last = LAST_READ.lock().unwrap_or_else(PoisonError::into_inner);
    let directories = match &*last {
        Some((folder, at, directories)) if folder == storage && *at == modified => Arc::clone(directories),
        _ => {
            let directories = Arc::new(read_directories(storage));
            *last = Some((storage.to_owned(), modified, Arc::clone(&directories)));
            directories
        }
    };
    directories.get(session).cloned()
}

fn read_directories(storage: &Path) -> Directories {
    let mut found = Directories::new();
    for folder in subfolders(storage) {
        let Some(directory) = directory_of_workspace(&folder) else { continue };
        let query = "SELECT json_extract(c.value, '$.composerId')
            FROM ItemTable AS i, json_each(CAST(i.value AS TEXT), '$.allComposers') AS c
            WHERE i.key = 'composer.composerData' AND json_valid(CAST(i.value AS TEXT))";
        let ids = open_database(&folder.join("state.vscdb"), |database| {
            let mut statement = database.prepare(query)?;
            let ids = statement.query_map([], |row| row.get::<_, Option<String>>(0))?;
            ids.collect::<Result<Vec<_>, _>>()
        });
        for id in ids.unwrap_or_default().into_iter().flatten() {
            found.entry(id).or_insert_with(|| directory.clone());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_of_a_project_leads_to_the_directory_that_exists() {
        let folder = std::env::temp_dir().join(format!("rethread-cursor-{}", std::process::id()));
        for name in ["my-app/web.v2", "my/app", "my.app2"] {
            fs::create_dir_all(folder.join(name)).unwrap();
        }
        let base = normalized(folder.to_str().unwrap());
        let found = |name: &str| directory_of_slug(&format!("{base}-{name}"));
        let path = |name: &str| Some(folder.join(name).to_str().unwrap().to_owned());
        assert_eq!(found("my-app-web-v2"), path("my-app/web.v2"));
        assert_eq!(found("my-app2"), path("my.app2"));
        assert_eq!(found("gone"), None);
        fs::remove_dir_all(&folder).unwrap();
    }
}
