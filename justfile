# The daily commands. `just` alone lists them.

_list:
    @just --list

# Everything that must hold before a commit.
check: fmt-check lint test

# All tests, the tidiness of the tree among them.
test *ARGS:
    cargo test --workspace --locked {{ARGS}}

# Format the code.
fmt:
    cargo fmt --all

# Fail where the code is not formatted.
fmt-check:
    cargo fmt --all --check

# Clippy, with every warning an error.
lint:
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Measure, for example `just bench ingest --save`.
bench *ARGS="ingest":
    scripts/bench {{ARGS}}

# How much of what the rules draw is true, by kind, with every miss.
facts:
    cargo test -p rethread-ingest --locked --test labelled report -- --ignored --nocapture

# Two sessions side by side, in a temporary home.
demo:
    cargo run --release --locked -p rethread -- demo

# Licences, advisories and sources of what we depend on; needs cargo-deny.
deny:
    cargo deny check
