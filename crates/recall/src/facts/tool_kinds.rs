//! What well-known tools are for: ky is an HTTP client, pnpm a package manager. A plain table.

use std::collections::HashMap;
use std::sync::LazyLock;

/// Names for a kind of tool, separated by `|`, and its well-known members. A tool may be of several kinds.
const KINDS: [(&str, &str); 51] = [
    (
        "http client|http library|request library|http requests|api requests|requests to the api",
        "ky axios got superagent node-fetch undici wretch needle request requests httpx aiohttp urllib3 reqwest ureq \
         okhttp retrofit guzzle faraday httparty",
    ),
    (
        "database|db|data store|datastore|sql database",
        "postgres postgresql mysql mariadb sqlite sqlite3 mongodb mongo dynamodb cockroachdb mssql oracle cassandra \
         scylladb couchdb couchbase firestore supabase planetscale neon turso libsql duckdb clickhouse timescaledb \
         influxdb postgis questdb surrealdb rethinkdb neo4j arangodb",
    ),
    (
        "time series database|timeseries database|time series store",
        "timescaledb timescale influxdb influx questdb victoriametrics",
    ),
    ("vector database|vector store|vector db", "pinecone weaviate qdrant milvus chromadb chroma pgvector faiss"),
    (
        "package manager|dependency manager|dependency management|manage dependencies|lock file|lockfile",
        "npm pnpm yarn bun uv pip poetry pipenv pdm conda hatch cargo maven gradle composer bundler nuget",
    ),
    (
        "test runner|test framework|testing framework|testing library|unit test framework",
        "vitest jest mocha jasmine ava tap pytest unittest nose rspec minitest junit testng nextest phpunit",
    ),
    (
        "e2e framework|e2e tests|end to end tests|browser tests|e2e tool",
        "playwright cypress selenium puppeteer webdriverio testcafe",
    ),
    ("linter|linting|lint tool", "eslint biome oxlint tslint ruff flake8 pylint clippy golangci-lint rubocop"),
    ("formatter|code formatter|code formatting", "prettier biome dprint black yapf rustfmt gofmt"),
    ("type checker|type checking", "mypy pyright pyre flow"),
    (
        "bundler|build tool|bundling",
        "vite webpack rollup esbuild parcel rspack turbopack tsup snowpack swc gulp grunt bazel",
    ),
    ("monorepo tool|monorepo", "turborepo nx lerna bazel moon rush"),
    (
        "frontend framework|ui framework|frontend library",
        "react vue svelte angular solid solidjs preact qwik lit htmx alpine ember",
    ),
    (
        "web framework|backend framework|server framework|api framework|framework",
        "nextjs nuxt remix sveltekit astro gatsby express fastify koa hono nestjs django flask fastapi starlette \
         sanic tornado bottle rails sinatra laravel symfony spring quarkus axum actix actix-web rocket warp gin echo \
         fiber chi phoenix",
    ),
    ("mobile framework", "flutter react-native expo ionic cordova capacitor"),
    ("desktop framework", "electron tauri wails"),
    (
        "orm|query builder|data access layer",
        "prisma drizzle typeorm sequelize knex kysely mikroorm objection sqlalchemy sqlmodel peewee tortoise diesel \
         sqlx seaorm gorm sqlc ent hibernate mongoose",
    ),
    (
        "job queue|task queue|background jobs|background job|background worker|worker queue|queue|job runner",
        "bullmq bull pg-boss celery arq rq dramatiq huey sidekiq resque bee-queue agenda graphile-worker temporal \
         temporalio inngest faktory",
    ),
    (
        "message broker|message queue|message bus|event bus|event stream|messaging|broker",
        "kafka rabbitmq nats sqs pulsar redpanda activemq zeromq mosquitto nsq rocketmq",
    ),
    ("cache|caching|cache server", "redis memcached valkey dragonfly"),
    (
        "search engine|full text search|search server|search index",
        "elasticsearch opensearch meilisearch typesense algolia tantivy solr",
    ),
    ("ci|ci system|ci provider|continuous integration", "circleci jenkins travis buildkite drone github-actions"),
    (
        "hosting|hosting provider|cloud|cloud provider|deploy|deployed|hosted|deployment target|deployment platform",
        "vercel netlify fly fly.io render railway heroku aws gcp azure cloudflare digitalocean hetzner ecs fargate \
         kubernetes k8s nomad systemd",
    ),
    ("container runtime|containers", "docker podman"),
    ("infrastructure as code|infrastructure tool", "terraform opentofu pulumi ansible cdk cloudformation"),
    (
        "logging|logger|logging library|log library",
        "pino winston bunyan log4j logback loguru structlog zap logrus zerolog slog",
    ),
    (
        "monitoring|error tracking|observability|error reporting",
        "sentry datadog grafana prometheus newrelic bugsnag rollbar honeycomb opentelemetry",
    ),
    ("dashboards|dashboard tool", "grafana metabase kibana superset"),
    (
        "state management|state library|state manager|client state|state store",
        "redux zustand jotai recoil mobx valtio pinia vuex xstate",
    ),
    ("data fetching|data fetching library", "react-query swr apollo urql trpc tanstack"),
    (
        "styling|css framework|css library|css solution|styles",
        "tailwind tailwindcss bootstrap bulma sass scss less stylus styled-components emotion unocss vanilla-extract \
         css-modules",
    ),
    (
        "component library|ui kit|ui library|design system",
        "mui material-ui antd chakra shadcn mantine radix headlessui vuetify",
    ),
    (
        "validation|validation library|schema validation|validator",
        "zod yup joi ajv valibot typebox superstruct pydantic marshmallow cerberus",
    ),
    (
        "date library|date handling|time library|date formatting",
        "moment momentjs dayjs date-fns luxon arrow pendulum chrono joda",
    ),
    (
        "authentication|auth provider|auth library|auth",
        "auth0 clerk keycloak nextauth okta lucia passport passportjs cognito jwt",
    ),
    ("api style|api protocol", "rest graphql grpc trpc soap"),
    ("config format|configuration format|config file format", "toml yaml json ini"),
    ("secret manager|secret management|secret store|secrets", "vault sops doppler infisical"),
    ("dataframe library|dataframes|data frames|dataframe", "pandas polars dask vaex modin"),
    ("object storage|file storage|blob storage|image storage|bucket", "s3 r2 minio gcs backblaze"),
    ("payment provider|payments|billing provider", "stripe paypal adyen braintree paddle lemonsqueezy"),
    ("email provider|mail provider|email service", "sendgrid resend postmark mailgun ses nodemailer"),
    ("docs generator|documentation site|docs site", "docusaurus mkdocs vitepress sphinx mdbook nextra gitbook"),
    ("chart library|charts|charting|plotting library", "recharts d3 chartjs plotly echarts highcharts matplotlib"),
    ("feature flags|feature flag service", "launchdarkly unleash flagsmith growthbook"),
    ("analytics", "posthog mixpanel amplitude plausible matomo"),
    ("javascript runtime|js runtime", "nodejs node deno bun"),
    ("map library|maps|map renderer", "maplibre mapbox leaflet openlayers cesium deckgl"),
    (
        "migration tool|migrations|database migrations|schema migrations",
        "flyway liquibase alembic golang-migrate dbmate goose sqitch",
    ),
    ("translation library|i18n|i18n library|translations", "i18next react-intl svelte-i18n paraglide lingui formatjs"),
    ("reverse proxy|load balancer|proxy", "nginx caddy traefik haproxy envoy varnish"),
];

/// Tools whose names have more than one word.
const LONG_NAMES: [(&str, &str); 4] = [
    ("css modules", "css-modules"),
    ("github actions", "github-actions"),
    ("react native", "react-native"),
    ("next.js", "nextjs"),
];

/// Different names of the same tool.
const SPELLINGS: [&str; 16] = [
    "postgres postgresql",
    "mongo mongodb",
    "sqlite sqlite3",
    "influx influxdb",
    "timescale timescaledb",
    "kubernetes k8s",
    "tailwind tailwindcss",
    "moment momentjs",
    "fly fly.io",
    "chroma chromadb",
    "actix actix-web",
    "solid solidjs",
    "mui material-ui",
    "passport passportjs",
    "nodejs node",
    "temporal temporalio",
];

/// All names of a tool, its own first.
pub(crate) fn spellings(tool: &str) -> Vec<String> {
    let lower = tool.to_lowercase();
    let group = SPELLINGS.iter().find(|group| has_member(group, &lower));
    let others = group.into_iter().flat_map(|group| group.split(' ')).filter(|other| *other != lower);
    let others: Vec<String> = others.map(str::to_owned).collect();
    std::iter::once(lower.clone()).chain(others).collect()
}

/// The kinds of each tool, as indexes into the table: a hook looks up every word of a thousand decisions.
static KINDS_BY_TOOL: LazyLock<HashMap<&str, Vec<usize>>> = LazyLock::new(|| {
    let mut kinds: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, (_, members)) in KINDS.iter().enumerate() {
        for member in members.split_ascii_whitespace() {
            kinds.entry(member).or_default().push(at);
        }
    }
    kinds
});

/// Whether this is the name of a tool in the table.
pub(crate) fn is_tool(name: &str) -> bool {
    KINDS_BY_TOOL.contains_key(listed_name(name).as_str())
}

/// Whether two different tools are for the same purpose.
pub(crate) fn is_same_kind(one: &str, other: &str) -> bool {
    let (one, other) = (listed_name(one), listed_name(other));
    let kinds = |tool: &str| KINDS_BY_TOOL.get(tool).map_or(&[][..], Vec::as_slice);
    kinds(&one).iter().any(|kind| kinds(&other).contains(kind)) && !spellings(&one).contains(&other)
}

/// Names for the kinds of a tool: `http client`, `http library`. Nothing if it is not in the table.
pub(crate) fn kinds_of(tool: &str) -> impl Iterator<Item = &'static str> {
    let kinds = KINDS_BY_TOOL.get(listed_name(tool).as_str()).cloned().unwrap_or_default();
    kinds.into_iter().flat_map(|at| KINDS[at].0.split('|'))
}

/// The tools that a text names, in lower case, in order, each once.
pub(crate) fn tools_in(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let long = LONG_NAMES.iter().filter(|(name, _)| lower.contains(name)).map(|(name, _)| (*name).to_owned());
    let mut found: Vec<String> = long.collect();
    let words = lower.split(|c: char| !(c.is_alphanumeric() || "-_./@".contains(c)));
    for word in words.map(|word| word.trim_matches(['.', '-', '/', '_'])).filter(|word| !word.is_empty()) {
        if KINDS_BY_TOOL.contains_key(word) && !found.iter().any(|known| known == word) {
            found.push(word.to_owned());
        }
    }
    found
}

/// Whether a question in lower case names a kind of tool, as in "which http client do we use".
pub(crate) fn names_kind(question: &str, kind: &str) -> bool {
    question.match_indices(kind).any(|(at, _)| {
        let is_edge = |c: Option<char>| c.is_none_or(|c| !c.is_alphanumeric());
        let after = &question[at + kind.len()..];
        is_edge(question[..at].chars().next_back()) && is_edge(after.strip_prefix('s').unwrap_or(after).chars().next())
    })
}

fn listed_name(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    LONG_NAMES.iter().find(|(long, _)| *long == lower).map_or(lower, |(_, listed)| (*listed).to_owned())
}

fn has_member(members: &str, name: &str) -> bool {
    members.split_ascii_whitespace().any(|member| member == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_kinds() {
        assert!(kinds_of("ky").any(|kind| kind == "http client"));
        assert!(kinds_of("CSS modules").any(|kind| kind == "styling") && kinds_of("lines").next().is_none());
        assert!(is_same_kind("Ky", "axios") && !is_same_kind("ky", "ky") && !is_same_kind("ky", "pnpm"));
    }

    #[test]
    fn tools_are_found_as_whole_words() {
        assert_eq!(tools_in("drizzle please, prisma's engine is too big"), ["drizzle", "prisma"]);
        assert_eq!(tools_in("use CSS modules, not fly.io."), ["css modules", "fly.io"]);
        assert_eq!(tools_in("the skyline"), Vec::<String>::new());
    }

    #[test]
    fn a_question_names_a_kind_in_whole_words() {
        assert!(names_kind("which http client do we use?", "http client") && names_kind("our linters", "linter"));
        assert!(!names_kind("which linterna do we use", "linter"));
    }
}
