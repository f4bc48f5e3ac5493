//! `completions` and `man`: generated from the definition of the command line.

use std::io::{self, Write};

use clap::Command;
use clap_complete::Shell;
use clap_complete::env::Shells;
use clap_mangen::Man;

use super::{CommandContext, Exit};
use crate::cli;
use crate::cli::groups::grouped;
use crate::environment::COMPLETE_VARIABLE;
use crate::failure::Failure;

/// As users type it, and as the scripts call it.
const PROGRAM: &str = "rethread";

/// Prints the script that calls this program for every completion.
pub(crate) fn completions(context: &CommandContext, shell: Shell) -> Result<Exit, Failure> {
    context.printer.raw(&completion_script(&shell.to_string())?)?;
    Ok(Exit::Done)
}

/// The same as bytes, for a shell by its name.
pub(super) fn completion_script(shell: &str) -> io::Result<Vec<u8>> {
    let mut script = Vec::new();
    if let Some(completer) = Shells::builtins().completer(shell) {
        completer.write_registration(COMPLETE_VARIABLE, PROGRAM, PROGRAM, PROGRAM, &mut script)?;
    }
    Ok(script)
}

/// Prints one man page: the program first, then a section for each command.
pub(crate) fn man(context: &CommandContext) -> Result<Exit, Failure> {
    let mut command = cli::command().disable_help_subcommand(true);
    command.build();
    let mut page = Vec::new();
    let main = Man::new(command.clone());
    main.render_title(&mut page)?;
    main.render_name_section(&mut page)?;
    main.render_synopsis_section(&mut page)?;
    main.render_description_section(&mut page)?;
    commands_section(&command, &mut page)?;
    main.render_options_section(&mut page)?;
    for (_, verbs) in grouped(&command) {
        verbs.into_iter().try_for_each(|verb| command_section(verb, &mut page))?;
    }
    let mut end = Vec::new();
    main.render_extra_section(&mut end)?;
    main.render_version_section(&mut end)?;
    page.extend(with_headings(&end, ".SH").into_bytes());
    context.printer.raw(&page)?;
    Ok(Exit::Done)
}

/// All verbs with their short help, grouped as in `--help`.
fn commands_section(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    writeln!(page, ".SH COMMANDS")?;
    for (heading, verbs) in grouped(command) {
        writeln!(page, ".SS {heading}")?;
        for verb in verbs {
            let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
            writeln!(page, ".TP\n\\fB{}\\fR\n{}", verb.get_name(), about.replace('-', "\\-"))?;
        }
    }
    Ok(())
}

/// A command and the commands below it.
fn command_section(command: &Command, page: &mut Vec<u8>) -> io::Result<()> {
    let name = command.get_bin_name().unwrap_or(command.get_name()).to_owned();
    // Global options are documented once, at the beginning.
    let own = command.clone().mut_args(|argument| {
        let is_global = argument.is_global_set() || matches!(argument.get_id().as_str(), "help" | "version");
        argument.hide(is_global)
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
    // A section inside a section is a subsection.
    page.extend(with_headings(&body, ".SS").into_bytes());
    command.get_subcommands().filter(|part| !part.is_hide_set()).try_for_each(|part| command_section(part, page))
}

/// The text with headings of that level. Examples and exit codes, which clap calls EXTRA, get their own headings.
fn with_headings(text: &[u8], heading: &str) -> String {
    String::from_utf8_lossy(text)
        .replace("\n.SH EXTRA\nExamples:\n", "\n.SH EXAMPLES\n")
        .replace("\nExit codes:\n", "\n.SH \"EXIT STATUS\"\n")
        .replace("\n.SH ", &format!("\n{heading} "))
}
