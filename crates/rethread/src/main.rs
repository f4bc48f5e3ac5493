//! The binary `rethread`: decodes the command line, calls the engine, prints what comes back.

mod app;
mod cli;
mod commands;
mod demo;
mod environment;
mod failure;
mod json;
mod printer;
mod render;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args_os().collect();
    ExitCode::from(app::run(&arguments))
}
