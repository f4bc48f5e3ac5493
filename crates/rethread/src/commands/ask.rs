//! `ask` answers a question about a project or a session; `handoff` writes a note for continuing one elsewhere.

use rethread_engine::{AskError, AskRequest, Engine, SessionScope};

use super::{CommandContext, Exit, explain_empty, scope};
use crate::cli::ask::{AskArgs, HandoffArgs};
use crate::failure::{Failure, FailureKind};
use crate::{json, render};

pub(crate) fn run(context: &CommandContext, args: &AskArgs) -> Result<Exit, Failure> {
    let engine = context.engine()?;
    let is_unquoted = is_unquoted(args);
    let is_of_project = args.question.is_empty()
        || is_unquoted && opens_question(&args.first) && !is_name_of_session(&engine, &args.first);
    let (reference, question) = if is_of_project {
        let words: Vec<&str> = std::iter::once(&args.first).chain(&args.question).map(String::as_str).collect();
        (String::new(), words.join(" "))
    } else {
        (args.first.clone(), args.question.join(" "))
    };
    let request = AskRequest {
        reference,
        question,
        model: args.model.clone(),
        skip_model: args.no_model,
        asker: None,
        turn: args.turn.clone(),
        max_bytes: None,
        timeout: None,
        is_read_only: false,
    };
    if is_of_project {
        return ask_project(context, &engine, args, &request);
    }
    let with_hint = |error: AskError| {
        let failure = Failure::from(error);
        let is_unknown = failure.kind == FailureKind::UnknownReference && is_unquoted;
        if is_unknown {
            failure.hint(format!(
                "to ask about this project, quote the question: rethread ask \"{} {}\"",
                args.first,
                args.question.join(" ")
            ))
        } else {
            failure
        }
    };
    if args.dry_run {
        let plan = engine.questions().plan(&request).map_err(with_hint)?;
        if args.json.json {
            context.printer.json(&json::AskPlanJson::new(&plan))?;
        } else {
            let mut page = context.printer.page();
            render::ask_plan(&mut page, &plan);
            context.printer.answer(&page)?;
        }
        return Ok(Exit::Done);
    }
    let report = engine.questions().ask(&request).map_err(with_hint)?;
    let is_found = !(report.answer.is_extractive && report.answer.citations.is_empty());
    if args.json.json {
        context.printer.json(&json::AnswerJson::new(&report))?;
    } else {
        let mut page = context.printer.page();
        render::answer(&mut page, &report);
        context.printer.answer(&page)?;
        context.printer.note_line(&format!("\n{}", render::model_and_cost(&report)));
        if let Some(first) = report.answer.citations.first() {
            context.printer.hint(&format!("rethread show {}", report.listed.session.citation(first.line)));
        }
    }
    Ok(if is_found { Exit::Done } else { Exit::Nothing })
}

/// Whether a question of several words was typed without quotes, so that its first word stands where REF does.
fn is_unquoted(args: &AskArgs) -> bool {
    !args.question.is_empty()
        && std::iter::once(&args.first).chain(&args.question).all(|word| !word.contains(char::is_whitespace))
}

/// Whether a word opens a question, so that it is hardly the name of a session.
fn opens_question(word: &str) -> bool {
    const WORDS: [&str; 26] = [
        "are", "can", "could", "did", "do", "does", "has", "have", "how", "how's", "is", "may", "remind", "shall",
        "should", "was", "were", "what", "what's", "when", "where", "which", "who", "whats", "why", "would",
    ];
    WORDS.contains(&word.to_lowercase().replace('’', "'").as_str())
}

/// Answers a question about all sessions in scope.
fn ask_project(
    context: &CommandContext,
    engine: &Engine,
    args: &AskArgs,
    request: &AskRequest,
) -> Result<Exit, Failure> {
    let scope = scope(context, engine, &args.scope)?;
    if args.dry_run {
        let plan = engine.questions().plan_project(request, &scope)?;
        if args.json.json {
            context.printer.json(&json::ProjectAskPlanJson::new(&plan))?;
        } else {
            let mut page = context.printer.page();
            render::project_ask_plan(&mut page, &plan);
            context.printer.answer(&page)?;
        }
        return Ok(Exit::Done);
    }
    let answered = engine.questions().ask_project(request, &scope)?;
    if args.json.json {
        context.printer.json(&json::ProjectAnswerJson::new(&answered))?;
    } else if !answered.answer.is_empty() {
        let mut page = context.printer.page();
        render::project_answer(&mut page, &answered);
        context.printer.answer(&page)?;
        context.printer.note_line(&format!("\n{}", render::project_model_and_cost(&answered)));
    }
    if args.question.is_empty() && is_name_of_session(engine, &args.first) {
        context.printer.hint(&format!("to ask about that session: rethread ask '{}' QUESTION", args.first));
    }
    if !answered.answer.is_empty() {
        return Ok(Exit::Done);
    }
    let is_elsewhere = || {
        let everywhere = AskRequest { skip_model: true, ..request.clone() };
        Ok(!engine.questions().ask_project(&everywhere, &SessionScope::AllProjects)?.answer.is_empty())
    };
    explain_empty(context, engine, &scope, "Nothing is known about that.", is_elsewhere)?;
    Ok(Exit::Nothing)
}

/// Whether a text is the whole name, alias or id of a session, so that the question is probably missing.
fn is_name_of_session(engine: &Engine, text: &str) -> bool {
    let Ok(listed) = engine.sessions().resolve(text) else { return false };
    let session = listed.session;
    let names = [session.name, session.alias, Some(session.id.to_string()), Some(session.external_id)];
    let is_part_of_id = text.len() >= 4 && !text.contains(' ') && text.chars().any(|c| c.is_ascii_digit());
    names.into_iter().flatten().any(|name| {
        name.eq_ignore_ascii_case(text) || is_part_of_id && (name.starts_with(text) || name.ends_with(text))
    })
}

pub(crate) fn handoff(context: &CommandContext, args: &HandoffArgs) -> Result<Exit, Failure> {
    let handoff = context.engine()?.questions().handoff(&args.session.reference)?;
    if args.json.json {
        context.printer.json(&json::HandoffJson::new(&handoff))?;
    } else {
        let mut page = context.printer.page();
        page.add(render::Tone::Plain, &handoff.text);
        context.printer.answer(&page)?;
    }
    Ok(Exit::Done)
}
