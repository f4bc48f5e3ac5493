//! The hand-written transcripts of the ingest crate, and where an agent would store them below a home.

/// A Claude Code session with everything the format has.
pub const CONVERSATION: &str = include_str!("../../ingest/tests/fixtures/claude_code/conversation.jsonl");
/// A sub-agent of [`CONVERSATION`].
pub const SUB_AGENT: &str = include_str!("../../ingest/tests/fixtures/claude_code/agent-a1b2c3d4.jsonl");
/// A pi session whose user went back and asked differently.
pub const BRANCHES: &str = include_str!("../../ingest/tests/fixtures/pi/branches.jsonl");
/// A pi session in the first version of its format.
pub const PI_VERSION_1: &str = include_str!("../../ingest/tests/fixtures/pi/version-1.jsonl");
/// The log of one of our own threads.
pub const NATIVE_THREAD: &str = include_str!("../../ingest/tests/fixtures/native/thread.jsonl");

/// The session id in [`CONVERSATION`].
pub const CLAUDE_SESSION: &str = "5e551011-0000-4000-8000-00000000000a";
/// Where Claude Code stores [`CONVERSATION`], relative to the home directory.
pub const CLAUDE_FILE: &str = ".claude/projects/-home-dev-parser/5e551011-0000-4000-8000-00000000000a.jsonl";
/// Where pi stores [`BRANCHES`], relative to the home directory.
pub const PI_FILE: &str = ".pi/agent/sessions/--home-dev-site--/2026-04-01T10-00-00-000Z_0198a000.jsonl";
