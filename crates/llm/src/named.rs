//! What a model costs that somebody else used: whose it is, its name tells.

use crate::prices::{long_prompts, price_for};
use crate::{Price, Provider, built_in_price};

/// The list price of a model by the name an agent noted, for a prompt of so many tokens, if it is known.
pub fn list_price(model: &str, prompt_tokens: u64) -> Option<Price> {
    let (provider, name) = understood(model)?;
    let price = built_in_price(provider, &name)?;
    Some(price_for(provider, &name, price, prompt_tokens))
}

/// Lengths of prompts above which some model costs more, shortest first.
pub fn price_steps() -> Vec<u64> {
    let mut steps: Vec<u64> = long_prompts().collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// The provider of a model, and the name that provider gives it. Resellers put theirs before it, parts separated by
/// slashes; Bedrock writes `us.anthropic.claude-…`, others write versions of Claude with a dot.
fn understood(model: &str) -> Option<(Provider, String)> {
    let model = model.trim().to_ascii_lowercase();
    let name = model.rsplit('/').next().unwrap_or_default();
    let name = name.split_once("anthropic.").map_or(name, |(_, name)| name);
    if name.starts_with("claude-") {
        return Some((Provider::Anthropic, name.replace('.', "-")));
    }
    if name.starts_with("gemini-") {
        return Some((Provider::Gemini, name.to_owned()));
    }
    let is_reasoner = name.strip_prefix('o').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let is_openai = is_reasoner || name.starts_with("gpt-") || name.starts_with("text-embedding-");
    is_openai.then(|| (Provider::OpenAi, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(model: &str, input: Option<&str>) {
        let price = list_price(model, 0).map(|price| price.input.to_string());
        assert_eq!(price.as_deref(), input, "{model}");
    }

    #[test]
    fn a_model_is_known_however_its_seller_writes_it() {
        check("claude-opus-4-5-20251101", Some("$5.00"));
        check("anthropic/claude-sonnet-4.5", Some("$3.00"));
        check("openrouter/anthropic/claude-sonnet-4", Some("$3.00"));
        check("us.anthropic.claude-haiku-4-5-20251001-v1:0", Some("$1.00"));
        check("claude-sonnet-4@20250514", Some("$3.00"));
        check("GPT-4o", Some("$2.50"));
        check("openai/gpt-5.2-codex", Some("$1.75"));
        check("models/gemini-2.5-pro", Some("$1.25"));
    }

    #[test]
    fn what_nobody_listed_has_no_price() {
        for model in ["", "/", "test", "o", "opus", "o3-nobody", "claude-opus-4-6-thinking", "x/deepseek-v9", "claude-"]
        {
            check(model, None);
        }
    }

    #[test]
    fn a_long_prompt_costs_more_where_the_list_says_so() {
        let steps = price_steps();
        assert!(steps.is_sorted() && steps.contains(&200_000), "{steps:?}");
        assert_eq!(list_price("google/gemini-2.5-pro", 200_001).unwrap().input.to_string(), "$2.50");
    }
}
