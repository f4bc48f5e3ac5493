//! `token`: prints or rotates the API token.

use super::{CommandContext, Exit};
use crate::cli::serve::TokenArgs;
use crate::failure::Failure;
use crate::json;

pub(crate) fn run(context: &CommandContext, args: &TokenArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let token = if args.rotate { engine.server().rotate_token()? } else { engine.server().token()? };
    if args.json.json {
        context.printer.json(&json::ApiTokenJson::new(&token))?;
    } else {
        context.printer.raw(format!("{token}\n").as_bytes())?;
    }
    Ok(Exit::Done)
}
