//! Failures that must bring a known fix, and failures that look alike but must not.

#![expect(clippy::unwrap_used, reason = "a test that cannot be set up must stop")]

use rethread_model::Agent;
use rethread_testing::{TestHome, TranscriptBuilder};
use serde_json::json;

use crate::session_helpers::{at, engine, transcript};

/// What made a failed command succeed.
enum Step {
    Ran(&'static str),
    Edited(&'static str, &'static str, &'static str),
}
use Step::{Edited, Ran};

/// A command that failed, its output, what fixed it, and a word of the fix.
type Lesson = (&'static str, &'static str, Step, &'static str);

const LESSONS: &[Lesson] = &[
    ("python3 load.py", "ModuleNotFoundError: No module named 'yaml'", Ran("pip install pyyaml"), "pyyaml"),
    ("npm test", "Error: Cannot find module 'left-pad'", Ran("npm install left-pad"), "left-pad"),
    ("cargo build", "error: linker `cc` not found", Ran("apt-get install -y gcc"), "gcc"),
    (
        "npm run e2e",
        "Error: browserType.launch: Executable doesn't exist at /h/ms-playwright/x",
        Ran("npx playwright install"),
        "playwright install",
    ),
    ("python3 app.py", "sqlite3.OperationalError: no such table: shop_orders", Ran("python3 migrate.py"), "migrate.py"),
    (
        "go test ./db",
        "dial tcp 127.0.0.1:5432: connect: connection refused for pg_main",
        Ran("docker compose up -d"),
        "compose up",
    ),
    (
        "npx tsc --noEmit",
        "src/cart.ts(3,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
        Edited("/app/src/cart.ts", "add(id)", "add(Number(id))"),
        "Number(id)",
    ),
    (
        "npx tsc --noEmit",
        "src/view.ts(9,5): error TS2339: Property 'userName' does not exist on type 'User'.",
        Edited("/app/src/types.ts", "id: string", "id: string; userName: string"),
        "userName",
    ),
    (
        "npx tsc --noEmit",
        "src/env.ts(1,1): error TS2304: Cannot find name 'process'.",
        Ran("npm install -D @types/node"),
        "@types/node",
    ),
    (
        "cargo check",
        "error[E0277]: the trait bound `Lease: Clone` is not satisfied\n  --> src/lease.rs:4:5",
        Edited("/app/src/lease.rs", "derive(Debug)", "derive(Debug, Clone)"),
        "Clone",
    ),
    (
        "mypy .",
        "app/rate.py:7: error: Argument 1 to \"pay\" has incompatible type \"None\"; expected \"int\"  [arg-type]",
        Edited("/app/app/rate.py", "pay(x)", "pay(x or 0)"),
        "x or 0",
    ),
    (
        "python3 -m pytest",
        "tests/test_money.py:9: in test_cents\nE   AssertionError: assert 12 == 13",
        Edited("/app/src/money.py", "round(x)", "quantize(x)"),
        "quantize",
    ),
    (
        "npx vitest run",
        "AssertionError: expected false to be true\n ❯ src/lock.test.ts:9:3",
        Edited("/app/src/lock.ts", "held = 0", "held = 1"),
        "held",
    ),
    (
        "node server.mjs",
        "TypeError: Cannot read properties of undefined (reading 'map')\n    at list (/app/src/list.js:3:9)",
        Edited("/app/src/list.js", "rows.map", "(rows ?? []).map"),
        "rows ?? []",
    ),
    (
        "python3 report.py",
        "Traceback (most recent call last):\n  File \"/app/report.py\", line 3, in f\nAttributeError: 'NoneType' object has no attribute 'items'",
        Edited("/app/report.py", "x.items()", "(x or {}).items()"),
        "x or {}",
    ),
    (
        "npm test",
        "Error: timeout exceeded when trying to connect to 'pool_main'",
        Edited("/app/src/db.ts", "max: 5", "max: 20"),
        "max: 20",
    ),
    (
        "npm run build",
        "Error: error:0308010C:digital envelope routines::unsupported 'md4'",
        Edited("/app/package.json", "\"node\": \"16\"", "\"node\": \"20\""),
        "20",
    ),
    (
        "npx eslint .",
        "/app/src/tab.ts\n  3:7  error  'width' is assigned a value but never used  no-unused-vars",
        Edited("/app/src/tab.ts", "const width = 1;", ""),
        "width",
    ),
    (
        "go build ./...",
        "pay/pay.go:9:2: undefined: clockNow",
        Edited("/app/pay/clock.go", "package pay", "package pay\nfunc clockNow() int { return 1 }"),
        "clockNow",
    ),
    (
        "git push",
        "fatal: The current branch topic_a has no upstream branch.",
        Ran("git push --set-upstream origin topic_a"),
        "set-upstream",
    ),
];

/// A command that fails now, its output, and a word of the fix that must be injected.
const MUST_INJECT: &[(&str, &str, &str)] = &[
    (
        "python3 load.py",
        "Traceback (most recent call last):\n  File \"/app/load.py\", line 9, in g\nModuleNotFoundError: No module named 'yaml'",
        "pyyaml",
    ),
    ("python3 tools/dump.py", "ModuleNotFoundError: No module named 'yaml'", "pyyaml"),
    ("npm run test", "Error: Cannot find module 'left-pad'", "left-pad"),
    ("cargo test", "error: linker `cc` not found", "gcc"),
    (
        "npm run e2e -- --headed",
        "Error: browserType.launch: Executable doesn't exist at /h/ms-playwright/x",
        "playwright install",
    ),
    ("python3 app.py --fast", "sqlite3.OperationalError: no such table: shop_orders", "migrate.py"),
    ("go test ./...", "dial tcp 127.0.0.1:6543: connect: connection refused for pg_main", "compose up"),
    (
        "npx tsc --noEmit",
        "src/cart.ts(30,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
        "Number(id)",
    ),
    (
        "npm run typecheck",
        "src/menu.ts(2,5): error TS2339: Property 'userName' does not exist on type 'User'.",
        "userName",
    ),
    ("npx tsc --noEmit", "src/other.ts(8,1): error TS2304: Cannot find name 'process'.", "@types/node"),
    ("cargo test", "error[E0277]: the trait bound `Lease: Clone` is not satisfied\n  --> src/lease.rs:9:5", "Clone"),
    (
        "mypy app",
        "app/rate.py:9: error: Argument 1 to \"pay\" has incompatible type \"None\"; expected \"int\"  [arg-type]",
        "x or 0",
    ),
    ("python3 -m pytest", "tests/test_money.py:12: in test_cents\nE   AssertionError: assert 12 == 13", "quantize"),
    ("npx vitest run", "AssertionError: expected false to be true\n ❯ src/lock.test.ts:12:3", "held"),
    (
        "node server.mjs",
        "TypeError: Cannot read properties of undefined (reading 'map')\n    at list (/app/src/list.js:5:9)",
        "rows ?? []",
    ),
    (
        "python3 report.py",
        "Traceback (most recent call last):\n  File \"/app/report.py\", line 5, in f\nAttributeError: 'NoneType' object has no attribute 'items'",
        "x or {}",
    ),
    ("npm test", "Error: timeout exceeded when trying to connect to 'pool_main'\n    at src/api.ts:3:3", "max: 20"),
    ("npm run build", "Error: error:0308010C:digital envelope routines::unsupported 'md4'", "20"),
    (
        "npx eslint src",
        "/app/src/tab.ts\n  9:7  error  'width' is assigned a value but never used  no-unused-vars",
        "width",
    ),
    ("go test ./...", "ship/ship.go:4:2: undefined: clockNow", "clockNow"),
];

const MUST_NOT_INJECT: &[(&str, &str)] = &[
    ("python3 load.py", "ModuleNotFoundError: No module named 'toml'"),
    (
        "npx tsc --noEmit",
        "src/menu.ts(3,5): error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'.",
    ),
    ("npx tsc --noEmit", "error TS2345: Argument of type 'string' is not assignable to parameter of type 'number'."),
    ("npx tsc --noEmit", "src/view.ts(9,5): error TS2339: Property 'userAge' does not exist on type 'User'."),
    ("cargo check", "error[E0277]: the trait bound `Lease: Clone` is not satisfied\n  --> src/pool.rs:4:5"),
    (
        "mypy .",
        "app/tax.py:7: error: Argument 1 to \"pay\" has incompatible type \"None\"; expected \"int\"  [arg-type]",
    ),
    ("python3 -m pytest", "tests/test_tax.py:9: in test_rate\nE   AssertionError: assert 12 == 13"),
    ("npx vitest run", "AssertionError: expected false to be true\n ❯ src/menu.test.ts:9:3"),
    (
        "node other.mjs",
        "TypeError: Cannot read properties of undefined (reading 'map')\n    at draw (/app/src/draw.js:3:9)",
    ),
    (
        "python3 sum.py",
        "Traceback (most recent call last):\n  File \"/app/sum.py\", line 3, in f\nAttributeError: 'NoneType' object has no attribute 'items'",
    ),
    ("npx eslint .", "/app/src/bar.ts\n  3:7  error  'width' is assigned a value but never used  no-unused-vars"),
    ("go build ./...", "pay/pay.go:9:2: undefined: clockLater"),
    ("python3 app.py", "sqlite3.OperationalError: no such table: shop_carts"),
    ("npm test", "Error: timeout exceeded when trying to connect to 'pool_side'"),
];

fn home() -> TestHome {
    let home = TestHome::new();
    for (number, (command, output, step, _)) in LESSONS.iter().enumerate() {
        let session = format!("aaaa1011-0000-4000-8000-0000000001{number:02}");
        let mut script = TranscriptBuilder::new(&session).times(at(0), 60).user("make it work");
        script = script.command(command, &format!("Exit code 1\n{output}"), true);
        script = match step {
            Ran(fix) => script.command(fix, "done", false),
            Edited(file, old, new) => {
                let input = json!({"file_path": file, "old_string": old, "new_string": new});
                script.tool_call("toolu_fix", "Edit", &input).tool_result("toolu_fix", "done", false)
            }
        };
        home.write(&transcript(&session), script.command(command, "all fine", false).build());
    }
    home.sync();
    home
}

fn injection(home: &TestHome, number: usize, command: &str, output: &str) -> String {
    let event = json!({"session_id": format!("bbbb1011-0000-4000-8000-0000000002{number:02}"),
        "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": command},
        "error": format!("Exit code 1\n{output}"), "cwd": "/app"});
    let injected = engine(home, 600).hooks().handle(Agent::ClaudeCode, event.to_string().as_bytes()).unwrap();
    injected.map(|injected| injected.to_string()).unwrap_or_default()
}

#[test]
fn failures_bring_the_fix_of_the_same_error_and_nothing_else() {
    let home = home();
    let mut faults = Vec::new();
    for (number, (command, output, fix)) in MUST_INJECT.iter().enumerate() {
        let injected = injection(&home, number, command, output);
        if !injected.contains(&fix.replace('"', "\\\"")) {
            faults.push(format!("missing {fix}: {output} | {injected}"));
        }
    }
    for (number, (command, output)) in MUST_NOT_INJECT.iter().enumerate() {
        let injected = injection(&home, 50 + number, command, output);
        if !injected.is_empty() {
            faults.push(format!("wrong: {output} | {injected}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
