# Daily commands. Run `just` to list them.

_list:
    @just --list

# Run all checks before a commit.
check:
    .ci/run

# Run all tests, with the repository checks.
test *ARGS:
    cargo test --workspace --locked {{ARGS}}

# Format the code.
fmt:
    cargo fmt --all

# Fail if the code is not formatted.
fmt-check:
    cargo fmt --all --check

# Run clippy with warnings as errors.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Run a benchmark, for example `just bench ingest --save`.
bench *ARGS="ingest":
    scripts/bench {{ARGS}}

# Precision and recall of fact extraction, by kind, with every miss.
facts:
    cargo test -p rethread-ingest --locked --test labeled report -- --ignored --nocapture

# Show two sessions working side by side, in a temporary home.
demo:
    cargo run --release --locked -p rethread -- demo

# Check licenses, advisories and sources of dependencies; needs cargo-deny.
deny:
    cargo deny check
