//! A project with twenty sessions: decisions, fixes, causes and preferences among work that has nothing to do with them.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_engine::Engine;
use rethread_model::{EntityKind, Fact, FactState, Predicate, Timestamp};
use rethread_testing::{TestHome, TranscriptBuilder, confirmed_fact, with_object};
use serde_json::json;

/// The project of all sessions.
pub(crate) const PROJECT: &str = "/shop";
const NOW: &str = "2026-03-31T12:00:00Z";
const DAY_MILLIS: i64 = 86_400_000;

/// An engine at noon of the day after the last session.
pub(crate) fn engine(home: &TestHome) -> Engine {
    home.engine_at(NOW.parse().unwrap())
}

/// A home with all sessions, synced.
pub(crate) fn project_home() -> TestHome {
    let home = TestHome::new();
    let sessions = [
        catalog(),
        rollback(),
        timeout(),
        expiry(),
        client(),
        rules(),
        type_error(),
        worker(),
        images(),
        packages(),
        webhooks(),
        flaky(),
        storage(),
        search(),
    ];
    for (number, session) in (1..).zip(sessions) {
        write(&home, number, session);
    }
    for (number, (asked, answered)) in (15..).zip(NOISE) {
        write(&home, number, day(30 - number).user(asked).assistant(answered));
    }
    write(&home, 20, last());
    home.sync();
    store_causes(&home);
    home
}

fn id(number: i64) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

fn write(home: &TestHome, number: i64, session: TranscriptBuilder) {
    // The builder was made before its number was known.
    let text = session.build().replace("SESSION", &id(number));
    home.write(&format!(".claude/projects/-shop/{}.jsonl", id(number)), text);
}

/// A session that began this many days and an hour before now.
fn day(days: i64) -> TranscriptBuilder {
    let now: Timestamp = NOW.parse().unwrap();
    let start = Timestamp::from_millis(now.as_millis() - days * DAY_MILLIS - 3_600_000);
    TranscriptBuilder::new("SESSION").cwd(PROJECT).times(start, 30)
}

fn change(session: TranscriptBuilder, call: &str, path: &str, old: &str, new: &str) -> TranscriptBuilder {
    let call = format!("toolu_SESSION-{call}");
    let input = json!({"file_path": format!("{PROJECT}/{path}"), "old_string": old, "new_string": new});
    session.tool_call(&call, "Edit", &input).tool_result(&call, "done", false)
}

fn catalog() -> TranscriptBuilder {
    day(28)
        .user("the product list is slow, please add a cache")
        .assistant("I suggest Redis with ioredis in front of the catalog query.")
        .user("no redis here: we run on serverless functions, and every invocation would open a connection")
        .assistant("Understood. I will keep a small in-memory cache per function and let the CDN do the rest.")
}

fn rollback() -> TranscriptBuilder {
    let session = day(26).user("roll back the redis changes on the branch").command(
        "git revert --no-edit 4be21aa",
        "[main 91c0d1f] Revert \"Add redis session store\"",
        false,
    );
    session.assistant(
        "The Redis changes are rolled back. The client keeps a TCP connection open, which is incompatible with the \
         serverless runtime, so the session store stays in the database.",
    )
}

fn timeout() -> TranscriptBuilder {
    let failed = "Error: connection timeout to database after 5000ms\n    at Pool.connect (src/db.ts:12)";
    let session = day(24).user("the tests cannot reach the database").command("npm test", failed, true);
    let session = change(session, "a", "src/db.ts", "connectTimeout: 5000", "connectTimeout: 9000");
    let session = session.command("npm test", failed, true).assistant(
        "The connection timeout to the database is not about the time itself: the pool is exhausted, because it only \
         has 5 connections.",
    );
    let session = change(session, "b", "src/db.ts", "max: 5", "max: 20");
    session
        .command("npm test", "42 passing", false)
        .assistant("Raising the pool size from 5 to 20 connections fixed the database connection timeout.")
}

fn expiry() -> TranscriptBuilder {
    let failed = "AssertionError: expected 401 to equal 200: token expired";
    let session = day(20)
        .user("users are logged out right after signing in, find the JWT bug")
        .command("npm run test:auth", failed, true)
        .assistant("The JWT bug is caused by expiry being 0: `expiresIn` falls back to 0 when JWT_TTL is not set.");
    let session = change(session, "a", "src/auth/token.ts", "expiresIn: ttl ?? 0", "expiresIn: ttl ?? 3600");
    session.command("npm run test:auth", "8 passing", false).assistant("Tokens now last an hour, and sign-in works.")
}

fn client() -> TranscriptBuilder {
    let session = day(19).user("add a client for the shipping API").assistant("I will use axios for the requests.");
    session
        .user("don't use axios, use ky: it is smaller and works in workers")
        .assistant("Switched the shipping client to ky.")
}

fn rules() -> TranscriptBuilder {
    day(18)
        .user("always run the linter before you commit")
        .assistant("I will run the linter before every commit.")
        .user("never push to main, open a pull request instead")
        .assistant("I will open pull requests and never push to main.")
        .user("I prefer short commit messages, one line is enough")
        .assistant("Commit messages will be one line.")
        .user("no em dashes in the docs please")
        .assistant("I will not use em dashes in the docs.")
        .user("use vitest for tests, not jest")
        .assistant("Tests will use vitest.")
}

fn type_error() -> TranscriptBuilder {
    let failed =
        "src/cart.ts(14,22): error TS2345: Argument of type 'string' is not assignable to parameter of type 'Money'.";
    let session = day(17).user("the build is broken").command("npm run build", failed, true);
    let session = change(session, "a", "src/cart.ts", "addItem(price)", "addItem(Money.parse(price))");
    session
        .command("npm run build", "built in 2.1s", false)
        .assistant("The build passes: prices are now parsed with Money.parse before they are added to the cart.")
}

fn worker() -> TranscriptBuilder {
    day(16)
        .user("what does the mail worker need to run in staging?")
        .assistant("The mail worker needs Node 20 and the variable SMTP_URL; without SMTP_URL it exits at once.")
        .user("good, write that into the readme")
        .assistant("Documented in README.md.")
}

fn images() -> TranscriptBuilder {
    let failed = "Error: Error loading shared library ld-linux-x86-64.so.2 (needed by sharp)";
    day(15)
        .user("the thumbnail image build fails on alpine")
        .command("docker build .", failed, true)
        .assistant("sharp doesn't work with the alpine base image, because the prebuilt binary needs glibc.")
        .user("then take debian slim")
        .command("docker build .", "naming to docker.io/library/thumbs done", false)
        .assistant("The image is based on debian slim now and sharp loads.")
}

fn packages() -> TranscriptBuilder {
    day(14)
        .user("validate the webhook payloads")
        .command("npm install zod", "added 1 package", false)
        .assistant("Added zod and schemas for all webhook payloads.")
        .command("git commit -am 'Upgrade node to 22'", "[main 5d1f0aa] Upgrade node to 22", false)
        .assistant("Node is upgraded to 22 in CI and in the Dockerfile.")
}

fn webhooks() -> TranscriptBuilder {
    let session = day(12).user("stripe webhooks answer 400 since yesterday, why?").assistant(
        "The Stripe signature check fails because express.json() parses the body before the webhook route sees the \
         raw bytes.",
    );
    let session = change(session, "a", "src/webhooks/stripe.ts", "express.json()", "express.raw()");
    session.assistant("The webhook route uses express.raw() now, and the signature is valid again.")
}

fn flaky() -> TranscriptBuilder {
    let session = day(10).user("the invoice test is flaky on CI").assistant(
        "The invoice test fails on CI at night because the runner is in UTC and the due date is computed in local time.",
    );
    let session = change(session, "a", "src/invoice.ts", "new Date()", "startOfDayUtc()");
    session.assistant("Due dates are computed in UTC now; the invoice test passed fifty times in a row.")
}

fn storage() -> TranscriptBuilder {
    day(8)
        .user("where should product images go?")
        .assistant("Both S3 and R2 would work.")
        .user("let's go with R2 instead of S3 because egress is free")
        .assistant("Product images go to R2.")
}

fn search() -> TranscriptBuilder {
    day(7)
        .user("we need product search")
        .assistant("I propose Elasticsearch for the product search.")
        .user("I decided to use postgres full text search instead of elasticsearch, one service less to run")
        .assistant("Product search uses Postgres full text search with a tsvector column.")
}

const NOISE: [(&str, &str); 5] = [
    ("make the footer sticky", "The footer is sticky and keeps its height on small screens."),
    ("translate the checkout page to Dutch", "All strings of the checkout page are translated."),
    ("rename the helper in utils", "Renamed formatCents to formatMoney everywhere."),
    ("the hero picture is too large on phones", "The hero picture has three sizes now."),
    ("write a changelog for the release", "The changelog lists twelve changes."),
];

fn last() -> TranscriptBuilder {
    let session = day(1).user("continue the authentication with JWT: add refresh tokens");
    let session = change(session, "a", "src/auth/refresh.ts", "// empty", "export function refresh() {}");
    let session =
        session.command("npm run test:auth", "AssertionError: logout does not revoke the refresh token", true);
    session.assistant(
        "Authentication with JWT now has refresh tokens; sign-in and refresh work.\n\nStill open:\n1. Revoke the \
         refresh token on logout\n2. Rotate the signing key",
    )
}

/// Causes and requirements as facts.
fn store_causes(home: &TestHome) {
    let at = |number: i64| {
        let now: Timestamp = NOW.parse().unwrap();
        Timestamp::from_millis(now.as_millis() - number * DAY_MILLIS).to_string()
    };
    let cause = |days: i64, relation, subject: &str, object: &str, detail: &str| -> Fact {
        let fact = confirmed_fact(&at(days), relation, (EntityKind::Topic, subject), detail);
        with_object(fact, EntityKind::Topic, object)
    };
    let expiry = cause(20, Predicate::CausedBy, "JWT bug", "expiry 0", "The JWT bug is caused by expiry being 0");
    let node = cause(16, Predicate::Requires, "mail worker", "Node 20", "The mail worker needs Node 20 and SMTP_URL");
    let alpine = Fact {
        state: FactState::Hypothesis,
        ..cause(15, Predicate::ConflictsWith, "sharp", "alpine", "sharp doesn't work with the alpine base image")
    };
    for (number, fact) in [(4, expiry), (8, node), (9, alpine)] {
        let session = home.engine().sessions().resolve(&id(number)).unwrap().session.id;
        let mut kept: Vec<Fact> = Vec::new();
        let rows = home.store().facts(&rethread_store::FactQuery { session: Some(session), ..Default::default() });
        let first = rows.unwrap().into_iter().filter(|row| row.episode == 1).map(|row| row.fact);
        kept.extend(first.filter(|known| known.predicate != fact.predicate));
        kept.push(fact);
        home.store_facts(session, 0, &kept);
    }
}
