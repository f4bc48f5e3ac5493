//! Short names of projects: as many of the last parts of a path as make it different from the others.

use super::sanitize_line;

/// A name for each path, in the order of the paths. Equal paths get equal names.
pub(crate) fn project_names(paths: &[&str]) -> Vec<String> {
    let is_unique = |path: &str, count: usize| {
        let name = last_parts(path, count);
        paths.iter().all(|other| *other == path || last_parts(other, count) != name)
    };
    let shortest = |path: &str| {
        let parts = path.trim_end_matches('/').split('/').count();
        (1..parts).find(|count| is_unique(path, *count)).unwrap_or(parts)
    };
    paths.iter().map(|path| sanitize_line(last_parts(path, shortest(path)))).collect()
}

/// The last parts of a path, without the slash before them.
fn last_parts(path: &str, count: usize) -> &str {
    let path = path.trim_end_matches('/');
    let at = path.rmatch_indices('/').nth(count.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
    if path.is_empty() { "/" } else { &path[at..] }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D52
    #[test]
    fn projects_of_the_same_name_differ_by_their_folders() {
        let paths = ["/home/dev/work/app", "/home/dev/play/app", "/home/dev/site", "/home/dev/work/app", "/"];
        assert_eq!(project_names(&paths), ["work/app", "play/app", "site", "work/app", "/"]);
        assert_eq!(project_names(&["/app", "/x/app"]), ["/app", "x/app"]);
        assert_eq!(project_names(&["/a/x/app", "/b/x/app/"]), ["a/x/app", "b/x/app"]);
    }
}
