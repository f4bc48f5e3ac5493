//! What models cost. The built-in table holds list prices of one day; the configuration may say otherwise.

use rethread_model::Tokens;

use crate::{NanoUsd, Provider};

/// The day the table was made, from copies of the providers' price lists that were at most some months old.
pub const PRICES_AS_OF: &str = "2026-11-16";

/// Prices are told for so many tokens.
const MILLION: u128 = 1_000_000;

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Input that no cache held.
    pub input: NanoUsd,
    /// Output.
    pub output: NanoUsd,
    /// Input read from a cache.
    pub cache_read: NanoUsd,
    /// Input written to a cache.
    pub cache_write: NanoUsd,
}

impl Price {
    /// Of models that run on the user's own machine.
    pub const FREE: Self =
        Self { input: NanoUsd::ZERO, output: NanoUsd::ZERO, cache_read: NanoUsd::ZERO, cache_write: NanoUsd::ZERO };

    /// What so many tokens cost, rounded up.
    pub fn cost(&self, tokens: Tokens) -> NanoUsd {
        let parts = [
            (self.input, tokens.input),
            (self.output, tokens.output),
            (self.cache_read, tokens.cache_read),
            (self.cache_write, tokens.cache_write),
        ];
        let total = parts
            .into_iter()
            .fold(0_u128, |total, (price, count)| total.saturating_add(u128::from(price.get()) * u128::from(count)));
        NanoUsd::new(u64::try_from(total.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }
}

/// The list price of a model, if it is known. A dated name such as `gpt-4o-2024-08-06` is that of the model.
pub fn built_in_price(provider: Provider, model: &str) -> Option<Price> {
    Some(row(provider, model)?.price.into())
}

/// The price of a request with so long a prompt. Only our own table knows that long ones cost more.
pub(crate) fn price_for(provider: Provider, model: &str, price: Price, prompt_tokens: u64) -> Price {
    match row(provider, model) {
        Some(Row { price: listed, long: Some((above, long)), .. })
            if prompt_tokens > *above && price == Price::from(*listed) =>
        {
            Price::from(*long)
        }
        _ => price,
    }
}

/// Lengths of prompts above which a model of the table costs more.
pub(crate) fn long_prompts() -> impl Iterator<Item = u64> {
    TABLE.iter().filter_map(|row| row.long).map(|(above, _)| above)
}

/// Thousandths of a dollar for a million tokens: input, output, read from a cache, written to a cache.
#[derive(Clone, Copy)]
struct Listed(u64, u64, u64, u64);

#[derive(Clone, Copy)]
struct Row {
    provider: Provider,
    model: &'static str,
    price: Listed,
    /// What is charged for all of a prompt with more tokens than this.
    long: Option<(u64, Listed)>,
}

impl From<Listed> for Price {
    fn from(Listed(input, output, cache_read, cache_write): Listed) -> Self {
        let sum = |thousandths| NanoUsd::new(1_000_000).times(thousandths);
        Self { input: sum(input), output: sum(output), cache_read: sum(cache_read), cache_write: sum(cache_write) }
    }
}

const fn anthropic(model: &'static str, price: Listed) -> Row {
    Row { provider: Provider::Anthropic, model, price, long: None }
}

/// Writing to the cache costs what input costs.
const fn openai(model: &'static str, input: u64, output: u64, cached: u64) -> Row {
    Row { provider: Provider::OpenAi, model, price: Listed(input, output, cached, input), long: None }
}

/// Writing to the cache costs what input costs.
const fn gemini(model: &'static str, input: u64, output: u64, cached: u64) -> Row {
    Row { provider: Provider::Gemini, model, price: Listed(input, output, cached, input), long: None }
}

const fn above(tokens: u64, price: Listed, row: Row) -> Row {
    Row { long: Some((tokens, price)), ..row }
}

const fn written(cache_write: u64, row: Row) -> Row {
    let Listed(input, output, cached, _) = row.price;
    Row { price: Listed(input, output, cached, cache_write), ..row }
}

const TABLE: &[Row] = &[
    // platform.claude.com/docs/en/about-claude/pricing: cache writes are those of five minutes.
    anthropic("claude-opus-4", Listed(15_000, 75_000, 1_500, 18_750)),
    anthropic("claude-opus-4-0", Listed(15_000, 75_000, 1_500, 18_750)),
    anthropic("claude-opus-4-1", Listed(15_000, 75_000, 1_500, 18_750)),
    anthropic("claude-opus-4-5", Listed(5_000, 25_000, 500, 6_250)),
    anthropic("claude-opus-4-6", Listed(5_000, 25_000, 500, 6_250)),
    anthropic("claude-opus-4-7", Listed(5_000, 25_000, 500, 6_250)),
    anthropic("claude-opus-4-8", Listed(5_000, 25_000, 500, 6_250)),
    anthropic("claude-sonnet-4", Listed(3_000, 15_000, 300, 3_750)),
    anthropic("claude-sonnet-4-0", Listed(3_000, 15_000, 300, 3_750)),
    anthropic("claude-sonnet-4-5", Listed(3_000, 15_000, 300, 3_750)),
    anthropic("claude-sonnet-4-6", Listed(3_000, 15_000, 300, 3_750)),
    anthropic("claude-haiku-4-5", Listed(1_000, 5_000, 100, 1_250)),
    anthropic("claude-3-5-haiku", Listed(800, 4_000, 80, 1_000)),
    // platform.claude.com/docs/en/models/{opus-5,opus-5-5,sonnet-5,sonnet-5-5,haiku-5-5}/overview.
    anthropic("claude-opus-5", Listed(5_000, 25_000, 500, 6_250)),
    anthropic("claude-opus-5-5", Listed(4_000, 20_000, 200, 5_000)),
    anthropic("claude-sonnet-5", Listed(2_000, 10_000, 200, 2_500)),
    anthropic("claude-sonnet-5-5", Listed(2_000, 10_000, 200, 2_500)),
    above(100_000, Listed(500, 2_500, 50, 625), anthropic("claude-haiku-5-5", Listed(100, 500, 10, 125))),
    // developers.openai.com/api/docs/pricing, as repeated by several price lists of 2026.
    openai("gpt-4o", 2_500, 10_000, 1_250),
    openai("gpt-4o-mini", 150, 600, 75),
    openai("gpt-4.1", 2_000, 8_000, 500),
    openai("gpt-4.1-mini", 400, 1_600, 100),
    openai("gpt-4.1-nano", 100, 400, 25),
    openai("gpt-5", 1_250, 10_000, 125),
    openai("gpt-5-mini", 250, 2_000, 25),
    openai("gpt-5-nano", 50, 400, 5),
    openai("gpt-5-codex", 1_250, 10_000, 125),
    openai("gpt-5.1", 1_250, 10_000, 125),
    openai("gpt-5.2", 1_750, 14_000, 175),
    // The same, and github.com/github/docs data/tables/copilot/models-and-pricing.yml for long prompts.
    above(272_000, Listed(5_000, 22_500, 500, 5_000), openai("gpt-5.4", 2_500, 15_000, 250)),
    openai("gpt-5.2-codex", 1_750, 14_000, 175),
    openai("gpt-5.3-codex", 1_750, 14_000, 175),
    openai("gpt-5.4-mini", 750, 4_500, 75),
    openai("gpt-5.4-nano", 200, 1_250, 20),
    above(272_000, Listed(10_000, 45_000, 1_000, 10_000), openai("gpt-5.5", 5_000, 30_000, 500)),
    // developers.openai.com/api/docs/models/gpt-5.6-luna: the first that charges more for writing to the cache.
    above(272_000, Listed(400, 1_800, 40, 500), written(250, openai("gpt-5.6-luna", 200, 1_200, 20))),
    openai("text-embedding-3-small", 20, 0, 20),
    openai("text-embedding-3-large", 130, 0, 130),
    // ai.google.dev/gemini-api/docs/pricing, paid tier, text, partly as repeated by price lists of 2026. What the cache
    // held costs a tenth; for 2.5 Flash-Lite and 3 Flash that is taken from their siblings.
    above(200_000, Listed(2_500, 15_000, 250, 2_500), gemini("gemini-2.5-pro", 1_250, 10_000, 125)),
    gemini("gemini-2.5-flash", 300, 2_500, 30),
    gemini("gemini-2.5-flash-lite", 100, 400, 10),
    gemini("gemini-3-flash", 500, 3_000, 50),
    above(200_000, Listed(4_000, 18_000, 400, 4_000), gemini("gemini-3.1-pro", 2_000, 12_000, 200)),
    gemini("gemini-3.1-flash-lite", 250, 1_500, 25),
    gemini("gemini-3.5-flash", 1_500, 9_000, 150),
    // Half of this through 2026-12-31.
    gemini("gemini-3.8-flash", 1_500, 7_500, 150),
];

/// The row with the longest name that the model's name begins with.
fn row(provider: Provider, model: &str) -> Option<&'static Row> {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let fits = |row: &&Row| row.provider == provider && model.strip_prefix(row.model).is_some_and(is_same_model);
    TABLE.iter().filter(fits).max_by_key(|row| row.model.len())
}

/// Whether this end of a name says only which edition of a model it is. Other ends, such as `-pro`, cost otherwise.
fn is_same_model(end: &str) -> bool {
    let Some(end) = end.strip_prefix(['-', '@']) else { return end.is_empty() };
    let first = end.split('-').next().unwrap_or_default();
    let is_date = first.len() >= 3 && first.bytes().all(|byte| byte.is_ascii_digit());
    is_date || matches!(first, "latest" | "preview")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(provider: Provider, model: &str, input: Option<&str>) {
        let price = built_in_price(provider, model).map(|price| price.input.to_string());
        assert_eq!(price.as_deref(), input, "{model}");
    }

    #[test]
    fn a_dated_name_costs_what_the_model_costs_and_a_sibling_does_not() {
        check(Provider::OpenAi, "gpt-4o", Some("$2.50"));
        check(Provider::OpenAi, "gpt-4o-2024-08-06", Some("$2.50"));
        check(Provider::OpenAi, "gpt-4o-mini-2024-07-18", Some("$0.15"));
        check(Provider::OpenAi, "gpt-5.5-pro", None);
        check(Provider::OpenAi, "gpt-5.9", None);
        check(Provider::Anthropic, "claude-sonnet-4-20250514", Some("$3.00"));
        check(Provider::Anthropic, "claude-opus-4-5-20251101", Some("$5.00"));
        check(Provider::Anthropic, "claude-opus-4-9", None);
        check(Provider::Gemini, "models/gemini-3.1-pro-preview", Some("$2.00"));
        check(Provider::Gemini, "gemini-2.5-flash-image", None);
        check(Provider::Gemini, "gpt-4o", None);
    }

    #[test]
    fn a_cost_is_rounded_up_and_has_an_end() {
        let price = built_in_price(Provider::Anthropic, "claude-haiku-4-5").unwrap();
        let tokens = Tokens { input: 1_000, output: 200, cache_read: 10, cache_write: 4 };
        assert_eq!(price.cost(tokens).to_string(), "$0.002006");
        let fine = Price { input: NanoUsd::new(1), ..Price::FREE };
        assert_eq!(fine.cost(Tokens { input: 1, ..Tokens::default() }).get(), 1);
        let most = Tokens { input: u64::MAX, output: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX };
        assert_eq!(price.cost(most).get(), u64::MAX);
        assert_eq!(Price::FREE.cost(most), NanoUsd::ZERO);
    }

    #[test]
    fn a_long_prompt_costs_more_only_at_the_list_price() {
        let model = "gemini-2.5-pro";
        let listed = built_in_price(Provider::Gemini, model).unwrap();
        assert_eq!(price_for(Provider::Gemini, model, listed, 200_000), listed);
        assert_eq!(price_for(Provider::Gemini, model, listed, 200_001).input.to_string(), "$2.50");
        assert_eq!(price_for(Provider::Gemini, model, Price::FREE, 200_001), Price::FREE);
    }

    #[test]
    fn no_model_has_two_prices() {
        for (at, row) in TABLE.iter().enumerate() {
            let same = |other: &Row| other.provider == row.provider && other.model == row.model;
            assert!(!TABLE[at + 1..].iter().any(same), "{}", row.model);
        }
    }
}
