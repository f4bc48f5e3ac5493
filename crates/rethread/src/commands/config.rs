//! `config`: shows settings with their origin, and changes them.

use rethread_engine::{Config, ConfigLayer, Setting};

use super::{CommandContext, Exit, config_edit};
use crate::cli::setup::ConfigCommand;
use crate::failure::Failure;
use crate::json::ConfigJson;
use crate::render::{CellAlign, TextPage, Tone};

/// Longer values are not cut, but do not push the origins of the others aside.
const MAX_VALUE_WIDTH: usize = 32;

pub(crate) fn run(context: &CommandContext, command: ConfigCommand) -> Result<Exit, Failure> {
    // An editor is needed most when the file is invalid.
    let is_edit = matches!(command, ConfigCommand::Edit);
    let engine = if is_edit { context.quiet_engine()? } else { context.engine()? };
    let config = engine.config();
    let mut page = context.printer.page();
    match command {
        ConfigCommand::Show { json, .. } if json.json => {
            context.printer.json(&ConfigJson::new(config.path(), config.entries()))?;
        }
        ConfigCommand::Show { origin, .. } => table(&mut page, config.entries(), origin),
        ConfigCommand::Get { key } => {
            page.line(Tone::Plain, &config.get(&key)?.value.to_string());
        }
        ConfigCommand::Path => {
            page.line(Tone::Plain, &config.path().display().to_string());
        }
        ConfigCommand::Edit => return config_edit::run(context, &engine),
        ConfigCommand::Unset { key } => {
            if !config.unset(&key)? {
                print_not_set(context, config, &key);
                return Ok(Exit::Nothing);
            }
            context.printer.note_line(&format!("removed {key} from {}", config.path().display()));
        }
        ConfigCommand::Set { key, value } => {
            config.set(&key, &value)?;
            context.printer.note_line(&format!("set {key} = {value} in {}", config.path().display()));
        }
    }
    context.printer.answer(&page)?;
    Ok(Exit::Done)
}

/// Says that a setting is not in the user's file, and where else it is set.
fn print_not_set(context: &CommandContext, config: &Config, key: &str) {
    context.printer.note_line(&format!("{key} is not set in {}", config.path().display()));
    if let Ok(Setting { layer: ConfigLayer::Project(path), .. }) = config.get(key) {
        context.printer.hint(&format!("it is set in {}", path.display()));
    }
}

fn table(page: &mut TextPage, settings: &[Setting], origin: bool) {
    let names = settings.iter().map(|setting| setting.key.name.len()).max().unwrap_or(0);
    let values = settings.iter().map(|setting| value_text(setting).chars().count()).max().unwrap_or(0);
    let values = values.min(MAX_VALUE_WIDTH);
    for setting in settings {
        let tone = if setting.layer == ConfigLayer::Default { Tone::Plain } else { Tone::Strong };
        page.cell(Tone::Plain, &setting.key.name, names, CellAlign::Left).add(Tone::Plain, "  ");
        if origin {
            page.cell(tone, &value_text(setting), values, CellAlign::Left).add(Tone::Plain, "  ");
            page.add(Tone::Dim, &setting.layer.to_string());
        } else {
            page.add(tone, &value_text(setting));
        }
        page.end_line();
    }
}

/// The value, or a dash if it is empty.
fn value_text(setting: &Setting) -> String {
    let text = setting.value.to_string();
    if text.is_empty() { "–".to_owned() } else { text }
}
