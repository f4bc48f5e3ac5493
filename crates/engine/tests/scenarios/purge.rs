//! A purge deletes what Rethread wrote, and only that. What still runs does not bring it back.

use rethread_engine::{EngineError, SyncRequest};
use rethread_testing::{CLAUDE_FILE, CONVERSATION, TestHome, files_below};

fn home_with_a_session() -> TestHome {
    let home = TestHome::new();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    home
}

#[test]
fn a_process_that_used_the_memory_does_not_bring_it_back() {
    let home = home_with_a_session();
    let running = home.engine();
    running.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
    home.engine().maintenance().purge().unwrap();
    home.append(CLAUDE_FILE, CONVERSATION);
    let synced = running.sync().run(&SyncRequest::default(), &mut |_| {});
    assert!(matches!(synced, Err(EngineError::MemoryDeleted(_))), "{synced:?}");
    running.journal().event("example", None, &[]);
    assert!(running.is_memory_deleted() && !running.syncs_unasked() && !home.has_rethread_dir());
    home.sync();
    assert!(!running.is_memory_deleted(), "another process may begin a new memory");
    running.sync().run(&SyncRequest::default(), &mut |_| {}).unwrap();
}

#[test]
fn only_what_rethread_wrote_is_deleted() {
    let home = home_with_a_session();
    home.engine().server().token().unwrap();
    let others = [
        "Cargo.lock",
        "config.toml",
        "bin/mytool",
        "logs/app.log",
        "threads/notes/session.txt",
        "vendor.lock/file",
        "index/index.html",
        "cards/poker.txt",
    ];
    for path in others {
        home.write(&format!(".rethread/{path}"), "[package]\nname = \"mine\"\n");
    }
    let link = home.path(".rethread/spool");
    std::os::unix::fs::symlink(home.path(".claude"), &link).unwrap();
    let report = home.engine().maintenance().purge().unwrap();
    assert!(report.failed.is_empty() && report.sessions == 1, "{report:?}");
    let names: Vec<_> = report.removed.iter().map(|item| item.name.as_str()).collect();
    assert!(["memory.db", "token", "index", "watch.lock"].iter().all(|name| names.contains(name)), "{names:?}");
    let left = files_below(&home.path(".rethread")).len();
    assert!(others.iter().all(|path| home.path(&format!(".rethread/{path}")).exists()), "{report:?}");
    assert!(left >= others.len() && link.is_symlink() && home.path(CLAUDE_FILE).exists());
    assert!(!home.path(".rethread/memory.db").exists() && !home.path(".rethread/index.lock").exists());
    let kept: Vec<_> = report.kept.iter().map(|path| path.strip_prefix(home.path(".rethread")).unwrap()).collect();
    assert!(kept.iter().any(|path| path.to_str() == Some("bin/mytool")), "{kept:?}");
}

#[test]
fn a_home_that_is_a_link_is_removed_with_the_link() {
    let home = home_with_a_session();
    std::fs::rename(home.path(".rethread"), home.path("elsewhere")).unwrap();
    std::os::unix::fs::symlink(home.path("elsewhere"), home.path(".rethread")).unwrap();
    let report = home.engine().maintenance().purge().unwrap();
    assert!(report.failed.is_empty() && report.kept.is_empty(), "{report:?}");
    assert!(!home.path("elsewhere").exists() && !home.path(".rethread").is_symlink());
}
