//! Recognizes names of libraries, tools and services in plain text, so that a common word is never taken for one.

/// Names that are not ordinary words too. Languages and formats are missing: a project that decided against one for a
/// purpose still uses it elsewhere.
const KNOWN_NAMES: &str = "activemq actix actix-web aiohttp airflow ajv alembic algolia angular ansible antd \
    apollo appwrite arangodb argon2 asyncpg auth0 autofac automapper axios axum babylonjs bazel bcrypt bcryptjs \
    beanstalkd beautifulsoup bevy bigquery biome bugsnag bullmq cassandra celery cesium chai chakra cheerio \
    chromadb circleci clickhouse cloudflare cmake cockroachdb codemirror commitlint cordova couchbase couchdb \
    cratedb cuda cypress d3 datadog date-fns dayjs deno dexie dioxus discord django docker docusaurus drizzle \
    drupal duckdb dynamodb egui elasticsearch electron esbuild eslint etcd expressjs faiss fargate fastapi fastify \
    ffmpeg firebase firestore flagsmith flake8 flask fluentd flutter formik ganache gatsby gcloud gensim gitbook \
    gitlab gorm gradle grafana graphql grpc grpcio gulp gunicorn hadoop handlebars hashicorp hasura heroku \
    hibernate hono htmx httpx husky immer influxdb inngest ionic ioredis istio jasmine jenkins jest jinja jinja2 \
    joi jotai jquery jsdom kafka keras keycloak kibana knex kubernetes ky langchain laravel launchdarkly leaflet \
    leptos lerna libsql lightgbm lightningcss llamaindex lodash logrus loguru lottie luxon mapbox mariadb \
    marshmallow material-ui matplotlib maven meilisearch memcached milvus minio mistral mithril mixpanel mkdocs \
    mlflow mobx mocha mockito momentjs mongo mongodb mongoose mssql mui mypy mysql mysql2 nanoid neo4j nestjs \
    netlify newrelic nextauth nextjs nextra nginx ngrok nltk node-fetch nodejs nodemailer nsq numpy nuxt nx okta \
    openai openapi openssl opentelemetry oracledb oxlint pandas passportjs peewee phaser phpunit pinecone pinia pip \
    pipenv pixijs plaid playwright plotly pnpm polars postcss postgis postgres postgresql posthog preact prettier \
    prisma prometheus prosemirror protobuf psycopg pulsar pulumi puppeteer puppeteer-core pydantic pylint pyright \
    pytest pytorch qdrant quarkus questdb rabbitmq ramda react-query react-router recharts redis redux reqwest \
    resque rethinkdb rocketmq rocksdb rollbar ruff rustls rxjs scikit scipy scrapy scss seaborn seaorm selenium \
    sentry sequelize serde shadcn sidekiq sinon slatejs snowflake snowpack socketio solidjs spacy sqlalchemy sqlite \
    sqlite3 sqlmodel sqlx storybook stripe styled-components stylelint supabase superagent supertest surrealdb \
    svelte sveltekit swc sycamore symfony tailwind tailwindcss tanstack tauri temporalio tensorboard tensorflow \
    terraform testcontainers threejs timescaledb tiptap tokio trpc tslint tsup turborepo turso twilio typeorm \
    typesense ulid unittest unleash-client unocss upstash urllib3 urql uuidv4 uvicorn vagrant valibot valkey vercel \
    victoriametrics vite vitepress vitest vue vuejs vuepress vuetify vuex weasyprint weaviate webpack wgpu winston \
    wordpress xgboost xstate yargs yarn yup zeromq zipkin zipline zod zookeeper zustand";

/// Abbreviations that occur in any text about software.
const COMMON_ABBREVIATIONS: &str = "ai api apis ascii ci cd cli cpu css csv db gpu gui html http https id ids json \
    llm mvp os pdf png pr prs readme sdk sql svg todo ui url urls ux xml";

/// A text with more lines than this was pasted, except for its first and last lines.
const MAX_TYPED_LINES: usize = 12;
const TYPED_LINES_BEFORE: usize = 3;
const TYPED_LINES_AFTER: usize = 2;
/// Words that are counted rather than named: `phase2`, `step1`.
const COUNTED_WORDS: &str =
    "case day file item issue line list option page part phase plan point step task test v version week";
/// Maximum number of words of a name.
const MAX_NAME_WORDS: usize = 2;

/// How sure it is that a word of a text means the thing of that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NameForm {
    /// It means nothing else.
    Distinctive,
    /// It was written as code and is an ordinary word otherwise: only code with that word means it.
    Code,
}

/// Whether a name can be recognized in other texts, given the sentence in which it was used. `None` for descriptions
/// and ordinary words.
pub(crate) fn name_form(name: &str, sentence: &str) -> Option<NameForm> {
    let words: Vec<&str> = name.split_whitespace().collect();
    if words.is_empty() || words.len() > MAX_NAME_WORDS {
        return None;
    }
    if words.iter().any(|word| is_distinctive(word, sentence)) && words.iter().all(|word| !is_article(word)) {
        return Some(NameForm::Distinctive);
    }
    let is_code = sentence.to_lowercase().contains(&format!("`{}`", name.to_lowercase()));
    (is_code && words.len() == 1 && name.chars().count() > 1).then_some(NameForm::Code)
}

/// The words before a name in a text, in lower case, and nothing if the text does not contain it.
pub(crate) fn position_of_name(text: &str, name: &str, form: NameForm) -> Option<Vec<String>> {
    words_around_name(text, name, form).map(|(before, _)| before)
}

/// The words before and after a name in a text, in lower case.
pub(crate) fn words_around_name(text: &str, name: &str, form: NameForm) -> Option<(Vec<String>, Vec<String>)> {
    let wanted: Vec<String> = name.split_whitespace().map(str::to_lowercase).collect();
    let words = text_words(text);
    let is_same = |word: &(String, bool), wanted: &String| word.0 == *wanted && (form != NameForm::Code || word.1);
    let at = words.windows(wanted.len().max(1)).position(|window| {
        !wanted.is_empty() && window.iter().zip(&wanted).all(|(word, wanted)| is_same(word, wanted))
    })?;
    let texts = |words: &[(String, bool)]| words.iter().map(|(word, _)| word.clone()).collect();
    Some((texts(&words[..at]), texts(&words[at + wanted.len()..])))
}

/// The words of a text in lower case, each with whether it is written as code. Pasted text is left out: fenced blocks,
/// output, and the middle of a text with many lines.
fn text_words(text: &str) -> Vec<(String, bool)> {
    let mut typed: Vec<&str> = Vec::new();
    let mut is_fenced = false;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        if !is_fenced && !is_fence {
            typed.push(line);
        }
    }
    if typed.len() > MAX_TYPED_LINES {
        typed.drain(TYPED_LINES_BEFORE..typed.len() - TYPED_LINES_AFTER);
    }
    typed.retain(|line| !is_output(line));
    let is_break = |c: char| c.is_whitespace() || ",;:!?()[]{}\"“”=".contains(c);
    typed.iter().flat_map(|line| line.split(is_break)).filter_map(text_word).collect()
}

/// Whether a line was printed by a program: a stack trace, data, a prompt of a shell, a frame.
fn is_output(line: &str) -> bool {
    let bare = line.trim_start();
    line.starts_with("    ")
        || bare.starts_with(['{', '}', '"', '|', '+', '<', '>', '$', '%'])
        || bare.starts_with("at ")
        || bare.chars().any(|c| matches!(c, '\u{2500}'..='\u{259f}' | '✔' | '✖' | '✓' | '✗'))
}

fn text_word(raw: &str) -> Option<(String, bool)> {
    let is_code = raw.starts_with('`') && raw.trim_end_matches(['.', '\'']).ends_with('`') && raw.len() > 2;
    let word = raw.trim_matches(['`', '\'', '*', '_', '.', '’', '‘']);
    let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
    // `axios@1.7`, but not `@types/node`.
    let end = word.char_indices().skip(1).find(|(_, c)| *c == '@').map_or(word.len(), |(at, _)| at);
    let word = word[..end].trim_end_matches(['`', '\'']).to_lowercase();
    (!word.is_empty()).then_some((word, is_code))
}

/// Whether a word is a name by itself: a known one, or one that is written unlike ordinary words.
fn is_distinctive(word: &str, sentence: &str) -> bool {
    let lower = word.to_lowercase();
    if lower.chars().count() < 2 || has_word(COMMON_ABBREVIATIONS, &lower) {
        return false;
    }
    let has_letter = lower.chars().any(char::is_alphabetic);
    let has_digit = lower.chars().any(|c| c.is_ascii_digit());
    let is_scoped = lower.starts_with('@') && lower.contains('/');
    let is_dotted = lower.rsplit_once('.').is_some_and(|(_, end)| matches!(end, "js" | "io" | "rs"));
    has_word(KNOWN_NAMES, &lower)
        || (has_letter
            && has_digit
            && !is_counted(&lower)
            && lower.len() > 3
            && lower.chars().all(|c| c.is_alphanumeric() || "-_.".contains(c)))
        || is_scoped
        || (is_dotted && lower.len() > 5 && !lower.contains('/'))
        || has_inner_capital(&lower, sentence)
}

fn is_counted(lower: &str) -> bool {
    has_word(COUNTED_WORDS, lower.trim_end_matches(|c: char| c.is_ascii_digit() || "-_.".contains(c)))
}

/// Whether the sentence writes the word with a capital that does not begin it: `GraphQL`, `DuckDB`, `GRPC`.
fn has_inner_capital(lower: &str, sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric());
    // A sentence in capitals says nothing.
    let shouts = sentence.chars().filter(|c| c.is_uppercase()).count() * 2 > sentence.chars().count();
    !shouts
        && lower.chars().all(char::is_alphanumeric)
        && words.any(|word| word.to_lowercase() == lower && word.chars().skip(1).any(char::is_uppercase))
}

fn has_word(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

fn is_article(word: &str) -> bool {
    matches!(word.to_lowercase().as_str(), "the" | "a" | "an" | "this" | "that" | "our" | "your" | "my" | "old" | "new")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_from_descriptions_and_ordinary_words() {
        // D41
        for (name, sentence, expected) in [
            ("axios", "use ky instead of axios", Some(NameForm::Distinctive)),
            ("graphql", "GraphQL is too much here", Some(NameForm::Distinctive)),
            ("duckdb", "no DuckDB for now", Some(NameForm::Distinctive)),
            ("frobdb", "we keep FrobDB out", Some(NameForm::Distinctive)),
            ("better-sqlite3", "drop better-sqlite3", Some(NameForm::Distinctive)),
            ("@tanstack/query", "no @tanstack/query", Some(NameForm::Distinctive)),
            ("any", "don't use `any`", Some(NameForm::Code)),
            ("the old approach", "use the new one instead of the old approach", None),
            ("old approach", "instead of the old approach", None),
            ("request", "use fetch instead of request", None),
            ("phase2", "start with phase1 instead of phase2", None),
            ("server-side", "client-side instead of server-side", None),
            ("api", "the UI instead of the API", None),
            ("the redis", "not the redis", None),
            ("", "", None),
        ] {
            assert_eq!(name_form(name, sentence), expected, "{name}");
        }
    }

    #[test]
    fn names_are_found_as_whole_words_outside_of_pasted_text() {
        let contains_name = |text: &str, name: &str, form| position_of_name(text, name, form).is_some();
        let found = |text: &str| contains_name(text, "axios", NameForm::Distinctive);
        for text in ["let's add axios", "Axios, please", "add `axios` here", "axios@1.7 is out", "axios's retries"] {
            assert!(found(text), "{text}");
        }
        for text in [
            "taxios",
            "src/axios.ts",
            "axios-mock",
            "look:\n```\nimport axios\n```",
            "    at axios (x.js)",
            "fix:\n> axios v1",
        ] {
            assert!(!found(text), "{text}");
        }
        let lines = |before: &str, count| format!("{before}{}please look\nthank you", "a line\n".repeat(count));
        assert!(found(&lines("why does axios fail?\n", 20)));
        assert!(!found(&lines("why?\none\ntwo\nGET by axios\n", 20)), "the middle of a pasted text");
        assert!(contains_name("use `any` there", "any", NameForm::Code));
        assert!(!contains_name("any idea?", "any", NameForm::Code));
    }
}
