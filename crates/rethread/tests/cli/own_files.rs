//! What commands do to the files of the home: reading changes none, and a directory of others is not trusted.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::time::SystemTime;

use rethread_testing::{TestHome, files_below};

use crate::transcripts::{CLAUDE, new_home, read_home};

/// The reference of all commands, generated from the command line itself.
const CLI_REFERENCE: &str = include_str!("../../../../docs/cli.md");

/// Commands that only read, each with arguments with which it succeeds or finds nothing. REF is a session.
const READING: &[&[&str]] = &[
    &["search", "parser", "--all-projects"],
    &["fix", "no such error", "--all-projects"],
    &["ask", "REF", "what about the parser?"],
    &["sync", "--dry-run"],
    &["sessions", "--all-projects"],
    &["show", "REF"],
    &["session card", "REF"],
    &["handoff", "REF"],
    &["export", "--all-projects"],
    &["timeline", "--all-projects"],
    &["decisions", "--all-projects"],
    &["files", "src/parser.rs", "--all-projects"],
    &["facts", "--all-projects"],
    &["workflows", "--all-projects"],
    &["usage", "--all-projects"],
    &["thread list"],
    &["status"],
    &["doctor"],
    &["config show"],
    &["config get", "intake.mode"],
    &["config path"],
    &["forget", "REF", "--dry-run"],
    &["debug resolve", "@@parser"],
    &["debug verify"],
    &["completions", "bash"],
    &["shell", "zsh"],
    &["man"],
];

/// Commands that write, run other programs, or belong to a thread that does not exist here.
const NOT_READING: &[&str] = &[
    "admin",
    "admin audit",
    "admin distribute",
    "admin member",
    "admin member add",
    "admin member list",
    "admin member revoke",
    "admin member rotate",
    "admin retention",
    "admin space",
    "admin space list",
    "admin space new",
    "admin token",
    "admin token list",
    "admin token revoke",
    "config",
    "config edit",
    "config set",
    "config unset",
    "debug",
    // These two read new transcript lines first.
    "debug activity",
    "debug inject",
    "demo",
    "enrich",
    "hook",
    "import",
    "init",
    "install",
    "mcp",
    "open",
    "rebuild",
    "resume",
    "serve",
    "session",
    "session alias",
    "session end",
    "session name",
    "session note",
    "session pause",
    "session pin",
    "session tag",
    "session task",
    "session unpin",
    "store",
    "store copy",
    "thread",
    "thread append",
    "thread compact",
    "thread context",
    "thread delete",
    "thread export",
    "thread import",
    "thread new",
    "thread records",
    "thread send",
    "token",
    // It has no output without a terminal; e2e-tui runs it.
    "tui",
    "uninstall",
    "watch",
];

/// Content, permissions and modification time of every file and directory of the home.
fn state(home: &TestHome) -> BTreeMap<PathBuf, (Option<Vec<u8>>, u32, SystemTime)> {
    // SQLite notes in one who reads, and leaves the other empty if two read at once; they hold no data.
    let is_empty = |path: &PathBuf| fs::metadata(path).is_ok_and(|about| about.len() == 0);
    let has_end = |path: &PathBuf, end: &str| path.to_string_lossy().ends_with(end);
    let has_data = |path: &PathBuf| !(has_end(path, "-shm") || has_end(path, "-wal") && is_empty(path));
    let files = files_below(home.root()).into_iter().filter(has_data);
    let states = files.map(|path| {
        let about = fs::symlink_metadata(&path).unwrap();
        let state = (fs::read(&path).ok(), about.permissions().mode(), about.modified().unwrap());
        (path, state)
    });
    states.collect()
}

#[test]
fn every_command_is_known_to_read_or_to_write() {
    // D57
    let commands = CLI_REFERENCE.lines().filter_map(|line| line.strip_prefix("## rethread ")).map(str::trim);
    let reading: BTreeSet<&str> = READING.iter().map(|command| command[0]).collect();
    let unknown: Vec<&str> =
        commands.filter(|command| !reading.contains(command) && !NOT_READING.contains(command)).collect();
    assert_eq!(unknown, Vec::<&str>::new(), "list it as reading or as not reading");
}

#[test]
fn reading_changes_no_file() {
    // D57
    let home = read_home();
    home.run_ok(&["search", "parser", "--all-projects"]);
    let check = |what: &str| {
        for command in READING {
            let values = command[1..].iter().map(|value| if *value == "REF" { CLAUDE } else { value });
            let arguments: Vec<&str> = command[0].split(' ').chain(values).collect();
            let before = state(&home);
            let output = home.run(&arguments);
            assert!(
                matches!(output.status.code(), Some(0 | 1)),
                "{arguments:?}: {}",
                String::from_utf8_lossy(&output.stderr)
            );
            let after = state(&home);
            let changed: Vec<_> =
                before.keys().chain(after.keys()).filter(|path| before.get(*path) != after.get(*path)).collect();
            assert_eq!(changed, Vec::<&PathBuf>::new(), "{what}: {arguments:?}");
        }
    };
    check("after a sync");
    // A hook leaves its changes in the write-ahead log.
    let input =
        format!("{{\"session_id\":\"{CLAUDE}\",\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"go on\"}}");
    home.run_with_input(&["hook", "claude-code"], input.as_bytes());
    assert!(home.path(".rethread/memory.db-wal").exists());
    check("after a hook");
}

#[test]
fn a_home_that_all_users_can_write_is_refused() {
    // D71
    let home = read_home();
    fs::set_permissions(home.path(".rethread"), Permissions::from_mode(0o777)).unwrap();
    let output = home.run(&["sessions", "--all-projects"]);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr.contains("all users can write to") && stderr.contains("chmod 700"), "{stderr}");
    let mode = fs::metadata(home.path(".rethread")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o777, "nothing is changed silently");
}

#[test]
fn a_readable_home_is_made_private_with_a_warning() {
    // D71
    let home = read_home();
    fs::set_permissions(home.path(".rethread"), Permissions::from_mode(0o755)).unwrap();
    let stderr = |arguments: &[&str]| String::from_utf8(home.run(arguments).stderr).unwrap();
    let warning = stderr(&["sessions", "--all-projects"]);
    assert!(warning.contains("warning: ") && warning.contains("(mode 0755); changed to 0700"), "{warning}");
    assert_eq!(fs::metadata(home.path(".rethread")).unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(stderr(&["sessions", "--all-projects"]), "", "reported once");
}

#[test]
fn planted_links_lead_nowhere() {
    // D71
    let home = new_home();
    let elsewhere = home.root().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    home.write(".rethread/config.toml", "");
    for name in ["threads", "logs", "cards", "archive", "spool"] {
        symlink(&elsewhere, home.path(".rethread").join(name)).unwrap();
    }
    home.run(&["token", "--rotate"]);
    let output = home.run(&["thread", "new", "--name", "x"]);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "nothing was written through a link");
}
