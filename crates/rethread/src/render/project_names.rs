//! Short names of projects: as many of the last parts of a path as make it different from the others.

use super::sanitize_line;

/// A name for each path, in the order of the paths. Equal paths get equal names.
pub(crate) fn project_names(paths: &[&str]) -> Vec<String> {
    let is_unique = |path: &str, count: usize| {
        let name = last_parts(path, count);
        paths.iter().all(|other| *other == path || last_parts(other, count) != name)
    };
    let shortest = |path: &str| {
        let separators = path_separators(path);
        let parts = path.trim_end_matches(separators).split(separators).count();
        (1..parts).find(|count| is_unique(path, *count)).unwrap_or(parts)
    };
    paths.iter().map(|path| sanitize_line(last_parts(path, shortest(path)))).collect()
}

/// The last parts of a path, without the slash before them.
fn last_parts(path: &str, count: usize) -> &str {
    let separators = path_separators(path);
    let whole = path.trim_end_matches(separators);
    let at = whole.rmatch_indices(separators).nth(count.saturating_sub(1)).map_or(0, |(at, _)| at + 1);
    if whole.is_empty() { path } else { &whole[at..] }
}

/// The characters between the parts of a path; none if a text is not an absolute path.
pub(crate) fn path_separators(path: &str) -> &'static [char] {
    match path.as_bytes() {
        [b'/' | b'~', ..] => &['/'],
        [drive, b':', b'/' | b'\\', ..] if drive.is_ascii_alphabetic() => &['/', '\\'],
        [b'\\', b'\\', ..] => &['\\'],
        _ => &[],
    }
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
        assert_eq!(project_names(&["C:\\Users\\a\\app", "D:\\b\\app"]), ["a\\app", "b\\app"]);
        assert_eq!(project_names(&["x=\"http://evil\""]), ["x=\"http://evil\""]);
    }
}
