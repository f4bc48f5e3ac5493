//! Earlier sessions of the demo: several days of work in three projects.
//!
//! They give search, fixes and decisions something to find, and fill the web UI.

use rethread_model::Timestamp;
use serde_json::json;

use super::{claude_code, pi};

/// One session as a list of steps.
struct DemoSession {
    is_pi: bool,
    session: &'static str,
    project: &'static str,
    branch: &'static str,
    title: &'static str,
    model: &'static str,
    minutes_ago: i64,
    /// Cache read tokens of each message.
    cache_read_tokens: u64,
    steps: &'static [DemoStep],
}

enum DemoStep {
    Prompt(&'static str),
    Reply(&'static str),
    ReadFile(&'static str),
    /// Path, old text, new text.
    EditFile(&'static str, &'static str, &'static str),
    RunCommand(&'static str, &'static str),
    FailedCommand(&'static str, &'static str),
}

use DemoStep::{EditFile, FailedCommand, Prompt, ReadFile, Reply, RunCommand};

/// Time between two steps.
const STEP_SECONDS: i64 = 47;
/// In minutes.
const MINUTES_PER_DAY: i64 = 24 * 60;
const SHOP: &str = "/home/dev/shop";
const MAILER: &str = "/home/dev/mailer";
const SITE: &str = "/home/dev/site";

const SESSIONS: [DemoSession; 8] = [BOUNCES, DARK_DOCS, CHECKOUT, CENTS, TEMPLATES, LINKS, IMPORTS, STAGING];

const BOUNCES: DemoSession = DemoSession {
    is_pi: false,
    session: "a13f5c70-52d4-4c0e-9f18-7be0c2d94a61",
    project: MAILER,
    branch: "retry-bounces",
    title: "Retry bounced mails with a backoff",
    model: "claude-opus-4-6",
    minutes_ago: 42,
    cache_read_tokens: 46_000,
    steps: &[
        Prompt("Mails that bounce with a 4xx are dropped. Try them again, with a growing pause, at most six times."),
        ReadFile("/home/dev/mailer/src/queue.rs"),
        Reply("The queue drops a mail as soon as it is handed over. I'll keep it until the server accepts it."),
        EditFile(
            "/home/dev/mailer/src/queue.rs",
            "    self.mails.pop_front();\n    self.server.hand_over(mail)?;",
            "    self.server.hand_over(&mail)?;\n    // Only now: a mail that bounces is tried again.\n    self.mails.pop_front();",
        ),
        FailedCommand(
            "cargo test queue",
            "Exit code 101\nthread 'queue::tests::a_bounce_is_tried_again' panicked: no such column: attempts",
        ),
        EditFile(
            "/home/dev/mailer/migrations/0007-attempts.sql",
            "-- 0007",
            "-- 0007: how often a mail was tried.\nALTER TABLE mail ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;",
        ),
        RunCommand("cargo test queue", "running 11 tests\n...........\ntest result: ok. 11 passed"),
        Reply(
            "A bounced mail waits 1, 2, 4, 8, 16 and 32 minutes. After the sixth attempt it moves to `failed/`, together with the server's response.",
        ),
        Prompt(
            "We use exponential backoff with jitter instead of fixed steps, because all workers would wake up at once.",
        ),
        EditFile(
            "/home/dev/mailer/src/backoff.rs",
            "let pause = FIXED_STEPS[attempt];",
            "let pause = base * 2u32.pow(attempt);\nlet pause = pause + pause.mul_f64(random::<f64>() / 4.0);",
        ),
        RunCommand("cargo test", "test result: ok. 64 passed"),
        Reply(
            "Each pause is now up to a quarter longer, chosen at random every time:\n\n```rust\n\
             let pause = base * 2u32.pow(attempt);\npause + pause.mul_f64(random::<f64>() / 4.0)\n```\n\n\
             Still open: the number of attempts is a constant.",
        ),
    ],
};

const DARK_DOCS: DemoSession = DemoSession {
    is_pi: false,
    session: "b7c2e9d4-0a6b-4b53-8a3e-91f5d7c80e12",
    project: SITE,
    branch: "main",
    title: "Dark mode for the docs",
    model: "claude-sonnet-4-5",
    minutes_ago: 3 * 60,
    cache_read_tokens: 21_000,
    steps: &[
        Prompt("The docs need a dark mode. Follow the system, no switch."),
        ReadFile("/home/dev/site/assets/site.css"),
        EditFile(
            "/home/dev/site/assets/site.css",
            ":root {\n  --paper: #fff;\n  --ink: #222;\n}",
            ":root {\n  color-scheme: light dark;\n  --paper: light-dark(#fff, #161513);\n  --ink: light-dark(#222, #ebe7de);\n}",
        ),
        RunCommand("npm run build", "built 84 pages in 2.1s"),
        Reply("Done with `color-scheme` and eleven variables. Code samples keep their own colors."),
    ],
};

const CHECKOUT: DemoSession = DemoSession {
    is_pi: false,
    session: "c90d3b18-77e1-4f29-b6d0-5a2c4e8f1937",
    project: SHOP,
    branch: "fast-checkout",
    title: "Make the checkout page fast again",
    model: "claude-opus-4-6",
    minutes_ago: MINUTES_PER_DAY + 130,
    cache_read_tokens: 88_000,
    steps: &[
        Prompt("The checkout takes four seconds with forty items in the cart. It was fast in spring."),
        ReadFile("/home/dev/shop/src/checkout.rs"),
        RunCommand("cargo run --release --bin profile", "checkout: 41 queries, 3.9 s"),
        Reply(
            "It runs one query per item, because stock is looked up when each line is rendered. One query for all of them is enough.",
        ),
        EditFile(
            "/home/dev/shop/src/checkout.rs",
            "    for item in &cart.items {\n        let left = stock::of(item.id)?;\n        rows.push(row(item, left));\n    }",
            "    let left = stock::levels(cart.items.iter().map(|item| item.id))?;\n    for item in &cart.items {\n        rows.push(row(item, left[&item.id]));\n    }",
        ),
        EditFile(
            "/home/dev/shop/src/stock.rs",
            "pub fn of(id: ItemId) -> Result<u32> {",
            "/// What is left of several items, with one query.\nfn levels(ids: impl Iterator<Item = ItemId>) -> Result<HashMap<ItemId, u32>> {",
        ),
        FailedCommand("cargo test", "Exit code 101\nerror[E0432]: unresolved import `shop::stock::levels`"),
        EditFile("/home/dev/shop/src/stock.rs", "fn levels(ids: impl", "pub fn levels(ids: impl"),
        RunCommand("cargo test", "test result: ok. 212 passed"),
        RunCommand(
            "git commit -am 'Look up stock once for the whole cart'",
            "[fast-checkout 4b1c9e2] Look up stock once for the whole cart",
        ),
        Reply("Two queries instead of 41; the page takes 180 ms with forty items."),
    ],
};

const CENTS: DemoSession = DemoSession {
    is_pi: true,
    session: "d1e85f02-3c94-4d77-a8b1-6f0e2b7c59d3",
    project: SHOP,
    branch: "main",
    title: "Prices as whole cents",
    model: "claude-sonnet-4-5",
    minutes_ago: 3 * MINUTES_PER_DAY + 75,
    cache_read_tokens: 31_000,
    steps: &[
        Prompt("Prices are floats. Let us use whole cents instead of floats, because sums must be exact."),
        ReadFile("/home/dev/shop/src/price.rs"),
        EditFile(
            "/home/dev/shop/src/price.rs",
            "pub type Price = f64;",
            "/// Whole cents, so that sums are exact.\n#[derive(Clone, Copy, PartialEq, Eq)]\npub struct Cents(pub i64);",
        ),
        FailedCommand(
            "cargo test",
            "error[E0308]: mismatched types: expected `Cents`, found `f64`\n --> src/tax.rs:19:5\n\nCommand exited with code 101",
        ),
        EditFile("/home/dev/shop/src/tax.rs", "    price * rate", "    Cents((price.0 as f64 * rate).round() as i64)"),
        RunCommand("cargo test", "test result: ok. 208 passed"),
        Reply("Prices are `Cents(i64)` everywhere but in discounts, which still count in fractions of a cent."),
        Prompt("Always write a test before you touch anything that counts money."),
        Reply("Noted; the discounts come with a test first."),
    ],
};

const TEMPLATES: DemoSession = DemoSession {
    is_pi: false,
    session: "e2f9a6b3-48d5-4e60-9c17-80b3d1f6a745",
    project: MAILER,
    branch: "main",
    title: "Mail templates in Markdown",
    model: "claude-opus-4-6",
    minutes_ago: 2 * MINUTES_PER_DAY + 20,
    cache_read_tokens: 38_000,
    steps: &[
        Prompt(
            "The mail templates are too hard to edit. Make them Markdown, and keep the old ones working for a while.",
        ),
        ReadFile("/home/dev/mailer/src/template.rs"),
        EditFile(
            "/home/dev/mailer/src/template.rs",
            "    let text = read(format!(\"{name}.html\"))?;",
            "    let text = match read(format!(\"{name}.md\")) {\n        Ok(markdown) => to_html(&markdown),\n        Err(_) => read(format!(\"{name}.html\"))?,\n    };",
        ),
        EditFile("/home/dev/mailer/templates/welcome.md", "<h1>Welcome</h1>", "# Welcome"),
        RunCommand("cargo test", "test result: ok. 57 passed"),
        Reply("`welcome.md` is the first. Old `.html` templates still work; the new ones take precedence."),
    ],
};

const LINKS: DemoSession = DemoSession {
    is_pi: true,
    session: "f3a07c94-59e6-4f81-8d28-91c4e2a7b856",
    project: SITE,
    branch: "main",
    title: "Broken links after the move",
    model: "claude-sonnet-4-5",
    minutes_ago: 4 * MINUTES_PER_DAY + 200,
    cache_read_tokens: 14_000,
    steps: &[
        Prompt("Some links in the docs lead nowhere since the pages moved. Find them all."),
        FailedCommand("npm run check-links", "14 broken links\n\nCommand exited with code 1"),
        EditFile("/home/dev/site/content/install.md", "[the guide](/guide/start/)", "[the guide](/docs/start/)"),
        EditFile(
            "/home/dev/site/content/upgrade.md",
            "[before you upgrade](/guide/backup/)",
            "[before you upgrade](/docs/backup/)",
        ),
        RunCommand("npm run check-links", "0 broken links"),
        Reply("All fourteen pointed at `/guide/`, which is `/docs/` now."),
    ],
};

const IMPORTS: DemoSession = DemoSession {
    is_pi: false,
    session: "04b18da5-6af7-4a92-9e39-a2d5f3b8c967",
    project: SHOP,
    branch: "main",
    title: "Split the stock module",
    model: "claude-sonnet-4-5",
    minutes_ago: 6 * MINUTES_PER_DAY + 300,
    cache_read_tokens: 52_000,
    steps: &[
        Prompt("stock.rs has become too long. Split what counts from what reserves."),
        ReadFile("/home/dev/shop/src/stock.rs"),
        EditFile(
            "/home/dev/shop/src/stock.rs",
            "pub fn reserve(id: ItemId, count: u32) -> Result<()> {",
            "// See `reserve.rs` for reservations.",
        ),
        EditFile(
            "/home/dev/shop/src/reserve.rs",
            "//! Reservations.",
            "//! Reservations: what is promised to a cart, but not sold yet.",
        ),
        FailedCommand("cargo test", "Exit code 101\nerror[E0432]: unresolved import `shop::stock::reserve`"),
        EditFile("/home/dev/shop/src/lib.rs", "mod stock;", "mod reserve;\nmod stock;"),
        RunCommand("cargo test", "test result: ok. 205 passed"),
        Reply("`stock.rs` counts, `reserve.rs` reserves. `lib.rs` names both."),
    ],
};

const STAGING: DemoSession = DemoSession {
    is_pi: true,
    session: "15c29eb6-7b08-4ba3-8f4a-b3e6a4c9da78",
    project: MAILER,
    branch: "main",
    title: "Staging sends nothing",
    model: "claude-sonnet-4-5",
    minutes_ago: 8 * MINUTES_PER_DAY + 90,
    cache_read_tokens: 17_000,
    steps: &[
        Prompt("Staging has sent no mail since Monday. Find out why."),
        FailedCommand("make send-test", "Error: connect ECONNREFUSED 10.0.4.2:2525\n\nCommand exited with code 2"),
        ReadFile("/home/dev/mailer/config/staging.toml"),
        EditFile("/home/dev/mailer/config/staging.toml", "port = 2525", "port = 2587\ntls = true"),
        RunCommand("make send-test", "250 2.0.0 Ok: queued"),
        Reply("The relay moved to port 2587 and wants TLS. Both are set in `config/staging.toml` now."),
    ],
};

/// All transcripts: path relative to the home directory, and content.
pub(super) fn transcripts(now: Timestamp) -> Vec<(String, String)> {
    SESSIONS
        .iter()
        .map(|session| if session.is_pi { pi_transcript(session, now) } else { claude_code_transcript(session, now) })
        .collect()
}

/// The time of a step.
fn step_time(session: &DemoSession, now: Timestamp, step: usize) -> Timestamp {
    let seconds = session.minutes_ago * 60 + (session.steps.len() - 1 - step) as i64 * STEP_SECONDS;
    Timestamp::from_millis(now.as_millis() - seconds * 1000)
}

/// What a tool returns for a file whose content does not matter.
fn file_text(path: &str) -> String {
    format!("{path}\n…\n")
}

fn project_folder(session: &DemoSession) -> String {
    session.project.replace('/', "-")
}

fn claude_code_transcript(session: &DemoSession, now: Timestamp) -> (String, String) {
    let mut log = claude_code::ClaudeCodeTranscript::new(session.session, session.project)
        .on_branch(session.branch)
        .with_model(session.model, session.cache_read_tokens);
    for (number, step) in session.steps.iter().enumerate() {
        let call = format!("toolu_{}{number:02}", &session.session[..8]);
        log.set_time(step_time(session, now, number));
        match step {
            Prompt(text) => log.user_message(text),
            Reply(text) => log.assistant_message(text),
            ReadFile(path) => {
                log.tool_call(&call, "Read", &json!({"file_path": path})).tool_success(&call, &file_text(path))
            }
            EditFile(path, old, new) => {
                let change = json!({"file_path": path, "old_string": old, "new_string": new});
                log.tool_call(&call, "Edit", &change).tool_success(&call, "The file has been updated.")
            }
            RunCommand(command, output) => {
                log.tool_call(&call, "Bash", &json!({"command": command})).tool_success(&call, output)
            }
            FailedCommand(command, output) => {
                log.tool_call(&call, "Bash", &json!({"command": command})).tool_error(&call, output)
            }
        };
        if number == 0 {
            log.title(session.title);
        }
    }
    (format!(".claude/projects/{}/{}.jsonl", project_folder(session), session.session), log.text())
}

fn pi_transcript(session: &DemoSession, now: Timestamp) -> (String, String) {
    let started = step_time(session, now, 0);
    let mut log =
        pi::PiTranscript::new(session.session, session.project, started).with_context_tokens(session.cache_read_tokens);
    log.session_name(session.title);
    for (number, step) in session.steps.iter().enumerate() {
        let call = format!("call_{number}");
        log.set_time(step_time(session, now, number));
        let mut done = |name: &str, arguments, output: &str, is_error| {
            log.tool_call(&call, name, &arguments);
            log.tool_result(&call, name, output, is_error);
        };
        match step {
            Prompt(text) => log.user_message(text),
            Reply(text) => log.assistant_message(text),
            ReadFile(path) => done("read", json!({"path": path}), &file_text(path), false),
            EditFile(path, old, new) => {
                done("edit", json!({"path": path, "oldText": old, "newText": new}), "Edited", false);
            }
            RunCommand(command, output) => done("bash", json!({"command": command}), output, false),
            FailedCommand(command, output) => done("bash", json!({"command": command}), output, true),
        }
    }
    let name = pi::file_name(started, session.session);
    (format!(".pi/agent/sessions/-{}--/{name}", project_folder(session)), log.text())
}
