//! The binary `rethread`: parses the command line, calls the engine, prints the result.

mod app;
mod cli;
mod commands;
mod completion;
mod demo;
mod environment;
mod export;
mod failure;
mod failure_kind;
mod json;
mod launch;
mod mcp;
mod pager;
mod printer;
mod render;
mod serve;
mod shared_store;
mod tui;
mod web;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    ExitCode::from(app::run(&arguments))
}
