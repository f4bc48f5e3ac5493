//! Questions across a project: the answer of `rethread ask QUESTION --no-model`, with links to its sources.
//!
//! Viewing a page costs nothing and changes nothing, so no model is asked here.

use maud::{Markup, html};
use rethread_engine::{AnswerSentence, AskRequest, SentenceSource, SourcePlace};
use rethread_model::clip;

use super::super::components::{OneLine, PageContext, empty_state, non_blank, nothing_synced};
use super::super::layout::{NavPage, WebPage};
use super::super::links::{link, to_line};
use super::super::markdown::markdown;
use super::super::viewer::Viewer;
use super::{MemoryPageParams, views};
use crate::failure::Failure;
use crate::render::number;
use crate::serve::{ApiError, ServerState};

/// Characters of a session's name in a citation.
const MAX_NAME_CHARS: usize = 64;
/// Questions that show what can be asked.
const EXAMPLES: [&str; 5] = [
    "what were we working on?",
    "which database do we use?",
    "why did we avoid redis?",
    "how did we fix the timeout?",
    "when did we upgrade node?",
];

/// The form for a question, and its answer.
pub(in super::super) fn page(app: &Viewer<'_>, params: &MemoryPageParams) -> Result<WebPage, ApiError> {
    let (question, project) = (params.query(), non_blank(params.project.as_ref()));
    let views = views(app, "/memory/ask", non_blank(params.q.as_ref()), project, "Ask a question")?;
    let body = html! {
        h1.sr { "Ask" }
        (views)
        @if question.is_empty() { (examples(app, project)?) } @else { (answer(app, params)?) }
    };
    let title = if question.is_empty() { "Ask".to_owned() } else { format!("{question} · Ask") };
    Ok(WebPage::new(title, NavPage::Memory, body))
}

fn examples(app: &ServerState, project: Option<&str>) -> Result<Markup, ApiError> {
    if app.engine.sessions().projects()?.is_empty() {
        return Ok(nothing_synced());
    }
    Ok(html! {
        div.ways {
            h2 { "Questions across a project" }
            ul {
                @for example in EXAMPLES {
                    li { a href=(link("/memory/ask", &[("q", Some(example)), ("project", project)])) { (example) } }
                }
            }
        }
    })
}

fn answer(app: &ServerState, params: &MemoryPageParams) -> Result<Markup, ApiError> {
    let _permit = app.server.limits.acquire_slow()?;
    let question = params.query().to_owned();
    let request = AskRequest { question, skip_model: true, is_read_only: true, ..AskRequest::default() };
    let answered = app.engine.questions().ask_project(&request, &params.scope()).map_err(Failure::from)?;
    if answered.answer.is_empty() {
        if app.engine.sessions().projects()?.is_empty() {
            return Ok(nothing_synced());
        }
        return Ok(empty_state(
            "Nothing known",
            &html! { p { "No session answers this. Try other words, or all projects." } },
        ));
    }
    let context = PageContext::new(app);
    Ok(html! {
        h2.sr { "Answer" }
        div.answers {
            @for item in &answered.answer.items {
                article.answer data-item { @for one in &item.sentences { (sentence(context, one)) } }
            }
        }
        @for note in &answered.answer.notes { p.dim { (OneLine(note)) } }
    })
}

fn sentence(context: PageContext<'_>, sentence: &AnswerSentence) -> Markup {
    html! {
        div.what.md { (markdown(&rethread_model::one_line(&sentence.text))) }
        @for source in &sentence.sources { (source_link(context, source)) }
    }
}

fn source_link(context: PageContext<'_>, source: &SentenceSource) -> Markup {
    html! {
        p.cited {
            @match &source.place {
                SourcePlace::Session { id, name } => {
                    a.cite href=(to_line(*id, source.line)) {
                        (OneLine(clip(name.as_deref().unwrap_or("unnamed session"), MAX_NAME_CHARS)))
                    }
                }
                SourcePlace::RuleFile { path } => code { (OneLine(path)) }
            }
            " " span.dim {
                "line " (number(source.line))
                @if source.at.is_some() { " · " (context.since(source.at)) }
            }
        }
    }
}
