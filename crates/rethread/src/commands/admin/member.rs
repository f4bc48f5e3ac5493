//! `admin member …`: adds, lists, revokes members and rotates their tokens.

use rethread_engine::{MemberLimits, NewMember, NewToken, TokenRequest};

use super::{CommandContext, Exit, confirm, engine, print_list};
use crate::cli::admin::{
    AdminArgs, AdminMemberAddArgs, AdminMemberCommand, AdminMemberNameArgs, AdminMemberRotateArgs, AdminTokenTermsArgs,
};
use crate::failure::Failure;
use crate::{json, render};

pub(super) fn run(context: &CommandContext, command: &AdminMemberCommand) -> Result<Exit, Failure> {
    match command {
        AdminMemberCommand::Add(args) => add(context, args),
        AdminMemberCommand::List(args) => list(context, args),
        AdminMemberCommand::Revoke(args) => revoke(context, args),
        AdminMemberCommand::Rotate(args) => rotate(context, args),
    }
}

fn add(context: &CommandContext, args: &AdminMemberAddArgs) -> Result<Exit, Failure> {
    let engine = engine(context, &args.admin)?;
    let limits = MemberLimits {
        requests_per_minute: args.requests_per_minute,
        max_body_bytes: args.max_body_bytes,
        max_bytes_per_day: args.max_bytes_per_day,
    };
    let new = NewMember { name: args.name.clone(), role: args.role, limits, token: token_request(&args.terms) };
    let token = engine.members().add_member(&new)?;
    engine.members().record_command(format!("member add {} --role {}", new.name, new.role))?;
    print_token(context, &args.admin, &token, &format!("Added {} as {}.", new.name, new.role))
}

fn list(context: &CommandContext, args: &AdminArgs) -> Result<Exit, Failure> {
    let members = engine(context, args)?.members().list()?;
    if args.json.json {
        context.printer.json(&json::MemberListJson::new(&members))?;
        return Ok(Exit::Done);
    }
    let message = "No members. Add one with `rethread admin member add NAME --role ROLE`.";
    print_list(context, members.is_empty(), message, |page| render::members(page, &members, &context.zone))
}

fn revoke(context: &CommandContext, args: &AdminMemberNameArgs) -> Result<Exit, Failure> {
    let engine = engine(context, &args.admin)?;
    let tokens = engine.members().revoke(&args.name)?;
    engine.members().record_command(format!("member revoke {}", args.name))?;
    let message = format!("Revoked {} and {}.", args.name, render::count(tokens, "token"));
    confirm(context, args.admin.json, "revoked", args.name.as_str(), &message)
}

fn rotate(context: &CommandContext, args: &AdminMemberRotateArgs) -> Result<Exit, Failure> {
    let engine = engine(context, &args.admin)?;
    let token = engine.members().rotate(&args.name, token_request(&args.terms), args.grace)?;
    engine.members().record_command(format!("member rotate {}", args.name))?;
    let old = match args.grace {
        0 => "Old tokens no longer work.".to_owned(),
        minutes => format!("Old tokens work for {} more.", render::count(minutes, "minute")),
    };
    print_token(context, &args.admin, &token, &old)
}

/// Only the token goes to stdout, so that it can be piped.
fn print_token(context: &CommandContext, args: &AdminArgs, token: &NewToken, message: &str) -> Result<Exit, Failure> {
    if args.json.json {
        context.printer.json(&json::NewTokenJson::new(token))?;
        return Ok(Exit::Done);
    }
    context.printer.note_line(message);
    context.printer.note_line("Store this token now: it cannot be shown again.");
    context.printer.raw(format!("{}\n", token.text.reveal()).as_bytes())?;
    Ok(Exit::Done)
}

fn token_request(args: &AdminTokenTermsArgs) -> TokenRequest {
    TokenRequest { scope: args.scope, days: args.expires }
}
