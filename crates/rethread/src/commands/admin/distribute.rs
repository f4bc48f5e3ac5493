//! `admin distribute`: has Citus store each space on one node.

use rethread_engine::{CitusTable, DistributeError};

use crate::cli::admin::AdminDistributeArgs;
use crate::commands::{CommandContext, Exit};
use crate::failure::{Failure, FailureKind};
use crate::{json, render};

pub(super) fn run(context: &CommandContext, args: &AdminDistributeArgs) -> Result<Exit, Failure> {
    let Some(shared) = &context.environment.store else {
        let failure = Failure::new(FailureKind::Usage, "admin distribute needs --store: the local store is one file");
        return Err(failure.hint("run `rethread admin distribute --store postgres://USER@HOST/DATABASE`"));
    };
    let mut tables = Vec::new();
    let done = shared.location.distribute(args.dry_run, |table| {
        if !args.json.json && !args.dry_run && !table.was_placed {
            context.printer.note_line(&format!("distributed {}", table.name));
        }
        tables.push(table.clone());
    });
    done.map_err(failure)?;
    if args.json.json {
        context.printer.json(&json::DistributeJson::new(args.dry_run, &tables))?;
        return Ok(Exit::Done);
    }
    if args.dry_run {
        for table in tables.iter().filter(|table| !table.was_placed) {
            context.printer.raw(format!("{};\n", table.sql).as_bytes())?;
        }
    }
    context.printer.note_line(&summary(args.dry_run, &tables));
    Ok(Exit::Done)
}

fn summary(is_dry_run: bool, tables: &[CitusTable]) -> String {
    let before = tables.iter().filter(|table| table.was_placed).count();
    let count = render::count((tables.len() - before) as u64, "table");
    let verb = if is_dry_run { "Would distribute" } else { "Distributed" };
    if before == 0 { format!("{verb} {count}.") } else { format!("{verb} {count}; {before} were distributed already.") }
}

fn failure(error: DistributeError) -> Failure {
    let message = error.to_string();
    match error {
        DistributeError::Store(error) => rethread_engine::EngineError::from(error).into(),
        DistributeError::LocalFile(_) => Failure::new(FailureKind::Usage, message),
        DistributeError::NoCitus(_) => Failure::new(FailureKind::NotFound, message)
            .hint("run `CREATE EXTENSION citus` in the database of the coordinator; without Citus, nothing is to do"),
        DistributeError::NotPermitted { .. } => Failure::new(FailureKind::Usage, message)
            .hint("connect as the owner of the tables, with the right to call the functions of Citus"),
    }
}
