//! `shell`: what a shell needs to complete our commands and to open the picker of sessions with a key.

use super::manual::completion_script;
use super::{CommandContext, Exit};
use crate::cli::setup::{IntegratedShell, PickerKey, ShellArgs};
use crate::failure::Failure;

/// Where a script has the key.
const KEY_MARK: &str = "@KEY@";

impl IntegratedShell {
    /// Its name, the script that binds the key, and how it writes Alt-R and Ctrl-G.
    const fn row(self) -> (&'static str, &'static str, [&'static str; 2]) {
        match self {
            IntegratedShell::Bash => ("bash", include_str!("key.bash"), ["\\er", "\\C-g"]),
            IntegratedShell::Zsh => ("zsh", include_str!("key.zsh"), ["^[r", "^G"]),
            IntegratedShell::Fish => ("fish", include_str!("key.fish"), ["\\er", "\\cg"]),
            IntegratedShell::PowerShell => ("powershell", include_str!("key.ps1"), ["Alt+r", "Ctrl+g"]),
        }
    }

    /// What prepares completions, where the shell does not do so itself.
    const fn before_completions(self) -> &'static str {
        match self {
            IntegratedShell::Zsh => "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }\n",
            _ => "",
        }
    }
}

pub(crate) fn run(context: &CommandContext, args: &ShellArgs) -> Result<Exit, Failure> {
    let (name, script, [alt_r, ctrl_g]) = args.shell.row();
    let mut out = args.shell.before_completions().as_bytes().to_vec();
    out.extend(completion_script(name)?);
    let key = match args.key {
        PickerKey::AltR => Some(alt_r),
        PickerKey::CtrlG => Some(ctrl_g),
        PickerKey::None => None,
    };
    out.extend(key.map(|key| format!("\n{}", script.replace(KEY_MARK, key))).unwrap_or_default().into_bytes());
    context.printer.raw(&out)?;
    Ok(Exit::Done)
}
