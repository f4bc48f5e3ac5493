//! The patches of `apply_patch`: which files they change.

const BEGIN: &str = "*** Begin Patch";
/// What precedes a path, at the start of a line.
const FILE_MARKERS: [&str; 4] = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];

/// Whether a text contains a patch.
pub(crate) fn has_patch(text: &str) -> bool {
    text.contains(BEGIN)
}

/// The patch that a shell command gives to `apply_patch`, in a here-document or as an argument.
pub(crate) fn patch_in_command(command: &str) -> Option<&str> {
    let start = command.find(BEGIN)?;
    command[..start].contains("apply_patch").then(|| &command[start..])
}

/// The files that a patch changes, in its order. A script may contain the patch with escaped line breaks.
pub(crate) fn patch_paths(text: &str) -> Vec<String> {
    let mut paths: Vec<String> = Vec::new();
    for line in text.split('\n').flat_map(|line| line.split("\\n")) {
        let line = line.trim_start_matches(['"', '\'', '`']);
        let path = FILE_MARKERS.iter().find_map(|marker| line.strip_prefix(marker)).map(str::trim);
        if let Some(path) = path.filter(|path| !path.is_empty() && !paths.iter().any(|known| known == path)) {
            paths.push(path.to_owned());
        }
    }
    paths
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_of_a_patch_is_named_once() {
        let patch = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n-x\n+*** Add File: no\n*** Add File: c d.rs\n+y\n*** Update File: a.rs\n*** Delete File: e.rs\n*** End Patch";
        assert_eq!(patch_paths(patch), ["a.rs", "b.rs", "c d.rs", "e.rs"]);
        let script = r#"await tools.apply_patch("*** Begin Patch\n*** Update File: a.rs\n@@\n")"#;
        assert_eq!(patch_paths(script), ["a.rs"]);
    }

    #[test]
    fn a_command_that_only_mentions_a_patch_has_none() {
        let command = format!("cd x && apply_patch <<'EOF'\n{BEGIN}\n*** Add File: a\nEOF\n");
        assert!(patch_in_command(&command).is_some_and(|patch| patch.starts_with(BEGIN)));
        assert_eq!(patch_in_command("grep '*** Begin Patch' log"), None);
        assert_eq!(patch_in_command("which apply_patch"), None);
    }
}
