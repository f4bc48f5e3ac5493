//! `completions` and `man`: made from the definition of the command line.

use std::io::{self, Write};

use clap::{Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::{Context, Exit};
use crate::cli::Cli;
use crate::failure::Failure;

/// Prints a completion script.
pub(crate) fn completions(context: &Context, shell: Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "rethread", &mut script);
    context.printer.raw(&script)?;
    Ok(Exit::Done)
}

/// Prints the manual page: the program first, then every command as a section.
pub(crate) fn man(context: &Context) -> Result<Exit, Failure> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    let main = Man::new(command.clone());
    main.render_title(&mut page)?;
    main.render_name_section(&mut page)?;
    main.render_synopsis_section(&mut page)?;
    main.render_description_section(&mut page)?;
    main.render_options_section(&mut page)?;
    for part in command.get_subcommands().filter(|part| !part.is_hide_set()) {
        chapter(part, &mut page)?;
    }
    let mut end = Vec::new();
    main.render_extra_section(&mut end)?;
    main.render_version_section(&mut end)?;
    page.extend(with_headings(&end, ".SH").into_bytes());
    context.printer.raw(&page)?;
    Ok(Exit::Done)
}

/// A command and the commands below it.
fn chapter(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    // What every command understands is told once, at the beginning.
    let own = command.clone().mut_args(|argument| {
        let shared = argument.is_global_set() || matches!(argument.get_id().as_str(), "help" | "version");
        argument.hide(shared)
    });
    let man = Man::new(own);
    let mut body = Vec::new();
    man.render_synopsis_section(&mut body)?;
    man.render_description_section(&mut body)?;
    if command.get_arguments().any(|argument| !argument.is_global_set() && argument.get_id() != "help") {
        man.render_options_section(&mut body)?;
    }
    man.render_extra_section(&mut body)?;
    writeln!(page, ".SH \"{}\"", name.to_uppercase())?;
    // Sections of a section are subsections.
    page.extend(with_headings(&body, ".SS").into_bytes());
    command.get_subcommands().filter(|part| !part.is_hide_set()).try_for_each(|part| chapter(part, page))
}

/// The text with headings of that level; what follows the help gets headings of its own.
fn with_headings(text: &[u8], heading: &str) -> String {
    String::from_utf8_lossy(text)
        .replace("\n.SH EXTRA\nExample:\n", "\n.SH EXAMPLE\n")
        .replace("\nExit codes: ", "\n.SH \"EXIT STATUS\"\n")
        .replace("\n.SH ", &format!("\n{heading} "))
}
