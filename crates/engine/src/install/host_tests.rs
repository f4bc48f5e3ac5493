//! Every host: install, install again, update and uninstall, with originals of all kinds.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use rethread_testing::files_below;
use serde_json::Value;

use super::entry::SettingsEntry;
use super::host::{HostFiles, HostPlace, SettingsFile};
use super::settings::Syntax;
use super::*;
use crate::{Engine, Environment};

/// A home with one of our programs, and with a project as the current directory.
fn open_engine(folder: &Path, binary: &str) -> Engine {
    let mut environment = Environment::for_home(folder);
    environment.binary = Some(PathBuf::from(binary));
    environment.cwd = folder.join("app");
    Engine::open(environment).unwrap()
}

fn location(host: &'static HostInstaller, scope: InstallScope, with_mcp: bool) -> InstallLocation {
    InstallLocation::Host { host, scope, with_mcp }
}

fn host_files(engine: &Engine, host: &HostInstaller, scope: InstallScope) -> HostFiles {
    (host.files)(&HostPlace { install: engine.install(), agent: host.agent, scope, binary: "/opt/rethread" })
}

/// The files of agents: their contents by path, without our own records.
fn contents(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let all = files_below(folder).into_iter().filter(|path| !path.starts_with(folder.join(".rethread")));
    all.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

/// Each host in each scope, with a folder in which it was used.
fn check_all(check: impl Fn(&Path, &'static HostInstaller, InstallScope)) {
    for host in INSTALLERS {
        for scope in [InstallScope::User, InstallScope::Project] {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir_all(folder.path().join("app")).unwrap();
            let has_server = host_files(&open_engine(folder.path(), "/opt/rethread"), host, scope).server.is_some();
            if (scope == InstallScope::User || host.has_project_scope) && (host.has_hooks() || has_server) {
                check(folder.path(), host, scope);
            }
        }
    }
}

/// Installs with an older program, with a newer one, and uninstalls: nothing is left.
fn check_round_trip(folder: &Path, host: &'static HostInstaller, scope: InstallScope) {
    let before = contents(folder);
    let has_server = host_files(&open_engine(folder, "/opt/rethread"), host, scope).server.is_some();
    let place = location(host, scope, has_server);
    let name = format!("{} {scope:?}", host.agent);
    for binary in ["/old/rethread", "/new place/rethread"] {
        let engine = open_engine(folder, binary);
        engine.install().run(&place).unwrap_or_else(|error| panic!("{name}: {error}"));
        let again = engine.install().plan(&place).unwrap();
        assert!(again.is_empty(), "{name}: {:?}", again.changes().collect::<Vec<_>>());
    }
    let engine = open_engine(folder, "/new place/rethread");
    let text: String = contents(folder).into_values().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
    assert!(!text.contains("/old/rethread"), "{name}: {text}");
    let removal = engine.install().plan_removal(&place).unwrap().unwrap();
    engine.install().apply(&removal).unwrap();
    assert_eq!(contents(folder), before, "{name}");
    assert_eq!(engine.install().plan_removal(&place).unwrap(), None, "{name}");
}

#[test]
fn a_new_host_gets_everything_and_keeps_nothing() {
    check_all(check_round_trip);
}

/// Valid originals that each syntax has to survive.
fn originals(syntax: Syntax) -> Vec<String> {
    let json = "{\n  \"a\": 1,\n  \"mcpServers\": {\"other\": {\"command\": \"x\"}},\n  \"hooks\": {\"Stop\": []}\n}\n";
    let toml = "# mine\na = 1\n\n[mcp_servers.other]\ncommand = \"x\" # why\n\n[[hooks]]\nevent = \"Stop\"\ncommand = \"say\"\n";
    let yaml = "# mine\nmodel:\n  default: x # why\nplugins:\n  enabled:\n    - other\nmcp_servers:\n  other:\n    command: x\nmcpServers:\n  - name: other\n    command: x\n";
    let commented =
        "// mine\n{\n\t\"a\": [1, 2,], // why\n\t/* servers */ \"mcp\": {\"other\": {\"type\": \"local\"}},\n}\n";
    let mut texts: Vec<String> = vec![String::new()];
    texts.extend(match syntax {
        Syntax::Json => {
            vec![json.to_owned(), "{}".to_owned(), "\u{feff}{\"a\": 1}".to_owned(), json.replace("  ", "\t")]
        }
        Syntax::Jsonc => vec![json.to_owned(), commented.to_owned(), "// nothing\n".to_owned()],
        Syntax::Json5 => vec![json.to_owned(), commented.to_owned(), "{a: 'b', plugins: {entries: {}}}".to_owned()],
        Syntax::Toml => {
            vec![toml.to_owned(), "a = 1".to_owned(), "mcp_servers = { other = { command = \"x\" } }\n".to_owned()]
        }
        Syntax::Yaml => vec![
            yaml.to_owned(),
            yaml.replace("    - other", "  - other"),
            "plugins: {enabled: [other]}\nmcp_servers: {}\nmcpServers: [{name: other, command: x}]\n".to_owned(),
            "plugins:\n  enabled: []\nmcp_servers: # none\nlast: |\n  text\n".to_owned(),
            "a: 1".to_owned(),
            "# nothing\n".to_owned(),
        ],
    });
    let returns: Vec<String> = texts.iter().map(|text| text.replace('\n', "\r\n")).collect();
    texts.extend(returns);
    texts
}

#[test]
fn every_original_is_restored_byte_for_byte() {
    check_all(|folder, host, scope| {
        let engine = open_engine(folder, "/opt/rethread");
        for file in host_files(&engine, host, scope).by_path(true) {
            for text in originals(file.syntax) {
                fs::create_dir_all(file.path.parent().unwrap()).unwrap();
                fs::write(&file.path, &text).unwrap();
                check_round_trip(folder, host, scope);
            }
            fs::remove_file(&file.path).unwrap();
        }
    });
}

#[test]
fn changes_of_others_survive_an_uninstall() {
    check_all(|folder, host, scope| {
        let engine = open_engine(folder, "/opt/rethread");
        for file in host_files(&engine, host, scope).by_path(true) {
            for text in originals(file.syntax).into_iter().filter(|text| !text.is_empty()) {
                check_foreign_edit(folder, host, scope, &file, &text);
            }
        }
    });
}

fn check_foreign_edit(
    folder: &Path,
    host: &'static HostInstaller,
    scope: InstallScope,
    file: &SettingsFile,
    text: &str,
) {
    let engine = open_engine(folder, "/opt/rethread");
    let place = location(host, scope, host_files(&engine, host, scope).server.is_some());
    fs::create_dir_all(file.path.parent().unwrap()).unwrap();
    fs::write(&file.path, text).unwrap();
    engine.install().run(&place).unwrap();
    // A line break at the end is a change, too.
    let line_end = if text.contains('\r') { "\r\n" } else { "\n" };
    fs::write(&file.path, fs::read_to_string(&file.path).unwrap() + line_end).unwrap();
    let removal = engine.install().plan_removal(&place).unwrap().unwrap();
    engine.install().apply(&removal).unwrap();
    let left = fs::read_to_string(&file.path).unwrap();
    assert!(!left.contains("rethread"), "{}: {left}", host.agent);
    for comment in ["mine", "why", "servers */", "none", "nothing"].iter().filter(|comment| text.contains(**comment)) {
        assert!(left.contains(comment), "{}: {comment} in {left}", host.agent);
    }
    let [left, text] = [&left, text].map(|text| pruned(file.syntax.parse(text).unwrap()));
    assert_eq!(left, text, "{}", host.agent);
    fs::remove_file(&file.path).unwrap();
}

/// Settings without empty containers, and without what a host requires in every file.
fn pruned(mut value: Value) -> Value {
    if let Value::Object(object) = &mut value {
        for key in ["version", "name", "schema"] {
            object.shift_remove(key);
        }
        let values = std::mem::take(object).into_iter().map(|(key, value)| (key, pruned(value)));
        let is_empty = |value: &Value| matches!(value.to_string().as_str(), "{}" | "[]" | "null");
        *object = values.filter(|(_, value)| !is_empty(value)).collect();
    }
    value
}

#[test]
fn what_cannot_be_parsed_or_written_is_refused_and_stays() {
    check_all(|folder, host, scope| {
        let engine = open_engine(folder, "/opt/rethread");
        let place = location(host, scope, host_files(&engine, host, scope).server.is_some());
        for file in host_files(&engine, host, scope).by_path(true) {
            fs::create_dir_all(file.path.parent().unwrap()).unwrap();
            fs::write(&file.path, "{ [ broken: \"").unwrap();
            let before = contents(folder);
            let error = engine.install().run(&place).unwrap_err();
            assert!(matches!(error, EngineError::Install(InstallError::Invalid { .. })), "{error}");
            assert_eq!(contents(folder), before);
            fs::write(&file.path, "").unwrap();
            fs::set_permissions(&file.path, fs::Permissions::from_mode(0o400)).unwrap();
            let error = engine.install().run(&place).unwrap_err();
            assert!(matches!(error, EngineError::Install(InstallError::ReadOnly(_))), "{error}");
            fs::remove_file(&file.path).unwrap();
        }
    });
}

#[test]
fn a_linked_settings_file_stays_a_link() {
    check_all(|folder, host, scope| {
        let engine = open_engine(folder, "/opt/rethread");
        for file in host_files(&engine, host, scope).by_path(true) {
            let target = folder.join("dotfiles");
            fs::write(&target, "").unwrap();
            fs::create_dir_all(file.path.parent().unwrap()).unwrap();
            symlink(&target, &file.path).unwrap();
            check_round_trip(folder, host, scope);
            assert!(file.path.is_symlink());
            fs::remove_file(&file.path).unwrap();
        }
    });
}

#[test]
fn nothing_that_is_committed_has_a_personal_path() {
    // Claude Code does not commit this file.
    let personal = ["settings.local.json"];
    check_all(|folder, host, scope| {
        if scope == InstallScope::User {
            return;
        }
        let engine = open_engine(folder, "/opt/rethread");
        let with_mcp = host_files(&engine, host, scope).server.is_some();
        engine.install().run(&location(host, scope, with_mcp)).unwrap();
        for (path, bytes) in contents(folder) {
            let has_path = String::from_utf8(bytes).unwrap().contains("/opt/rethread");
            assert_eq!(has_path, personal.iter().any(|name| path.ends_with(name)), "{}", path.display());
        }
    });
}

#[test]
fn the_shared_skill_stays_until_the_last_host_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open_engine(folder.path(), "/opt/rethread");
    let skill = folder.path().join(".agents/skills/rethread/SKILL.md");
    let [codex, gemini] = [&codex::INSTALLER, &gemini::INSTALLER].map(|host| location(host, InstallScope::User, false));
    let remove = |place: &InstallLocation| {
        engine.install().apply(&engine.install().plan_removal(place).unwrap().unwrap()).unwrap();
    };
    engine.install().run(&codex).unwrap();
    engine.install().run(&gemini).unwrap();
    remove(&codex);
    assert!(skill.exists());
    remove(&gemini);
    assert!(!skill.exists() && !folder.path().join(".agents").exists());
}

#[test]
fn a_server_that_the_user_set_up_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open_engine(folder.path(), "/opt/rethread");
    let path = folder.path().join(".qwen/settings.json");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let text = "{\"mcpServers\": {\"rethread\": {\"url\": \"http://127.0.0.1:7717/mcp\"}}}";
    fs::write(&path, text).unwrap();
    let place = location(&qwen::INSTALLER, InstallScope::User, true);
    engine.install().run(&place).unwrap();
    assert!(fs::read_to_string(&path).unwrap().contains("7717"));
    // Changed by another program, so that the record does not match.
    fs::write(&path, fs::read_to_string(&path).unwrap() + "\n").unwrap();
    engine.install().apply(&engine.install().plan_removal(&place).unwrap().unwrap()).unwrap();
    let left = Syntax::Json.parse(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(left, Syntax::Json.parse(text).unwrap());
}

/// Installs without the MCP server and uninstalls. Returns whether the file is as before, both times.
fn keeps_server(host: &'static HostInstaller, path: &str, text: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let engine = open_engine(folder.path(), "/opt/rethread");
    let path = folder.path().join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, text).unwrap();
    let place = location(host, InstallScope::User, false);
    engine.install().run(&place).unwrap();
    engine.install().apply(&engine.install().plan_removal(&place).unwrap().unwrap()).unwrap();
    fs::read_to_string(&path).unwrap() == text
}

#[test]
fn an_uninstall_keeps_a_server_that_it_did_not_write() {
    let (claude, gemini) = (&claude_code::INSTALLER, &gemini::INSTALLER);
    let server = |entry: &str| format!("{{\"mcpServers\":{{\"rethread\":{entry}}}}}");
    for entry in [
        r#"{"type":"stdio","command":"rethread","args":["mcp"],"env":{"RETHREAD_HOME":"/data"}}"#,
        r#"{"type":"stdio","command":"/opt/rethread","args":["mcp"],"env":{}}"#,
        r#"{"command":"rethread","args":["mcp"]}"#,
    ] {
        assert!(keeps_server(claude, ".claude.json", &server(entry)), "{entry}");
        assert!(keeps_server(gemini, ".gemini/settings.json", &server(entry)), "{entry}");
    }
    // Nothing of ours was in this file before, so it is restored even if it looks like ours.
    let ours = server(r#"{"command":"/opt/rethread","args":["mcp"]}"#);
    assert!(keeps_server(gemini, ".gemini/settings.json", &ours));
    // There is no record of this file, and it looks like ours.
    for program in ["/opt/rethread", "/elsewhere/rethread"] {
        let ours = server(&format!("{{\"type\":\"stdio\",\"command\":\"{program}\",\"args\":[\"mcp\"]}}"));
        assert!(!keeps_server(claude, ".claude.json", &ours), "{program}");
    }
}

#[test]
fn the_home_directory_is_not_a_project() {
    let folder = tempfile::tempdir().unwrap();
    let mut environment = Environment::for_home(folder.path());
    environment.binary = Some(PathBuf::from("/opt/rethread"));
    environment.cwd = folder.path().to_owned();
    let engine = Engine::open(environment).unwrap();
    let [user, project] =
        [InstallScope::User, InstallScope::Project].map(|scope| location(&codex::INSTALLER, scope, false));
    engine.install().run(&user).unwrap();
    for error in [engine.install().plan(&project).unwrap_err(), engine.install().plan_removal(&project).unwrap_err()] {
        assert!(matches!(error, EngineError::Install(InstallError::ProjectIsHome(_))), "{error}");
    }
    let mut diagnosis = crate::reports::Diagnosis::default();
    engine.install().check_hooks(&mut diagnosis);
    let messages = diagnosis.findings.iter().map(|finding| finding.message.as_str()).collect::<Vec<_>>().join("\n");
    assert!(messages.matches("hooks.json").count() == 1 && !messages.contains("twice"), "{messages}");
}

#[test]
fn every_event_that_is_installed_has_a_rule() {
    let mut checked = 0;
    let folder = tempfile::tempdir().unwrap();
    let engine = open_engine(folder.path(), "/opt/rethread");
    for host in INSTALLERS {
        for entry in host_files(&engine, host, InstallScope::User).settings.into_iter().flat_map(|file| file.entries) {
            let events: Vec<String> = match entry {
                SettingsEntry::Hooks(_, events) => events.into_iter().map(|(event, _)| event.to_owned()).collect(),
                SettingsEntry::Items(_, items) => {
                    items.iter().filter_map(|item| Some(item.get("event")?.as_str()?.to_owned())).collect()
                }
                SettingsEntry::Member(..) | SettingsEntry::Default(..) => Vec::new(),
            };
            let protocol = crate::HostProtocol::of(host.agent).unwrap();
            for event in &events {
                assert!(protocol.handles(event), "{}: {event}", host.agent);
            }
            checked += usize::from(!events.is_empty());
        }
    }
    assert_eq!(checked, 8);
}

#[test]
fn a_new_file_begins_with_its_first_entry() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open_engine(folder.path(), "/opt/rethread");
    for (host, path) in [(&codex::INSTALLER, ".codex/config.toml"), (&kimi::INSTALLER, ".kimi-code/config.toml")] {
        engine.install().run(&location(host, InstallScope::User, true)).unwrap();
        let text = fs::read_to_string(folder.path().join(path)).unwrap();
        assert!(text.starts_with('['), "{text}");
    }
}

#[test]
fn a_host_without_hooks_or_projects_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let engine = open_engine(folder.path(), "/opt/rethread");
    let plan = |host, scope, with_mcp| engine.install().plan(&location(host, scope, with_mcp)).unwrap_err();
    let error = plan(&continue_dev::INSTALLER, InstallScope::User, false);
    assert!(matches!(error, EngineError::Install(InstallError::OnlyServer(_))), "{error}");
    let error = plan(&kimi::INSTALLER, InstallScope::Project, false);
    assert!(matches!(error, EngineError::Install(InstallError::NoProjectScope(_))), "{error}");
    let error = plan(&copilot::INSTALLER, InstallScope::Project, true);
    assert!(matches!(error, EngineError::Install(InstallError::NoServer(_))), "{error}");
}
