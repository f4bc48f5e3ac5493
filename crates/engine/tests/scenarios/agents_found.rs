//! Users see every agent that was used, whether it is read, and what it will delete.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use rethread_engine::{AgentCoverage, FindingLevel};
use rethread_model::Timestamp;
use rethread_testing::{CLAUDE_FILE, CONVERSATION, TestHome};

const NOW: &str = "2026-06-01T10:00:00Z";

/// Findings of `doctor` about an area.
fn findings(home: &TestHome, area: &str) -> Vec<(FindingLevel, String)> {
    let findings = home.engine_at(NOW.parse().unwrap()).reports().doctor().unwrap().findings.into_iter();
    findings.filter(|finding| finding.area == area).map(|finding| (finding.level, finding.message)).collect()
}

#[test]
fn every_agent_that_was_used_is_named_with_whether_it_is_read() {
    let home = TestHome::new();
    fs::create_dir_all(home.path(".pi/agent")).unwrap();
    fs::create_dir_all(home.path(".codeium/windsurf")).unwrap();
    home.write(CLAUDE_FILE, CONVERSATION);
    home.sync();
    let found = home.engine().reports().agents().unwrap();
    let found: Vec<_> = found.iter().map(|one| (one.label, one.coverage)).collect();
    let expected = [
        ("Claude Code", AgentCoverage::Read { sessions: 1 }),
        ("pi", AgentCoverage::NotReadYet),
        ("Windsurf", AgentCoverage::Impossible { reason: "its transcripts are encrypted" }),
    ];
    assert_eq!(found, expected);
    let windsurf = (FindingLevel::Info, "Windsurf: not readable: its transcripts are encrypted".to_owned());
    assert_eq!(findings(&home, "agents"), [windsurf]);
}

#[test]
fn transcripts_that_an_agent_deletes_this_week_are_named() {
    let home = TestHome::new();
    let write_aged = |path: &str, days: u64| {
        home.write(path, CONVERSATION);
        let now: Timestamp = NOW.parse().unwrap();
        let now = SystemTime::UNIX_EPOCH + Duration::from_millis(now.as_millis().cast_unsigned());
        let file = File::options().write(true).open(home.path(path)).unwrap();
        file.set_modified(now - Duration::from_secs(days * 24 * 60 * 60)).unwrap();
    };
    write_aged(CLAUDE_FILE, 22);
    home.sync();
    let is_warning = |(_, message): &(FindingLevel, String)| message.contains("deletes transcripts");
    assert!(!findings(&home, "claude-code").iter().any(is_warning), "nine days are left");
    write_aged(CLAUDE_FILE, 27);
    let warning = findings(&home, "claude-code").into_iter().find(is_warning).unwrap().1;
    assert_eq!(
        warning,
        "Claude Code deletes transcripts after 30 days without a change; this week 1 session: Fix the lost last token \
         (in 3 days). Rethread keeps what it has read of them"
    );
    home.write(".claude/settings.json", r#"{"cleanupPeriodDays": 365}"#);
    assert!(!findings(&home, "claude-code").iter().any(is_warning), "the user's setting counts");
}
