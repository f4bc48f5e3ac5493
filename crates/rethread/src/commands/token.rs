//! `token`: what programs must show to the server.

use super::{Context, Exit};
use crate::cli::serve::Token;
use crate::failure::Failure;
use crate::json;

/// Prints the token, after making a new one if that is wished.
pub(crate) fn run(context: &Context, request: &Token) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let token = if request.rotate { engine.rotate_token()? } else { engine.token()? };
    if request.json.json {
        context.printer.json(&json::Token::new(&token))?;
    } else {
        context.printer.raw(format!("{token}\n").as_bytes())?;
    }
    Ok(Exit::Done)
}
