//! What the agents of the demo did before: days of work in three projects, for a memory that has something to tell.
//!
//! The scene itself does without it. Whoever wants to look at the page with more in it has it written beside the scene.

use rethread_model::Timestamp;
use serde_json::json;

use super::{claude_code, pi};

/// One session, told as steps.
struct Story {
    is_pi: bool,
    session: &'static str,
    project: &'static str,
    branch: &'static str,
    title: &'static str,
    model: &'static str,
    /// How long ago it ended.
    minutes_ago: i64,
    /// Tokens of the context its messages read.
    context: u64,
    steps: &'static [Step],
}

/// What happens next.
enum Step {
    Asked(&'static str),
    Said(&'static str),
    Read(&'static str),
    Edited(&'static str),
    Ran(&'static str, &'static str),
    Failed(&'static str, &'static str),
}

use Step::{Asked, Edited, Failed, Ran, Read, Said};

/// Between two steps.
const STEP_SECONDS: i64 = 47;
const DAY: i64 = 24 * 60;
const SHOP: &str = "/home/dev/shop";
const MAILER: &str = "/home/dev/mailer";
const SITE: &str = "/home/dev/site";

const STORIES: [Story; 8] = [BOUNCES, DARK_DOCS, CHECKOUT, CENTS, TEMPLATES, LINKS, IMPORTS, STAGING];

const BOUNCES: Story = Story {
    is_pi: false,
    session: "a13f5c70-52d4-4c0e-9f18-7be0c2d94a61",
    project: MAILER,
    branch: "retry-bounces",
    title: "Retry bounced mails with a backoff",
    model: "claude-opus-4-6",
    minutes_ago: 42,
    context: 46_000,
    steps: &[
        Asked("Mails that bounce with a 4xx are dropped. Try them again, with a growing pause, at most six times."),
        Read("/home/dev/mailer/src/queue.rs"),
        Said("The queue forgets a mail as soon as it was handed over. I'll keep it until the server took it."),
        Edited("/home/dev/mailer/src/queue.rs"),
        Failed(
            "cargo test queue",
            "Exit code 101\nthread 'queue::tests::a_bounce_is_tried_again' panicked: no such column: attempts",
        ),
        Edited("/home/dev/mailer/migrations/0007-attempts.sql"),
        Ran("cargo test queue", "running 11 tests\n...........\ntest result: ok. 11 passed"),
        Said(
            "A bounced mail waits 1, 2, 4, 8, 16 and 32 minutes. After the sixth time it goes to `failed/`, with the answer of the server beside it.",
        ),
        Asked(
            "We use exponential backoff with jitter instead of fixed steps, because all workers would wake up at once.",
        ),
        Edited("/home/dev/mailer/src/backoff.rs"),
        Ran("cargo test", "test result: ok. 64 passed"),
        Said(
            "Each pause is now stretched by up to a quarter, drawn anew every time:\n\n```rust\n\
             let pause = base * 2u32.pow(attempt);\npause + pause.mul_f64(random::<f64>() / 4.0)\n```\n\n\
             What is left: the number of attempts is still a constant.",
        ),
    ],
};

const DARK_DOCS: Story = Story {
    is_pi: false,
    session: "b7c2e9d4-0a6b-4b53-8a3e-91f5d7c80e12",
    project: SITE,
    branch: "main",
    title: "Dark mode for the docs",
    model: "claude-sonnet-4-5",
    minutes_ago: 3 * 60,
    context: 21_000,
    steps: &[
        Asked("The docs need a dark mode. Follow the system, no switch."),
        Read("/home/dev/site/assets/site.css"),
        Edited("/home/dev/site/assets/site.css"),
        Ran("npm run build", "built 84 pages in 2.1s"),
        Said("Done with `color-scheme` and eleven variables. Code samples keep their own colours."),
    ],
};

const CHECKOUT: Story = Story {
    is_pi: false,
    session: "c90d3b18-77e1-4f29-b6d0-5a2c4e8f1937",
    project: SHOP,
    branch: "fast-checkout",
    title: "Make the checkout page fast again",
    model: "claude-opus-4-6",
    minutes_ago: DAY + 130,
    context: 88_000,
    steps: &[
        Asked("The checkout takes four seconds with forty items in the cart. It was fast in spring."),
        Read("/home/dev/shop/src/checkout.rs"),
        Ran("cargo run --release --bin profile", "checkout: 41 queries, 3.9 s"),
        Said(
            "One query for each item, since stock is looked up when the line is drawn. One for all of them is enough.",
        ),
        Edited("/home/dev/shop/src/checkout.rs"),
        Edited("/home/dev/shop/src/stock.rs"),
        Failed("cargo test", "Exit code 101\nerror[E0432]: unresolved import `shop::stock::levels`"),
        Edited("/home/dev/shop/src/stock.rs"),
        Ran("cargo test", "test result: ok. 212 passed"),
        Ran(
            "git commit -am 'Look up stock once for the whole cart'",
            "[fast-checkout 4b1c9e2] Look up stock once for the whole cart",
        ),
        Said("Two queries instead of 41; the page takes 180 ms with forty items."),
    ],
};

const CENTS: Story = Story {
    is_pi: true,
    session: "d1e85f02-3c94-4d77-a8b1-6f0e2b7c59d3",
    project: SHOP,
    branch: "main",
    title: "Prices as whole cents",
    model: "claude-sonnet-4-5",
    minutes_ago: 3 * DAY + 75,
    context: 31_000,
    steps: &[
        Asked("Prices are floats. Let us use whole cents instead of floats, because sums must be exact."),
        Read("/home/dev/shop/src/price.rs"),
        Edited("/home/dev/shop/src/price.rs"),
        Failed(
            "cargo test",
            "error[E0308]: mismatched types: expected `Cents`, found `f64`\n --> src/tax.rs:19:5\n\nCommand exited with code 101",
        ),
        Edited("/home/dev/shop/src/tax.rs"),
        Ran("cargo test", "test result: ok. 208 passed"),
        Said("Prices are `Cents(i64)` everywhere but in discounts, which still count in fractions of a cent."),
        Asked("Always write a test before you touch anything that counts money."),
        Said("Noted; the discounts come with a test first."),
    ],
};

const TEMPLATES: Story = Story {
    is_pi: false,
    session: "e2f9a6b3-48d5-4e60-9c17-80b3d1f6a745",
    project: MAILER,
    branch: "main",
    title: "Mail templates in Markdown",
    model: "claude-opus-4-6",
    minutes_ago: 2 * DAY + 20,
    context: 38_000,
    steps: &[
        Asked("Nobody can edit the mail templates. Make them Markdown, and keep the old ones working for a while."),
        Read("/home/dev/mailer/src/template.rs"),
        Edited("/home/dev/mailer/src/template.rs"),
        Edited("/home/dev/mailer/templates/welcome.md"),
        Ran("cargo test", "test result: ok. 57 passed"),
        Said("`welcome.md` is the first. Old `.html` templates are still found, after the new ones."),
    ],
};

const LINKS: Story = Story {
    is_pi: true,
    session: "f3a07c94-59e6-4f81-8d28-91c4e2a7b856",
    project: SITE,
    branch: "main",
    title: "Broken links after the move",
    model: "claude-sonnet-4-5",
    minutes_ago: 4 * DAY + 200,
    context: 14_000,
    steps: &[
        Asked("Some links in the docs lead nowhere since the pages moved. Find them all."),
        Failed("npm run check-links", "14 broken links\n\nCommand exited with code 1"),
        Edited("/home/dev/site/content/install.md"),
        Edited("/home/dev/site/content/upgrade.md"),
        Ran("npm run check-links", "0 broken links"),
        Said("All fourteen pointed at `/guide/`, which is `/docs/` now."),
    ],
};

const IMPORTS: Story = Story {
    is_pi: false,
    session: "04b18da5-6af7-4a92-9e39-a2d5f3b8c967",
    project: SHOP,
    branch: "main",
    title: "Split the stock module",
    model: "claude-sonnet-4-5",
    minutes_ago: 6 * DAY + 300,
    context: 52_000,
    steps: &[
        Asked("stock.rs has become too long. Split what counts from what reserves."),
        Read("/home/dev/shop/src/stock.rs"),
        Edited("/home/dev/shop/src/stock.rs"),
        Edited("/home/dev/shop/src/reserve.rs"),
        Failed("cargo test", "Exit code 101\nerror[E0432]: unresolved import `shop::stock::reserve`"),
        Edited("/home/dev/shop/src/lib.rs"),
        Ran("cargo test", "test result: ok. 205 passed"),
        Said("`stock.rs` counts, `reserve.rs` reserves. `lib.rs` names both."),
    ],
};

const STAGING: Story = Story {
    is_pi: true,
    session: "15c29eb6-7b08-4ba3-8f4a-b3e6a4c9da78",
    project: MAILER,
    branch: "main",
    title: "Staging sends nothing",
    model: "claude-sonnet-4-5",
    minutes_ago: 8 * DAY + 90,
    context: 17_000,
    steps: &[
        Asked("Staging has sent no mail since Monday. Find out why."),
        Failed("make send-test", "Error: connect ECONNREFUSED 10.0.4.2:2525\n\nCommand exited with code 2"),
        Read("/home/dev/mailer/config/staging.toml"),
        Edited("/home/dev/mailer/config/staging.toml"),
        Ran("make send-test", "250 2.0.0 Ok: queued"),
        Said("The relay moved to port 2587 and wants TLS. Both stand in `config/staging.toml` now."),
    ],
};

/// All transcripts: paths below the home directory, and what they hold.
pub(super) fn files(now: Timestamp) -> Vec<(String, String)> {
    STORIES.iter().map(|story| if story.is_pi { by_pi(story, now) } else { by_claude_code(story, now) }).collect()
}

/// When a step was.
fn at(story: &Story, now: Timestamp, step: usize) -> Timestamp {
    let seconds = story.minutes_ago * 60 + (story.steps.len() - 1 - step) as i64 * STEP_SECONDS;
    Timestamp::from_millis(now.as_millis() - seconds * 1000)
}

fn folder(story: &Story) -> String {
    story.project.replace('/', "-")
}

fn by_claude_code(story: &Story, now: Timestamp) -> (String, String) {
    let mut log = claude_code::Log::new(story.session, story.project).on(story.branch).by(story.model, story.context);
    for (number, step) in story.steps.iter().enumerate() {
        let call = format!("toolu_{}{number:02}", &story.session[..8]);
        log.at(at(story, now, number));
        match step {
            Asked(text) => log.user(text),
            Said(text) => log.said(text),
            Read(path) => log.call(&call, "Read", &json!({"file_path": path})).worked(&call, &"…\n".repeat(120)),
            Edited(path) => {
                let change = json!({"file_path": path, "old_string": "…", "new_string": "…"});
                log.call(&call, "Edit", &change).worked(&call, "The file has been updated.")
            }
            Ran(command, output) => log.call(&call, "Bash", &json!({"command": command})).worked(&call, output),
            Failed(command, output) => log.call(&call, "Bash", &json!({"command": command})).failed(&call, output),
        };
        if number == 0 {
            log.title(story.title);
        }
    }
    (format!(".claude/projects/{}/{}.jsonl", folder(story), story.session), log.text())
}

fn by_pi(story: &Story, now: Timestamp) -> (String, String) {
    let started = at(story, now, 0);
    let mut log = pi::Log::new(story.session, story.project, started).reading(story.context);
    log.named(story.title);
    for (number, step) in story.steps.iter().enumerate() {
        let call = format!("call_{number}");
        log.at(at(story, now, number));
        let mut done = |name: &str, arguments, output: &str, is_error| {
            log.called(&call, name, &arguments);
            log.result(&call, name, output, is_error);
        };
        match step {
            Asked(text) => log.user(text),
            Said(text) => log.said(text),
            Read(path) => done("read", json!({"path": path}), &"…\n".repeat(90), false),
            Edited(path) => done("edit", json!({"path": path, "oldText": "…", "newText": "…"}), "Edited", false),
            Ran(command, output) => done("bash", json!({"command": command}), output, false),
            Failed(command, output) => done("bash", json!({"command": command}), output, true),
        }
    }
    let name = pi::file_name(started, story.session);
    (format!(".pi/agent/sessions/-{}--/{name}", folder(story)), log.text())
}
