//! Threads for people.

use rethread_engine::{CompactReport, SendPlan, Summariser, ThreadContext};
use rethread_model::Timestamp;
use rethread_model::thread::{Block, ChatRole, Metadata, UNNAMED};

use super::words::{age, count, number};
use super::{Page, Side, Tone, id_length, single};

const LABEL: usize = 10;

/// Threads as a table, the one last spoken in first.
pub(crate) fn threads(page: &mut Page, threads: &[Metadata], now: Timestamp) {
    let ids: Vec<String> = threads.iter().map(|metadata| metadata.id.to_string()).collect();
    let width = id_length(&ids);
    let models: Vec<String> = threads.iter().map(|metadata| single(&metadata.model)).collect();
    let widest = models.iter().map(|model| model.chars().count()).max().unwrap_or(0).max(5);
    line(page, Tone::Dim, ["ID", "AGE", "MESSAGES", "MODEL", "NAME"], (width, widest));
    for ((metadata, id), model) in threads.iter().zip(&ids).zip(&models) {
        let age = age(Some(metadata.last_message_at), now);
        let name = single(metadata.name.as_deref().unwrap_or(UNNAMED));
        let messages = number(metadata.message_count);
        line(page, Tone::Plain, [&id[..width], &age, &messages, model, &name], (width, widest));
    }
}

fn line(page: &mut Page, tone: Tone, cells: [&str; 5], (id, model): (usize, usize)) {
    let [first, age, messages, name_of_model, name] = cells;
    page.cell(tone, first, id, Side::Left).add(tone, "  ").cell(tone, age, 8, Side::Right).add(tone, "  ");
    page.cell(tone, messages, 8, Side::Right).add(tone, "  ").cell(tone, name_of_model, model, Side::Left);
    page.add(tone, "  ").line(tone, name);
}

/// What a model would get, as a conversation.
pub(crate) fn thread_context(page: &mut Page, found: &ThreadContext) {
    if let Some(system) = &found.system {
        said(page, "[System]:", system);
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
                Block::Text(text) => said(page, name, text),
                Block::ToolCall { name, arguments, .. } => {
                    let arguments = serde_json::Value::Object(arguments.clone());
                    said(page, "[Assistant tool calls]:", &format!("{name}({arguments})"));
                }
                Block::Other(value) => said(page, name, &value.to_string()),
            }
        }
    }
    let messages = count(found.messages.len() as u64, "message");
    page.line(Tone::Dim, &format!("{messages}, about {} tokens", number(found.tokens)));
}

fn said(page: &mut Page, who: &str, text: &str) {
    page.add(Tone::Strong, who).add(Tone::Plain, " ").line(Tone::Plain, text);
}

/// The summary that a compaction made.
pub(crate) fn compacted(page: &mut Page, report: &CompactReport) {
    page.line(Tone::Plain, &report.record.summary);
}

/// What a compaction did, in one line.
pub(crate) fn compaction_note(report: &CompactReport, is_dry: bool) -> String {
    let tokens = number(report.record.tokens_before);
    let kept = report.record.first_kept_seq;
    let by = match &report.by {
        Summariser::Model(name) => format!("by {}", single(name)),
        Summariser::Rules(None) => "without a model".to_owned(),
        Summariser::Rules(Some(why)) => format!("without the model ({})", single(why)),
    };
    if !is_dry {
        return format!("summarised about {tokens} tokens {by}; record {kept} and what follows is kept word for word");
    }
    let cost = report.planned.map_or_else(String::new, |planned| {
        let cost = planned.cost.map_or_else(|| "an unknown price".to_owned(), |cost| format!("at most {cost}"));
        let (input, output) = (number(planned.input_tokens), number(planned.output_tokens));
        format!("; about {input} tokens in, at most {output} out, {cost}; shown is what rules alone would write")
    });
    format!("would summarise about {tokens} tokens {by}, and keep record {kept} and what follows{cost}")
}

/// That others are before it.
pub(crate) fn waiting_behind(ahead: usize) -> String {
    format!("waiting behind {}", count(ahead as u64, "turn"))
}

/// What a turn would take.
pub(crate) fn would_send(page: &mut Page, plan: &SendPlan) {
    row(page, "model", &single(&plan.model));
    row(page, "input", &format!("about {} tokens", number(plan.planned.input_tokens)));
    row(page, "output", &format!("at most {} tokens", number(plan.planned.output_tokens)));
    row(page, "cost", &plan.planned.cost.map_or_else(|| "unknown".to_owned(), |cost| format!("at most {cost}")));
    if let Some(before) = plan.compaction {
        let (input, output) = (number(before.input_tokens), number(before.output_tokens));
        let cost = before.cost.map_or_else(|| "an unknown price".to_owned(), |cost| format!("at most {cost}"));
        let what = "the beginning of the thread is summarised first";
        row(page, "before", &format!("{what}: about {input} tokens in, at most {output} out, {cost}"));
    }
    row(page, "budget", &plan.refused.clone().unwrap_or_else(|| "allows it".to_owned()));
}

fn row(page: &mut Page, label: &str, text: &str) {
    page.cell(Tone::Dim, label, LABEL, Side::Left).line(Tone::Plain, text);
}
