//! Install, external edits, update and uninstall on one settings file.

use std::path::Path;

use super::*;
use crate::{Engine, Environment};

const HOOKS: InstallLocation =
    InstallLocation::Host { host: &claude_code::INSTALLER, scope: InstallScope::User, with_mcp: false };

fn engine(folder: &Path, binary: &str) -> Engine {
    let mut environment = Environment::for_home(folder);
    environment.binary = Some(PathBuf::from(binary));
    Engine::open(environment).unwrap()
}

fn install(engine: &Engine) {
    engine.install().apply(&engine.install().plan(&HOOKS).unwrap()).unwrap();
}

fn uninstall(engine: &Engine) {
    engine.install().apply(&engine.install().plan_removal(&HOOKS).unwrap().unwrap()).unwrap();
}

/// Installs with an older program, edits the file, installs with a newer program, and uninstalls.
fn check(original: &str, edit: impl Fn(&str) -> String, expect: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, original).unwrap();
    install(&engine(folder.path(), "/old/rethread"));
    fs::write(&path, edit(&fs::read_to_string(&path).unwrap())).unwrap();
    let engine = engine(folder.path(), "/new/rethread");
    install(&engine);
    assert!(engine.install().plan(&HOOKS).unwrap().is_empty());
    uninstall(&engine);
    assert_eq!(fs::read_to_string(&path).unwrap(), expect);
    assert_eq!(engine.install().plan_removal(&HOOKS).unwrap(), None);
}

#[test]
fn an_update_between_install_and_uninstall_leaves_no_trace() {
    for original in ["", "{}", "{\"a\":[1,2]}\n", "{\r\n\t\"hooks\": {}\r\n}"] {
        check(original, str::to_owned, original);
    }
}

#[test]
fn edits_made_before_an_update_survive_the_uninstall() {
    check("{\"a\":1}\n", |text| text.replace("\"a\":1", "\"a\":2"), "{\n  \"a\":2\n}\n");
}

#[test]
fn a_file_changed_after_planning_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "/opt/rethread");
    let plan = engine.install().plan(&HOOKS).unwrap();
    let path = folder.path().join(".claude/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, "{}").unwrap();
    let error = engine.install().apply(&plan).unwrap_err();
    assert!(matches!(error, EngineError::Install(InstallError::Changed(_))), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
}

#[test]
fn a_failed_install_leaves_no_files() {
    let folder = tempfile::tempdir().unwrap();
    let engine = engine(folder.path(), "/opt/rethread");
    let settings = folder.path().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(&settings, "{}").unwrap();
    let mut plan = engine.install().plan(&HOOKS).unwrap();
    // The last file cannot be written: its folder is a link to nothing.
    let link = folder.path().join("link");
    std::os::unix::fs::symlink(folder.path().join("nothing"), &link).unwrap();
    let last = plan.files.last().unwrap().clone();
    plan.files.push(FileChange { target: link.join("SKILL.md"), before: None, ..last });
    let before = rethread_testing::files_below(folder.path());
    let error = engine.install().apply(&plan).unwrap_err();
    assert!(matches!(error, EngineError::Install(InstallError::File { .. })), "{error}");
    assert_eq!(rethread_testing::files_below(folder.path()), before);
    assert_eq!(fs::read_to_string(&settings).unwrap(), "{}");
    assert!(!folder.path().join(".claude/skills").exists());
}

#[test]
fn each_host_can_be_installed() {
    for host in crate::HOSTS {
        // A host without hooks of its own runs those of another.
        let agent = host.runs_hooks_of.unwrap_or(host.agent);
        assert!(HostInstaller::of(agent).is_some(), "{}", host.agent);
    }
}
