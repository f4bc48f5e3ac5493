//! Threads as text: lists, contexts, compactions and planned turns.

use rethread_engine::{CompactReport, SendPlan, Summarizer, ThreadContext};
use rethread_model::thread::{ChatRole, ContentBlock, ThreadMetadata, UNNAMED_THREAD};
use rethread_model::{Timestamp, short_id};

use super::format::{age, count, number};
use super::{CellAlign, TextPage, Tone, sanitize_line};

const LABEL_WIDTH: usize = 10;

/// Renders threads as a table, most recently used first.
pub(crate) fn threads(page: &mut TextPage, threads: &[ThreadMetadata], now: Timestamp) {
    let ids: Vec<String> = threads.iter().map(|metadata| short_id(&metadata.id.to_string()).to_owned()).collect();
    let width = ids.iter().map(String::len).max().unwrap_or(2);
    let models: Vec<String> = threads.iter().map(|metadata| sanitize_line(&metadata.model)).collect();
    let widest = models.iter().map(|model| model.chars().count()).max().unwrap_or(0).max(5);
    table_line(page, Tone::Dim, ["ID", "AGE", "MESSAGES", "MODEL", "NAME"], (width, widest));
    for ((metadata, id), model) in threads.iter().zip(&ids).zip(&models) {
        let age = age(Some(metadata.last_message_at), now);
        let name = sanitize_line(metadata.name.as_deref().unwrap_or(UNNAMED_THREAD));
        let messages = number(metadata.message_count);
        table_line(page, Tone::Plain, [id, &age, &messages, model, &name], (width, widest));
    }
}

fn table_line(page: &mut TextPage, tone: Tone, cells: [&str; 5], (id, model): (usize, usize)) {
    let [first, age, messages, name_of_model, name] = cells;
    page.cell(tone, first, id, CellAlign::Left).add(tone, "  ").cell(tone, age, 8, CellAlign::Right).add(tone, "  ");
    page.cell(tone, messages, 8, CellAlign::Right).add(tone, "  ").cell(tone, name_of_model, model, CellAlign::Left);
    page.add(tone, "  ").line(tone, name);
}

/// Renders the messages that would be sent to a model.
pub(crate) fn thread_context(page: &mut TextPage, found: &ThreadContext) {
    if let Some(system) = &found.system_prompt {
        message_line(page, "[System]:", system);
    }
    for message in &found.messages {
        let name = match message.role {
            ChatRole::User => "[User]:",
            ChatRole::Assistant => "[Assistant]:",
            ChatRole::ToolResult if message.is_error => "[Tool error]:",
            ChatRole::ToolResult => "[Tool result]:",
        };
        for block in &message.content {
            match block {
                ContentBlock::Text(text) => message_line(page, name, text),
                ContentBlock::ToolCall { name, arguments, .. } => {
                    let arguments = serde_json::Value::Object(arguments.clone());
                    message_line(page, "[Assistant tool calls]:", &format!("{name}({arguments})"));
                }
                ContentBlock::Other(value) => message_line(page, name, &value.to_string()),
            }
        }
    }
    let messages = count(found.messages.len() as u64, "message");
    page.line(Tone::Dim, &format!("{messages}, about {} tokens", number(found.tokens)));
}

fn message_line(page: &mut TextPage, who: &str, text: &str) {
    page.add(Tone::Strong, who).add(Tone::Plain, " ").line(Tone::Plain, text);
}

/// Renders the summary of a compaction.
pub(crate) fn compaction_summary(page: &mut TextPage, report: &CompactReport) {
    page.line(Tone::Plain, &report.record.summary);
}

/// The result of a compaction in one line.
pub(crate) fn compaction_note(report: &CompactReport, is_dry: bool) -> String {
    let tokens = number(report.record.tokens_before);
    let first_kept = report.record.first_kept_seq;
    let by = match &report.summarizer {
        Summarizer::Model(name) => format!("by {}", sanitize_line(name)),
        Summarizer::Rules(None) => "without a model".to_owned(),
        Summarizer::Rules(Some(why)) => format!("without the model ({})", sanitize_line(why)),
    };
    if !is_dry {
        return format!("summarized about {tokens} tokens {by}; records from {first_kept} on are kept verbatim");
    }
    let cost = report.planned.map_or_else(String::new, |planned| {
        let cost = planned.cost.map_or_else(|| "unknown price".to_owned(), |cost| format!("at most {cost}"));
        let (input, output) = (number(planned.input_tokens), number(planned.output_tokens));
        format!("; about {input} input tokens, at most {output} output tokens, {cost}; the summary shown is written without a model")
    });
    format!("would summarize about {tokens} tokens {by} and keep records from {first_kept} on{cost}")
}

pub(crate) fn queue_position(ahead: usize) -> String {
    format!("waiting behind {}", count(ahead as u64, "turn"))
}

/// Renders what a turn would cost.
pub(crate) fn send_plan(page: &mut TextPage, plan: &SendPlan) {
    row(page, "model", &sanitize_line(&plan.model));
    row(page, "input", &format!("about {} tokens", number(plan.planned.input_tokens)));
    row(page, "output", &format!("at most {} tokens", number(plan.planned.output_tokens)));
    row(page, "cost", &plan.planned.cost.map_or_else(|| "unknown".to_owned(), |cost| format!("at most {cost}")));
    if let Some(before) = plan.compaction {
        let (input, output) = (number(before.input_tokens), number(before.output_tokens));
        let cost = before.cost.map_or_else(|| "unknown price".to_owned(), |cost| format!("at most {cost}"));
        let what = "the start of the thread is summarized first";
        row(page, "before", &format!("{what}: about {input} input tokens, at most {output} output tokens, {cost}"));
    }
    row(page, "budget", &plan.refusal_reason.clone().unwrap_or_else(|| "allowed".to_owned()));
}

fn row(page: &mut TextPage, label: &str, text: &str) {
    page.cell(Tone::Dim, label, LABEL_WIDTH, CellAlign::Left).line(Tone::Plain, text);
}
