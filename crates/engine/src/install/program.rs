//! The program that hooks call. In a build directory it would vanish with the next `cargo clean`, so hooks call a copy.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Component, Path, PathBuf};

use super::InstallError;
use crate::install::InstallService;

const NAME: &str = "rethread";
/// Cargo writes one of these into every build directory, whatever its name.
const BUILD_FILES: [&str; 2] = [".cargo-lock", ".rustc_info.json"];
/// A program is at most this many folders below its build directory: `TRIPLE/release`.
const BUILD_DEPTH: usize = 3;

/// Bytes compared at a time.
const COMPARED_BYTES: usize = 64 * 1024;

/// The program that hooks should call, and the copy needed for that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HookProgram {
    pub(super) path: PathBuf,
    /// `None` if the program is already there.
    pub(super) copy: Option<ProgramCopy>,
}

/// A copy of this program, to be made or replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramCopy {
    /// The running program.
    pub from: PathBuf,
    /// Where hooks call it.
    pub to: PathBuf,
}

impl InstallService<'_> {
    /// The path of the program that hooks call: this one, or its copy outside the build directory.
    pub fn program_path(self) -> Option<PathBuf> {
        self.program().map(|program| program.path)
    }

    pub(super) fn program(self) -> Option<HookProgram> {
        let running = self.engine.environment.binary.clone()?;
        if !is_in_build_folder(&running) {
            return Some(HookProgram { path: running, copy: None });
        }
        let path = self.program_folder().join(NAME);
        // A link to the build is the user's choice. It stays.
        let is_there = path.canonicalize().is_ok_and(|path| path == running) || has_same_bytes(&path, &running);
        let copy = (!is_there).then(|| ProgramCopy { from: running, to: path.clone() });
        Some(HookProgram { path, copy })
    }

    /// Whether a folder is in `PATH`.
    pub fn is_on_path(self, folder: &Path) -> bool {
        let path = self.engine.environment.variable("PATH");
        path.is_some_and(|list| std::env::split_paths(list).any(|entry| entry == folder))
    }

    /// The first of the user's program folders that is in `PATH`, or our own if another program has the name there.
    fn program_folder(self) -> PathBuf {
        let home = &self.engine.environment.home;
        let cargo = self.engine.source_config().env_var("CARGO_HOME").map(PathBuf::from);
        let folders = [home.join(".local/bin"), cargo.unwrap_or_else(|| home.join(".cargo")).join("bin")];
        let on_path = folders.iter().find(|folder| self.is_on_path(folder));
        let folder = on_path.unwrap_or(&folders[0]);
        if is_other_program(&folder.join(NAME)) { self.engine.folder.join("bin") } else { folder.clone() }
    }
}

impl ProgramCopy {
    /// Copies the program. A running older copy keeps its own file.
    pub(super) fn apply(&self) -> Result<(), InstallError> {
        let temporary = self.to.with_extension(format!("tmp-{}", std::process::id()));
        let copied = self.to.parent().map_or(Ok(()), fs::create_dir_all);
        let copied = copied.and_then(|()| fs::copy(&self.from, &temporary));
        let copied = copied.and_then(|_| fs::set_permissions(&temporary, Permissions::from_mode(0o755)));
        copied.and_then(|()| fs::rename(&temporary, &self.to)).map_err(|cause| {
            let _ = fs::remove_file(&temporary);
            InstallError::File { path: self.to.clone(), cause }
        })
    }
}

/// Whether a program is, or was, in a build directory of cargo.
pub(super) fn is_in_build_folder(program: &Path) -> bool {
    let mut folders = program.ancestors().skip(1).take(BUILD_DEPTH);
    let is_built = folders.any(|folder| BUILD_FILES.iter().any(|name| folder.join(name).exists()));
    let mut names = program.components().map(Component::as_os_str);
    is_built || names.any(|name| name == "target") && names.any(|name| name == "debug" || name == "release")
}

/// Whether a file is there that is not a copy of Rethread, which names this variable.
fn is_other_program(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| memchr::memmem::find(&bytes, b"RETHREAD_HOME").is_none())
}

fn has_same_bytes(one: &Path, other: &Path) -> bool {
    let size = |path: &Path| fs::metadata(path).map(|data| data.len()).ok();
    size(one).is_some() && size(one) == size(other) && compare(one, other).unwrap_or(false)
}

fn compare(one: &Path, other: &Path) -> std::io::Result<bool> {
    let open = |path: &Path| Ok::<_, std::io::Error>(BufReader::with_capacity(COMPARED_BYTES, fs::File::open(path)?));
    let (mut one, mut other) = (open(one)?, open(other)?);
    loop {
        let (left, right) = (one.fill_buf()?, other.fill_buf()?);
        let length = left.len().min(right.len());
        if left[..length] != right[..length] || (length == 0 && left.len() != right.len()) {
            return Ok(false);
        }
        if length == 0 {
            return Ok(true);
        }
        one.consume(length);
        other.consume(length);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // D45
    #[test]
    fn a_build_directory_is_recognized_even_after_it_was_removed() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("any name/release/rethread");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        assert!(!is_in_build_folder(&program));
        fs::write(folder.path().join("any name/.rustc_info.json"), "{}").unwrap();
        assert!(is_in_build_folder(&program));
        assert!(is_in_build_folder(Path::new("/gone/app/target/x86_64-unknown-linux-musl/debug/rethread")));
        for installed in ["/home/dev/.cargo/bin/rethread", "/opt/target/bin/rethread", "/usr/local/release/rethread"] {
            assert!(!is_in_build_folder(Path::new(installed)), "{installed}");
        }
    }
}
