//! List prices by the model name an agent recorded. The provider is derived from the name.

use crate::prices::{long_prompt_thresholds, price_for};
use crate::{Price, Provider, built_in_price};

/// List price of the model an agent recorded, for a prompt of this length. `None` if the model is not in the table.
pub fn list_price(model: &str, prompt_tokens: u64) -> Option<Price> {
    let (provider, name) = identify_model(model)?;
    let price = built_in_price(provider, &name)?;
    Some(price_for(provider, &name, price, prompt_tokens))
}

/// Prompt lengths in tokens above which some model has a higher price, ascending.
pub fn price_thresholds() -> Vec<u64> {
    let mut steps: Vec<u64> = long_prompt_thresholds().collect();
    steps.sort_unstable();
    steps.dedup();
    steps
}

/// The provider of a model and the provider's own name for it. Resellers add prefixes separated by slashes; Bedrock
/// writes `us.anthropic.claude-…`; others write Claude versions with a dot.
fn identify_model(model: &str) -> Option<(Provider, String)> {
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
    fn reseller_names_are_recognized() {
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
    fn unlisted_models_have_no_price() {
        for model in ["", "/", "test", "o", "opus", "o3-nobody", "claude-opus-4-6-thinking", "x/deepseek-v9", "claude-"]
        {
            check(model, None);
        }
    }

    #[test]
    fn a_long_prompt_uses_the_higher_list_price() {
        let steps = price_thresholds();
        assert!(steps.is_sorted() && steps.contains(&200_000), "{steps:?}");
        assert_eq!(list_price("google/gemini-2.5-pro", 200_001).unwrap().input.to_string(), "$2.50");
    }
}
