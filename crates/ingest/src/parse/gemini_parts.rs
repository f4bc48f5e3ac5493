//! Messages in the shape of Google's API, as Gemini CLI and Qwen Code store them: parts with text, calls and responses.

use rethread_model::{Tokens, ToolKind, ToolOutcome};
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::value::RawValue;

use super::TextSink;
use super::content::MeasuredResult;
use super::lenient::{LenientBool, LenientNumber, LenientObject, LenientText};
use super::outcome::outcome_with_code;
use super::own_text::without_injections;
use super::shell_report::ShellReport;
use super::tool::tool_kind;
use super::user_text::strip_tag;

/// Tag around the text that a hook added to a prompt or a result.
pub(crate) const HOOK_TAG: &str = "hook_context";

/// Start of the files that were named with `@`, which follow the prompt.
const REFERENCED_FILES: &str = "--- Content from referenced files ---";

/// The parts of a message. A bare string, alone or in the list, is a part with text.
#[derive(Debug, Default)]
pub(crate) struct GeminiParts<'a>(pub(crate) Vec<GeminiPart<'a>>);

/// One part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct GeminiPart<'a> {
    #[serde(borrow)]
    pub(crate) text: LenientText<'a>,
    /// Marks the text as the model's reasoning.
    pub(crate) thought: LenientBool,
    #[serde(borrow)]
    pub(crate) function_call: Option<LenientObject<FunctionCall<'a>>>,
    #[serde(borrow)]
    pub(crate) function_response: Option<LenientObject<FunctionResponse<'a>>>,
    inline_data: Option<IgnoredAny>,
    file_data: Option<IgnoredAny>,
}

/// A call of a tool by the model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(crate) id: LenientText<'a>,
    #[serde(borrow)]
    pub(crate) name: LenientText<'a>,
    #[serde(borrow)]
    pub(crate) args: Option<&'a RawValue>,
}

/// What a tool returned to the model.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct FunctionResponse<'a> {
    #[serde(borrow)]
    pub(crate) id: LenientText<'a>,
    #[serde(borrow)]
    pub(crate) name: LenientText<'a>,
    #[serde(borrow)]
    response: LenientObject<ResponseBody<'a>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponseBody<'a> {
    #[serde(borrow)]
    output: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

/// What a tool returned, as text.
#[derive(Debug, Default)]
pub(crate) struct ToolReport {
    pub(crate) text: String,
    pub(crate) is_error: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for GeminiParts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw: &'de RawValue = Deserialize::deserialize(deserializer)?;
        Ok(Self(parts_of(raw.get())))
    }
}

fn parts_of(json: &str) -> Vec<GeminiPart<'_>> {
    let Some(b'[') = json.as_bytes().first() else { return part_of(json).into_iter().collect() };
    let items: Vec<&RawValue> = serde_json::from_str(json).unwrap_or_default();
    items.into_iter().filter_map(|item| part_of(item.get())).collect()
}

/// One part. Lists in lists are no parts: a list may be nested deeper than the stack.
fn part_of(json: &str) -> Option<GeminiPart<'_>> {
    match json.as_bytes().first()? {
        b'"' => Some(GeminiPart { text: serde_json::from_str(json).unwrap_or_default(), ..GeminiPart::default() }),
        b'{' => serde_json::from_str(json).ok(),
        _ => None,
    }
}

impl GeminiParts<'_> {
    /// The texts that are not reasoning, as one.
    pub(crate) fn text(&self) -> String {
        let texts = self.0.iter().filter(|part| !part.thought.0).map(|part| part.text.as_str());
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// The model's reasoning.
    pub(crate) fn reasoning(&self) -> String {
        let texts = self.0.iter().filter(|part| part.thought.0).map(|part| part.text.as_str());
        texts.filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n")
    }

    /// Whether an image or another file is attached.
    pub(crate) fn has_attachment(&self) -> bool {
        self.0.iter().any(|part| part.inline_data.is_some() || part.file_data.is_some())
    }
}

impl FunctionResponse<'_> {
    /// The response as text; its `error` if there is one.
    pub(crate) fn report(&self) -> ToolReport {
        let body = &self.response.0;
        let is_error = body.error.is_some_and(|error| error.get() != "null");
        let raw = if is_error { body.error } else { body.output.or(body.content) };
        let text = raw.map(plain_text).unwrap_or_default();
        ToolReport { text: without_hook_text(&text), is_error }
    }
}

/// What was typed before the content of referenced files, and whether such content follows.
pub(crate) fn without_referenced_files(text: &str) -> (&str, bool) {
    let at = text.find(REFERENCED_FILES).filter(|at| *at == 0 || text[..*at].ends_with('\n'));
    at.map_or((text, false), |at| (&text[..at], true))
}

/// The response without what hooks added to it.
fn without_hook_text(text: &str) -> String {
    without_injections(&strip_tag(text, HOOK_TAG)).into_owned()
}

/// A JSON string's text; the JSON itself for any other value.
fn plain_text(raw: &RawValue) -> String {
    serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().to_owned())
}

/// The outcome of a call. A command's output, and unless `code` is known its exit code, come from the shell tool's
/// report.
pub(crate) fn function_outcome(
    name: &str,
    report: &ToolReport,
    code: Option<i32>,
    sink: &mut TextSink<'_>,
) -> ToolOutcome {
    let kind = tool_kind(name);
    let command = (kind == ToolKind::Command).then(|| ShellReport::parse(&report.text)).flatten();
    let code = code.or(command.as_ref().and_then(|command| command.exit_code));
    let output = command.map_or(report.text.as_str(), |command| command.output);
    let silent = code.filter(|code| *code != 0 && output.trim().is_empty()).map(|code| format!("Exit code {code}"));
    let measured = MeasuredResult::from_text(silent.as_deref().unwrap_or(output));
    outcome_with_code(measured, report.is_error, code, Some(kind), sink)
}

/// The answers that a human gave to an `ask_user` call, one per line.
pub(crate) fn human_answers(name: &str, report: &ToolReport) -> Option<String> {
    #[derive(Deserialize)]
    struct AskUserResult {
        answers: serde_json::Map<String, serde_json::Value>,
    }
    if report.is_error || name != "ask_user" && name != "ask_user_question" {
        return None;
    }
    let result: AskUserResult = serde_json::from_str(&report.text).ok()?;
    let answers = result.answers.values().filter_map(|answer| answer.as_str());
    Some(answers.collect::<Vec<_>>().join("\n")).filter(|text| !text.trim().is_empty())
}

/// Token counts of one answer, by the names of Google's API or of Gemini CLI.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct GeminiUsage {
    #[serde(alias = "promptTokenCount")]
    input: LenientNumber,
    #[serde(alias = "candidatesTokenCount")]
    output: LenientNumber,
    #[serde(alias = "cachedContentTokenCount")]
    cached: LenientNumber,
    #[serde(alias = "thoughtsTokenCount")]
    thoughts: LenientNumber,
    #[serde(alias = "toolUsePromptTokenCount")]
    tool: LenientNumber,
    #[serde(alias = "totalTokenCount")]
    total: LenientNumber,
}

impl GeminiUsage {
    /// The tokens. The input includes the cache. Reasoning is beside the output in Google's API, but part of it if the
    /// counts were made from those of `OpenAI`'s API; the total shows which.
    pub(crate) fn tokens(&self) -> Tokens {
        let (input, output, thoughts) = (self.input.count(), self.output.count(), self.thoughts.count());
        let (tool, total) = (self.tool.count(), self.total.count());
        let is_beside = total == 0 || total >= input.saturating_add(output).saturating_add(thoughts);
        Tokens {
            input: input.saturating_add(tool).saturating_sub(self.cached.count()),
            output: if is_beside { output.saturating_add(thoughts) } else { output },
            cache_read: self.cached.count(),
            cache_write: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_can_be_text_one_part_or_a_list() {
        for json in [r#""hi""#, r#"{"text":"hi"}"#, r#"[{"text":"hi"}]"#, r#"["hi",7,null]"#] {
            let parts: GeminiParts<'_> = serde_json::from_str(json).unwrap();
            assert_eq!(parts.text(), "hi", "{json}");
        }
        let parts: GeminiParts<'_> = serde_json::from_str("17").unwrap();
        assert!(parts.0.is_empty());
        let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        assert!(parts_of(&nested).is_empty());
    }

    #[test]
    fn reasoning_is_counted_once_as_output() {
        let tokens = |json: &str| serde_json::from_str::<GeminiUsage>(json).unwrap().tokens();
        let beside = tokens(r#"{"input":100,"output":20,"cached":30,"thoughts":5,"tool":2,"total":127}"#);
        assert_eq!((beside.input, beside.output, beside.cache_read), (72, 25, 30));
        let inside = tokens(
            r#"{"promptTokenCount":100,"candidatesTokenCount":20,"thoughtsTokenCount":5,"totalTokenCount":120}"#,
        );
        assert_eq!((inside.input, inside.output), (100, 20));
    }
}
