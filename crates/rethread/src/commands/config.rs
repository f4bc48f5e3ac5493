//! `config`: settings, where they come from, and how to change them.

use rethread_engine::{Layer, Setting};

use super::{Context, Exit};
use crate::cli::Config;
use crate::failure::Failure;
use crate::json::Configured;
use crate::render::{Page, Side, Tone};

/// Shows or changes settings.
pub(crate) fn run(context: &Context, request: Config) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let config = engine.config();
    let mut page = context.printer.page();
    match request {
        Config::Show { json, .. } if json.json => {
            context.printer.json(&Configured::new(config.path(), config.settings()))?;
        }
        Config::Show { origin, .. } => table(&mut page, config.settings(), origin),
        Config::Get { key } => {
            page.line(Tone::Plain, &config.get(&key)?.value.to_string());
        }
        Config::Path => {
            page.line(Tone::Plain, &config.path().display().to_string());
        }
        Config::Set { key, value } => {
            config.set(&key, &value)?;
            context.printer.note_line(&format!("{key} is now {value}, in {}", config.path().display()));
        }
    }
    context.printer.answer(&page)?;
    Ok(Exit::Done)
}

fn table(page: &mut Page, settings: &[Setting], origin: bool) {
    let names = settings.iter().map(|setting| setting.key.name.len()).max().unwrap_or(0);
    let values = settings.iter().map(|setting| shown(setting).chars().count()).max().unwrap_or(0);
    for setting in settings {
        let tone = if setting.layer == Layer::Default { Tone::Plain } else { Tone::Strong };
        page.cell(Tone::Plain, setting.key.name, names, Side::Left).add(Tone::Plain, "  ");
        if origin {
            page.cell(tone, &shown(setting), values, Side::Left).add(Tone::Plain, "  ");
            page.add(Tone::Dim, &setting.layer.to_string());
        } else {
            page.add(tone, &shown(setting));
        }
        page.end();
    }
}

/// A value, or a sign that it is empty.
fn shown(setting: &Setting) -> String {
    let text = setting.value.to_string();
    if text.is_empty() { "–".to_owned() } else { text }
}
