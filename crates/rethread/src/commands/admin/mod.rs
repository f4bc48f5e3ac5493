//! `admin …`: manages spaces, members and tokens, shows the audit, sets the retention. Every change is in the audit.

mod distribute;
mod member;

use rethread_engine::{AuditFilter, AuthorizedSpace, Engine};

use super::{CommandContext, Exit};
use crate::cli::JsonArgs;
use crate::cli::admin::{
    AdminArgs, AdminAuditArgs, AdminCommand, AdminRetentionArgs, AdminSpaceCommand, AdminTokenCommand,
};
use crate::cli::values::RetentionValue;
use crate::failure::Failure;
use crate::render;
use crate::{json, render::TextPage};

pub(crate) fn run(context: &CommandContext, command: &AdminCommand) -> Result<Exit, Failure> {
    match command {
        AdminCommand::Space(AdminSpaceCommand::New { name, json }) => {
            context.engine()?.members().create_space(name.clone())?;
            confirm(context, *json, "created", name.as_str(), &format!("Created the space \"{name}\"."))
        }
        AdminCommand::Space(AdminSpaceCommand::List(json)) => list_spaces(context, *json),
        AdminCommand::Member(command) => member::run(context, command),
        AdminCommand::Token(AdminTokenCommand::List(args)) => list_tokens(context, args),
        AdminCommand::Token(AdminTokenCommand::Revoke { id, admin }) => {
            let engine = engine(context, admin)?;
            engine.members().revoke_token(id)?;
            engine.members().record_command(format!("token revoke {id}"))?;
            confirm(context, admin.json, "revoked", id, &format!("Revoked the token {id}."))
        }
        AdminCommand::Audit(args) => audit(context, args),
        AdminCommand::Retention(args) => retention(context, args),
        AdminCommand::Distribute(args) => distribute::run(context, args),
    }
}

/// The engine in the space that was given.
fn engine(context: &CommandContext, args: &AdminArgs) -> Result<Engine, Failure> {
    let engine = context.engine()?;
    Ok(match &args.space {
        Some(space) => engine.with_space(AuthorizedSpace::operator(space.clone())),
        None => engine,
    })
}

fn list_spaces(context: &CommandContext, json: JsonArgs) -> Result<Exit, Failure> {
    let spaces = context.engine()?.members().spaces()?;
    if json.json {
        context.printer.json(&json::SpaceListJson::new(&spaces))?;
        return Ok(Exit::Done);
    }
    let page = |page: &mut TextPage| render::spaces(page, &spaces, &context.zone);
    print_list(context, spaces.is_empty(), "No spaces. Create one with `rethread admin space new NAME`.", page)
}

fn list_tokens(context: &CommandContext, args: &AdminArgs) -> Result<Exit, Failure> {
    let tokens = engine(context, args)?.members().tokens()?;
    let now = context.environment.clock.now();
    if args.json.json {
        context.printer.json(&json::TokenListJson::new(&tokens, now))?;
        return Ok(Exit::Done);
    }
    let page = |page: &mut TextPage| render::tokens(page, &tokens, now, &context.zone);
    print_list(context, tokens.is_empty(), "No tokens in this space.", page)
}

fn audit(context: &CommandContext, args: &AdminAuditArgs) -> Result<Exit, Failure> {
    let filter = AuditFilter {
        member: args.member.clone(),
        since: args.since.map(|since| since.before(context.environment.clock.now())),
        before: args.before,
        limit: u64::from(args.limit),
    };
    let rows = engine(context, &args.admin)?.members().audit(&filter)?;
    if args.admin.json.json {
        context.printer.json(&json::AuditJson::new(&rows))?;
        return Ok(Exit::Done);
    }
    print_list(context, rows.is_empty(), "No events.", |page| render::audit(page, &rows, &context.zone))
}

fn retention(context: &CommandContext, args: &AdminRetentionArgs) -> Result<Exit, Failure> {
    let engine = engine(context, &args.admin)?;
    let days = match args.days {
        None => engine.members().retention()?,
        Some(value) => {
            let days = match value {
                RetentionValue::Days(days) => Some(days),
                RetentionValue::Off => None,
            };
            engine.members().set_retention(days)?;
            let typed = days.map_or_else(|| "off".to_owned(), |days| days.to_string());
            engine.members().record_command(format!("retention {typed}"))?;
            days
        }
    };
    if args.admin.json.json {
        context.printer.json(&json::RetentionJson::new(days))?;
        return Ok(Exit::Done);
    }
    let text = days.map_or_else(|| "off".to_owned(), |days| render::count(days, "day"));
    context.printer.raw(format!("{text}\n").as_bytes())?;
    Ok(Exit::Done)
}

fn print_list(
    context: &CommandContext,
    is_empty: bool,
    message: &str,
    render: impl FnOnce(&mut TextPage),
) -> Result<Exit, Failure> {
    if is_empty {
        context.printer.note_line(message);
        return Ok(Exit::Nothing);
    }
    let mut page = context.printer.page();
    render(&mut page);
    context.printer.answer(&page)?;
    Ok(Exit::Done)
}

fn confirm(
    context: &CommandContext,
    json: JsonArgs,
    result: &'static str,
    name: &str,
    message: &str,
) -> Result<Exit, Failure> {
    if json.json {
        context.printer.json(&json::AdminResultJson::new(result, name))?;
    } else {
        context.printer.note_line(message);
    }
    Ok(Exit::Done)
}
