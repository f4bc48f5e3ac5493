//! Model prices. The built-in table holds list prices as of one date; the configuration can override them.

use rethread_model::Tokens;

use crate::{NanoUsd, Provider};

/// Date of the table. Its sources, copies of the providers' price lists, were up to a few months old.
pub const PRICES_AS_OF: &str = "2026-11-16";

/// Prices are given per this many tokens.
const MILLION: u128 = 1_000_000;

/// Storing input for an hour costs this many times as much as reading it. Only Anthropic reports such tokens.
/// Source: platform.claude.com/docs/en/build-with-claude/prompt-caching.
const HOUR_WRITE_FACTOR: u64 = 2;

/// Prices per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Price {
    /// Input tokens that were not cached.
    pub input: NanoUsd,
    /// Output tokens, including reasoning.
    pub output: NanoUsd,
    /// Input tokens read from the prompt cache.
    pub cache_read: NanoUsd,
    /// Input tokens written to the prompt cache.
    pub cache_write: NanoUsd,
}

impl Price {
    /// Price of models that run on the user's own machine.
    pub const FREE: Self =
        Self { input: NanoUsd::ZERO, output: NanoUsd::ZERO, cache_read: NanoUsd::ZERO, cache_write: NanoUsd::ZERO };

    /// Cost of these tokens, rounded up to a whole nanodollar. All cache writes are stored for five minutes.
    pub fn cost(&self, tokens: Tokens) -> NanoUsd {
        self.cost_with_hour_writes(tokens, 0)
    }

    /// Cost of these tokens if so many of the cache writes are stored for an hour.
    pub fn cost_with_hour_writes(&self, tokens: Tokens, hour_writes: u64) -> NanoUsd {
        let hour_writes = hour_writes.min(tokens.cache_write);
        let parts = [
            (self.input, tokens.input),
            (self.output, tokens.output),
            (self.cache_read, tokens.cache_read),
            (self.cache_write, tokens.cache_write - hour_writes),
            (self.input.times(HOUR_WRITE_FACTOR), hour_writes),
        ];
        let total = parts
            .into_iter()
            .fold(0_u128, |total, (price, count)| total.saturating_add(u128::from(price.get()) * u128::from(count)));
        NanoUsd::new(u64::try_from(total.div_ceil(MILLION)).unwrap_or(u64::MAX))
    }
}

/// List price of a model, if known. A dated name such as `gpt-4o-2024-08-06` has the price of the model.
pub fn built_in_price(provider: Provider, model: &str) -> Option<Price> {
    Some(find_price_row(provider, model)?.price.into())
}

/// Price of a request with a prompt of this length. Only the built-in table has higher prices for long prompts, so a
/// configured price is returned unchanged.
pub(crate) fn price_for(provider: Provider, model: &str, price: Price, prompt_tokens: u64) -> Price {
    match find_price_row(provider, model) {
        Some(PriceRow { price: listed, long_prompt: Some((above, long)), .. })
            if prompt_tokens > *above && price == Price::from(*listed) =>
        {
            Price::from(*long)
        }
        _ => price,
    }
}

/// Prompt lengths in tokens above which a model in the table has a higher price.
pub(crate) fn long_prompt_thresholds() -> impl Iterator<Item = u64> {
    PRICE_TABLE.iter().filter_map(|row| row.long_prompt).map(|(above, _)| above)
}

/// Thousandths of a dollar per million tokens: input, output, cache read, cache write.
#[derive(Clone, Copy)]
struct ListPrice(u64, u64, u64, u64);

#[derive(Clone, Copy)]
struct PriceRow {
    provider: Provider,
    model: &'static str,
    price: ListPrice,
    /// Price of the whole request if the prompt has more tokens than this.
    long_prompt: Option<(u64, ListPrice)>,
}

impl From<ListPrice> for Price {
    fn from(ListPrice(input, output, cache_read, cache_write): ListPrice) -> Self {
        let sum = |thousandths| NanoUsd::new(1_000_000).times(thousandths);
        Self { input: sum(input), output: sum(output), cache_read: sum(cache_read), cache_write: sum(cache_write) }
    }
}

const fn anthropic(model: &'static str, price: ListPrice) -> PriceRow {
    PriceRow { provider: Provider::Anthropic, model, price, long_prompt: None }
}

/// Cache writes cost the same as input.
const fn openai(model: &'static str, input: u64, output: u64, cached: u64) -> PriceRow {
    PriceRow { provider: Provider::OpenAi, model, price: ListPrice(input, output, cached, input), long_prompt: None }
}

/// Cache writes cost the same as input.
const fn gemini(model: &'static str, input: u64, output: u64, cached: u64) -> PriceRow {
    PriceRow { provider: Provider::Gemini, model, price: ListPrice(input, output, cached, input), long_prompt: None }
}

const fn with_long_prompt_price(tokens: u64, price: ListPrice, row: PriceRow) -> PriceRow {
    PriceRow { long_prompt: Some((tokens, price)), ..row }
}

const fn with_cache_write_price(cache_write: u64, row: PriceRow) -> PriceRow {
    let ListPrice(input, output, cached, _) = row.price;
    PriceRow { price: ListPrice(input, output, cached, cache_write), ..row }
}

const PRICE_TABLE: &[PriceRow] = &[
    // platform.claude.com/docs/en/about-claude/pricing: prices for five-minute cache writes.
    anthropic("claude-opus-4", ListPrice(15_000, 75_000, 1_500, 18_750)),
    anthropic("claude-opus-4-0", ListPrice(15_000, 75_000, 1_500, 18_750)),
    anthropic("claude-opus-4-1", ListPrice(15_000, 75_000, 1_500, 18_750)),
    anthropic("claude-opus-4-5", ListPrice(5_000, 25_000, 500, 6_250)),
    anthropic("claude-opus-4-6", ListPrice(5_000, 25_000, 500, 6_250)),
    anthropic("claude-opus-4-7", ListPrice(5_000, 25_000, 500, 6_250)),
    anthropic("claude-opus-4-8", ListPrice(5_000, 25_000, 500, 6_250)),
    anthropic("claude-sonnet-4", ListPrice(3_000, 15_000, 300, 3_750)),
    anthropic("claude-sonnet-4-0", ListPrice(3_000, 15_000, 300, 3_750)),
    anthropic("claude-sonnet-4-5", ListPrice(3_000, 15_000, 300, 3_750)),
    anthropic("claude-sonnet-4-6", ListPrice(3_000, 15_000, 300, 3_750)),
    anthropic("claude-haiku-4-5", ListPrice(1_000, 5_000, 100, 1_250)),
    anthropic("claude-3-5-haiku", ListPrice(800, 4_000, 80, 1_000)),
    // platform.claude.com/docs/en/models/{opus-5,opus-5-5,sonnet-5,sonnet-5-5,haiku-5-5}/overview.
    anthropic("claude-opus-5", ListPrice(5_000, 25_000, 500, 6_250)),
    anthropic("claude-opus-5-5", ListPrice(4_000, 20_000, 200, 5_000)),
    anthropic("claude-sonnet-5", ListPrice(2_000, 10_000, 200, 2_500)),
    anthropic("claude-sonnet-5-5", ListPrice(2_000, 10_000, 200, 2_500)),
    with_long_prompt_price(
        100_000,
        ListPrice(500, 2_500, 50, 625),
        anthropic("claude-haiku-5-5", ListPrice(100, 500, 10, 125)),
    ),
    // developers.openai.com/api/docs/pricing, as copied in several price lists of 2026.
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
    openai("gpt-5.1-codex", 1_250, 10_000, 125),
    openai("gpt-5.1-codex-max", 1_250, 10_000, 125),
    openai("gpt-5.1-codex-mini", 250, 2_000, 25),
    openai("gpt-5.2", 1_750, 14_000, 175),
    // Same source, and github.com/github/docs data/tables/copilot/models-and-pricing.yml for long prompts.
    with_long_prompt_price(272_000, ListPrice(5_000, 22_500, 500, 5_000), openai("gpt-5.4", 2_500, 15_000, 250)),
    openai("gpt-5.2-codex", 1_750, 14_000, 175),
    openai("gpt-5.3-codex", 1_750, 14_000, 175),
    openai("gpt-5.4-mini", 750, 4_500, 75),
    openai("gpt-5.4-nano", 200, 1_250, 20),
    with_long_prompt_price(272_000, ListPrice(10_000, 45_000, 1_000, 10_000), openai("gpt-5.5", 5_000, 30_000, 500)),
    // developers.openai.com/api/docs/models/gpt-5.6-luna: the first model that charges more for cache writes.
    with_long_prompt_price(
        272_000,
        ListPrice(400, 1_800, 40, 500),
        with_cache_write_price(250, openai("gpt-5.6-luna", 200, 1_200, 20)),
    ),
    openai("text-embedding-3-small", 20, 0, 20),
    openai("text-embedding-3-large", 130, 0, 130),
    // ai.google.dev/gemini-api/docs/pricing, paid tier, text, partly as copied in price lists of 2026. Cache reads cost a
    // tenth of input; for 2.5 Flash-Lite and 3 Flash this is assumed from related models.
    with_long_prompt_price(200_000, ListPrice(2_500, 15_000, 250, 2_500), gemini("gemini-2.5-pro", 1_250, 10_000, 125)),
    gemini("gemini-2.5-flash", 300, 2_500, 30),
    gemini("gemini-2.5-flash-lite", 100, 400, 10),
    gemini("gemini-3-flash", 500, 3_000, 50),
    with_long_prompt_price(200_000, ListPrice(4_000, 18_000, 400, 4_000), gemini("gemini-3.1-pro", 2_000, 12_000, 200)),
    gemini("gemini-3.1-flash-lite", 250, 1_500, 25),
    gemini("gemini-3.5-flash", 1_500, 9_000, 150),
    // Half this price until 2026-12-31.
    gemini("gemini-3.8-flash", 1_500, 7_500, 150),
];

/// The row whose name is the longest prefix of the model's name.
fn find_price_row(provider: Provider, model: &str) -> Option<&'static PriceRow> {
    let model = model.strip_prefix("models/").unwrap_or(model);
    let fits =
        |row: &&PriceRow| row.provider == provider && model.strip_prefix(row.model).is_some_and(is_version_suffix);
    PRICE_TABLE.iter().filter(fits).max_by_key(|row| row.model.len())
}

/// Whether a name suffix only gives a version of the same model. Other suffixes, such as `-pro`, have another price.
fn is_version_suffix(end: &str) -> bool {
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
    fn a_dated_name_has_the_price_of_the_model_but_a_variant_does_not() {
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
    fn a_cost_is_rounded_up_and_saturates() {
        let price = built_in_price(Provider::Anthropic, "claude-haiku-4-5").unwrap();
        let tokens = Tokens { input: 1_000, output: 200, cache_read: 10, cache_write: 4 };
        assert_eq!(price.cost(tokens).to_string(), "$0.002006");
        let fine = Price { input: NanoUsd::new(1), ..Price::FREE };
        assert_eq!(fine.cost(Tokens { input: 1, ..Tokens::default() }).get(), 1);
        let max_tokens = Tokens { input: u64::MAX, output: u64::MAX, cache_read: u64::MAX, cache_write: u64::MAX };
        assert_eq!(price.cost(max_tokens).get(), u64::MAX);
        assert_eq!(Price::FREE.cost(max_tokens), NanoUsd::ZERO);
    }

    #[test]
    fn storing_for_an_hour_costs_more_than_for_five_minutes() {
        // D9
        let price = built_in_price(Provider::Anthropic, "claude-opus-4-5").unwrap();
        let tokens = Tokens { cache_write: 1_000_000, ..Tokens::default() };
        assert_eq!(price.cost(tokens).to_string(), "$6.25");
        assert_eq!(price.cost_with_hour_writes(tokens, 400_000).to_string(), "$7.75");
        assert_eq!(price.cost_with_hour_writes(tokens, 9_000_000).to_string(), "$10.00", "at most all writes");
    }

    #[test]
    fn the_long_prompt_price_applies_only_to_list_prices() {
        let model = "gemini-2.5-pro";
        let listed = built_in_price(Provider::Gemini, model).unwrap();
        assert_eq!(price_for(Provider::Gemini, model, listed, 200_000), listed);
        assert_eq!(price_for(Provider::Gemini, model, listed, 200_001).input.to_string(), "$2.50");
        assert_eq!(price_for(Provider::Gemini, model, Price::FREE, 200_001), Price::FREE);
    }

    #[test]
    fn no_model_has_two_prices() {
        for (at, row) in PRICE_TABLE.iter().enumerate() {
            let same = |other: &PriceRow| other.provider == row.provider && other.model == row.model;
            assert!(!PRICE_TABLE[at + 1..].iter().any(same), "{}", row.model);
        }
    }
}
