//! JSON of memory: fixes, decisions, workflows, file histories, facts and the graph around an entity.

use rethread_engine::{
    CommandStats, Decision, EntityFacts, EntityGraph, FactRow, FactSource, FactsReport, FileHistory, FileRule,
    FileTouch, Fix, FixReport, GraphItem, KnownError, SearchHit, StepSequence, Workflow,
};
use rethread_model::{Entity, FactState, Predicate, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::error_sessions::ErrorSessionJson;
use super::file_rules::FileRuleJson;
use super::schema::{EntityJson, PredicateJson, TimestampJson};

/// The transcript lines that something was extracted from.
#[derive(Serialize, JsonSchema)]
struct SourceJson {
    session: SessionRefJson,
    line: u64,
    /// Further lines that support it.
    evidence: Vec<u64>,
    #[schemars(with = "Option<TimestampJson>")]
    at: Option<Timestamp>,
    citation: String,
}

/// The session of a source.
#[derive(Serialize, JsonSchema)]
struct SessionRefJson {
    id: String,
    agent: &'static str,
    name: Option<String>,
    project: Option<String>,
}

impl SourceJson {
    fn new(source: &FactSource) -> Self {
        Self {
            session: SessionRefJson {
                id: source.session.to_string(),
                agent: source.agent.as_str(),
                name: source.session_name.clone(),
                project: source.project.clone(),
            },
            line: source.line,
            evidence: source.evidence.clone(),
            at: source.at,
            citation: source.citation(),
        }
    }
}

/// What fixed an error, and what did not.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FixReportJson<'a> {
    schema: u8,
    /// The normalized error; null if the text contains no error.
    signature: Option<&'a str>,
    /// Whether this very error is known, not only similar ones.
    exact: bool,
    /// Errors known in this scope.
    known_errors: u64,
    errors: Vec<KnownErrorJson<'a>>,
    fixes: Vec<FixJson<'a>>,
    failed_attempts: Vec<FixJson<'a>>,
    /// If no fix is known: sessions that have nearly all words of the error, most relevant first.
    related: Vec<ErrorSessionJson<'a>>,
}

/// An error that occurred before.
#[derive(Serialize, JsonSchema)]
struct KnownErrorJson<'a> {
    signature: &'a str,
    error: &'a str,
    /// Word overlap with the given text, 0 to 1.
    similarity: f64,
    /// The code by which it was found, such as `TS2345`; null if its words are the same or similar.
    #[serde(rename = "sharedCode")]
    shared_code: Option<&'a str>,
    /// How often it occurred.
    seen: u64,
    /// Where it occurred last.
    last: Option<SourceJson>,
}

/// One attempt to fix an error.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FixJson<'a> {
    /// `confirmed` if it helped more often than not, `refuted` if it did not, `hypothesis` if that is unknown.
    state: &'static str,
    /// What was done.
    what: &'a str,
    reason: Option<&'a str>,
    /// How often the error was gone afterwards.
    succeeded: u64,
    /// How often the error stayed or came back.
    failed: u64,
    /// The command that verified it.
    command: Option<&'a str>,
    error: &'a str,
    signature: &'a str,
    /// Word overlap of `error` with the given text, 0 to 1.
    similarity: f64,
    trust: &'static str,
    #[schemars(with = "Option<TimestampJson>")]
    last_at: Option<Timestamp>,
    sources: Vec<SourceJson>,
}

impl<'a> FixReportJson<'a> {
    pub(crate) fn new(report: &'a FixReport, related: &'a [SearchHit]) -> Self {
        let known_error = |error: &'a KnownError| KnownErrorJson {
            signature: &error.signature,
            error: &error.line,
            similarity: round_to_thousandths(error.similarity),
            shared_code: error.shared_code.as_deref(),
            seen: error.occurrences,
            last: error.last_source.as_ref().map(SourceJson::new),
        };
        let of = |error: &'a KnownError, fixes: &'a [Fix]| {
            let named = fixes.iter().map(|fix| FixJson::new(fix, &error.signature, &error.line, error.similarity));
            named.collect::<Vec<_>>()
        };
        Self {
            schema: SCHEMA,
            signature: report.signature.as_deref(),
            exact: report
                .errors
                .first()
                .is_some_and(|error| error.similarity >= 1.0 && has_same_signature(report, error)),
            known_errors: report.known_errors,
            errors: report.errors.iter().map(known_error).collect(),
            fixes: report.errors.iter().flat_map(|error| of(error, &error.fixes.fixes)).collect(),
            failed_attempts: report.errors.iter().flat_map(|error| of(error, &error.fixes.failed_attempts)).collect(),
            related: related.iter().map(ErrorSessionJson::new).collect(),
        }
    }
}

fn has_same_signature(report: &FixReport, error: &KnownError) -> bool {
    report.signature.as_deref() == Some(error.signature.as_str())
}

impl<'a> FixJson<'a> {
    fn new(fix: &'a Fix, signature: &'a str, error: &'a str, likeness: f64) -> Self {
        Self {
            state: fix.state.as_str(),
            what: &fix.description,
            reason: fix.reason.as_deref(),
            succeeded: fix.succeeded,
            failed: fix.failed,
            command: fix.command.as_deref(),
            error,
            signature,
            similarity: round_to_thousandths(likeness),
            trust: fix.trust.as_str(),
            last_at: fix.last_at,
            sources: fix.sources.iter().map(SourceJson::new).collect(),
        }
    }
}

/// Decisions, preferences and prohibitions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct DecisionListJson<'a> {
    schema: u8,
    decisions: Vec<DecisionJson<'a>>,
    /// Rules in files for agents, as the files are now.
    rules: Vec<FileRuleJson<'a>>,
}

/// A decision, preference or prohibition.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct DecisionJson<'a> {
    kind: &'static str,
    state: &'static str,
    /// Whether it is still valid.
    open: bool,
    choice: &'a str,
    /// The alternative that was rejected.
    against: Option<&'a str>,
    /// What to use instead of what is forbidden.
    replacement: Option<&'a str>,
    what: &'a str,
    reason: Option<&'a str>,
    trust: &'static str,
    project: Option<&'a str>,
    #[schemars(with = "Option<TimestampJson>")]
    valid_from: Option<Timestamp>,
    /// Null while it is valid.
    #[schemars(with = "Option<TimestampJson>")]
    valid_to: Option<Timestamp>,
    sources: Vec<SourceJson>,
    /// Where it was replaced or withdrawn.
    closed_by: Option<SourceJson>,
}

impl<'a> DecisionListJson<'a> {
    pub(crate) fn new(found: &'a [Decision], rules: &'a [FileRule]) -> Self {
        let rules = rules.iter().map(FileRuleJson::new).collect();
        Self { schema: SCHEMA, decisions: found.iter().map(DecisionJson::new).collect(), rules }
    }
}

impl<'a> DecisionJson<'a> {
    fn new(one: &'a Decision) -> Self {
        Self {
            kind: one.predicate.as_str(),
            state: one.state.decision_name(),
            open: one.is_open(),
            choice: &one.subject,
            against: one.rejected_option.as_deref(),
            replacement: one.replacement.as_deref(),
            what: &one.statement,
            reason: one.reason.as_deref(),
            trust: one.trust.as_str(),
            project: one.project.as_deref(),
            valid_from: one.valid_from,
            valid_to: one.valid_to,
            sources: one.sources.iter().map(SourceJson::new).collect(),
            closed_by: one.closed_by.as_ref().map(SourceJson::new),
        }
    }
}

/// Commands and sequences of steps, by project.
#[derive(Serialize, JsonSchema)]
pub(crate) struct WorkflowListJson<'a> {
    schema: u8,
    projects: Vec<ProjectWorkflowJson<'a>>,
}

/// The commands of one project.
#[derive(Serialize, JsonSchema)]
struct ProjectWorkflowJson<'a> {
    project: Option<&'a str>,
    commands: Vec<CommandUseJson<'a>>,
    /// How work is done up to a command.
    sequences: Vec<StepSequenceJson<'a>>,
    /// What is done between a failed command and its next run.
    retries: Vec<StepSequenceJson<'a>>,
}

/// How often a command ran and succeeded.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct CommandUseJson<'a> {
    command: &'a str,
    runs: u64,
    succeeded: u64,
    failed: u64,
    /// 0 to 1; null if no outcome is known.
    success_rate: Option<f64>,
    usually_fails: bool,
    /// Runs right after a failed one, with no other action in between.
    retried: u64,
    retries_succeeded: u64,
    /// What worked instead, most frequent first.
    instead: Vec<AlternativeJson<'a>>,
    sessions: u64,
    last: SourceJson,
}

/// What worked instead of a command that failed.
#[derive(Serialize, JsonSchema)]
struct AlternativeJson<'a> {
    what: &'a str,
    times: u64,
}

/// Tools and commands that are repeatedly used in this order.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct StepSequenceJson<'a> {
    /// Kinds of tools, commands or kinds of commands; `!` marks a failed command.
    steps: &'a [String],
    times: u64,
    sessions: u64,
    /// How often the result of the last command is known.
    checked: u64,
    /// How often the last command succeeded.
    succeeded: u64,
    /// Of those with a known result, 0 to 1; null if there are none.
    success_rate: Option<f64>,
    #[schemars(with = "Option<TimestampJson>")]
    last_at: Option<Timestamp>,
    last: SourceJson,
}

impl<'a> WorkflowListJson<'a> {
    pub(crate) fn new(found: &'a [Workflow]) -> Self {
        let habits = |one: &'a Workflow| ProjectWorkflowJson {
            project: one.project.as_deref(),
            commands: one.commands.iter().map(CommandUseJson::new).collect(),
            sequences: one.sequences.iter().map(StepSequenceJson::new).collect(),
            retries: one.retries.iter().map(StepSequenceJson::new).collect(),
        };
        Self { schema: SCHEMA, projects: found.iter().map(habits).collect() }
    }
}

impl<'a> CommandUseJson<'a> {
    fn new(one: &'a CommandStats) -> Self {
        Self {
            command: &one.command,
            runs: one.runs(),
            succeeded: one.succeeded,
            failed: one.failed,
            success_rate: one.success_rate().map(round_to_thousandths),
            usually_fails: one.usually_fails(),
            retried: one.retried,
            retries_succeeded: one.retries_succeeded,
            instead: one.alternatives.iter().map(|(what, times)| AlternativeJson { what, times: *times }).collect(),
            sessions: one.session_count,
            last: SourceJson::new(&one.last_source),
        }
    }
}

impl<'a> StepSequenceJson<'a> {
    fn new(one: &'a StepSequence) -> Self {
        Self {
            steps: &one.steps,
            times: one.count,
            sessions: one.session_count,
            checked: one.checked,
            succeeded: one.succeeded,
            success_rate: one.success_rate().map(round_to_thousandths),
            last_at: one.last_at,
            last: SourceJson::new(&one.last_source),
        }
    }
}

/// What was done to a file, newest first, with its fixes and decisions.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FileHistoryJson<'a> {
    schema: u8,
    /// Null if nothing is known about the file.
    file: Option<&'a str>,
    /// The file, then its other names.
    names: &'a [String],
    /// Episodes that touched it, including those not listed.
    total: u64,
    touches: Vec<FileTouchJson<'a>>,
    fixes: Vec<FixJson<'a>>,
    decisions: Vec<DecisionJson<'a>>,
}

/// What one episode did to a file.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileTouchJson<'a> {
    actions: Vec<FileActionJson<'a>>,
    #[schemars(with = "Option<TimestampJson>")]
    last_at: Option<Timestamp>,
    /// First line of the prompt.
    why: Option<&'a str>,
    episode: u64,
    source: SourceJson,
}

/// One action on a file.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FileActionJson<'a> {
    what: &'static str,
    /// The file's name at that time.
    name: &'a str,
    renamed_to: Option<&'a str>,
    times: u64,
}

impl<'a> FileHistoryJson<'a> {
    pub(crate) fn new(found: &'a FileHistory) -> Self {
        Self {
            schema: SCHEMA,
            file: found.names.first().map(String::as_str),
            names: &found.names,
            total: found.total,
            touches: found.touches.iter().map(FileTouchJson::new).collect(),
            fixes: found.fixes.iter().map(|(error, fix)| FixJson::new(fix, error, error, 1.0)).collect(),
            decisions: found.decisions.iter().map(DecisionJson::new).collect(),
        }
    }
}

impl<'a> FileTouchJson<'a> {
    fn new(touch: &'a FileTouch) -> Self {
        let session_actions = touch.actions.iter().map(|one_action| FileActionJson {
            what: one_action.predicate.as_str(),
            name: &one_action.name,
            renamed_to: one_action.renamed_to.as_deref(),
            times: one_action.count,
        });
        Self {
            actions: session_actions.collect(),
            last_at: touch.last_at,
            why: touch.prompt.as_deref(),
            episode: touch.source.episode,
            source: SourceJson::new(&touch.source),
        }
    }
}

/// The facts about one entity, or a list of the entities with most facts.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FactsReportJson<'a> {
    schema: u8,
    /// Null if no entity was given or several match.
    entity: Option<EntitySummaryJson<'a>>,
    /// Other entities with the same name.
    #[schemars(with = "Vec<EntityJson>")]
    others: &'a [Entity],
    facts: Vec<FactJson<'a>>,
    graph: Option<GraphJson<'a>>,
    /// The list of entities, if `entity` is null.
    entities: Vec<EntitySummaryJson<'a>>,
}

/// An entity and how much is known about it.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EntitySummaryJson<'a> {
    #[serde(flatten)]
    #[schemars(with = "EntityJson")]
    entity: &'a Entity,
    facts: u64,
    sessions: u64,
    #[schemars(with = "Option<TimestampJson>")]
    last_at: Option<Timestamp>,
}

/// One fact.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct FactJson<'a> {
    #[schemars(with = "PredicateJson")]
    predicate: Predicate,
    #[schemars(with = "EntityJson")]
    subject: &'a Entity,
    #[schemars(with = "Option<EntityJson>")]
    object: Option<&'a Entity>,
    detail: &'a str,
    reason: Option<&'a str>,
    state: &'static str,
    succeeded: u64,
    failed: u64,
    trust: &'static str,
    /// The model that added it; null for facts extracted by rules.
    model: Option<&'a str>,
    /// When it was observed.
    #[schemars(with = "Option<TimestampJson>")]
    at: Option<Timestamp>,
    /// When it was stored.
    #[schemars(with = "TimestampJson")]
    learned_at: Timestamp,
    source: SourceJson,
}

impl<'a> FactsReportJson<'a> {
    pub(crate) fn new(report: &'a FactsReport) -> Self {
        let empty = Self { schema: SCHEMA, entity: None, others: &[], facts: vec![], graph: None, entities: vec![] };
        match report {
            FactsReport::Entities(things) => {
                Self { entities: things.iter().map(EntitySummaryJson::new).collect(), ..empty }
            }
            FactsReport::About { subject: thing, facts, graph, others } => Self {
                entity: Some(EntitySummaryJson::new(thing)),
                others,
                facts: facts.iter().map(FactJson::new).collect(),
                graph: Some(GraphJson::new(graph)),
                ..empty
            },
        }
    }
}

impl<'a> EntitySummaryJson<'a> {
    fn new(thing: &'a EntityFacts) -> Self {
        Self { entity: &thing.entity, facts: thing.facts, sessions: thing.sessions, last_at: thing.last_fact_at }
    }
}

impl<'a> FactJson<'a> {
    fn new(known: &'a FactRow) -> Self {
        let fact = &known.fact;
        Self {
            predicate: fact.predicate,
            subject: &fact.subject,
            object: fact.object.as_ref(),
            detail: &fact.detail,
            reason: fact.reason.as_deref(),
            state: fact.state.display_name(fact.predicate),
            succeeded: fact.success_count,
            failed: fact.failure_count,
            trust: fact.trust.as_str(),
            model: fact.model.as_deref(),
            at: fact.at,
            learned_at: known.learned_at,
            source: SourceJson::new(&FactSource::of_fact(known)),
        }
    }
}

/// The graph around an entity; node 0 is the entity itself.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct GraphJson<'a> {
    nodes: Vec<NodeJson<'a>>,
    edges: Vec<EdgeJson<'a>>,
    /// Nodes that exceeded the size limit.
    left_out: usize,
}

/// An entity or a session.
#[derive(Serialize, JsonSchema)]
struct NodeJson<'a> {
    kind: &'static str,
    name: String,
    /// Edges between it and node 0.
    depth: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
}

/// A fact between two nodes; `from` and `to` are indexes into `nodes`.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct EdgeJson<'a> {
    from: usize,
    to: usize,
    #[schemars(with = "PredicateJson")]
    predicate: Predicate,
    state: &'static str,
    times: u64,
    succeeded: u64,
    failed: u64,
    #[schemars(with = "Option<TimestampJson>")]
    valid_from: Option<Timestamp>,
    #[schemars(with = "Option<TimestampJson>")]
    valid_to: Option<Timestamp>,
    #[schemars(with = "Option<TimestampJson>")]
    last_at: Option<Timestamp>,
    /// What the newest fact says.
    detail: &'a str,
    source: SourceJson,
}

impl<'a> GraphJson<'a> {
    fn new(graph: &'a EntityGraph) -> Self {
        let nodes = graph.nodes.iter().map(|node| {
            let (session, agent) = match &node.item {
                GraphItem::Session { id, agent, .. } => (Some(id.to_string()), Some(agent.as_str())),
                GraphItem::Entity(_) => (None, None),
            };
            NodeJson { kind: node.item.kind(), name: node.item.label(), depth: node.depth, session, agent }
        });
        let edges = graph.edges.iter().map(|edge| EdgeJson {
            from: edge.from,
            to: edge.to,
            predicate: edge.predicate,
            state: FactState::display_name(edge.state, edge.predicate),
            times: edge.fact_count,
            succeeded: edge.succeeded,
            failed: edge.failed,
            valid_from: edge.valid_from,
            valid_to: edge.valid_to,
            last_at: edge.last_at,
            detail: &edge.detail,
            source: SourceJson::new(&edge.source),
        });
        Self { nodes: nodes.collect(), edges: edges.collect(), left_out: graph.left_out }
    }
}

fn round_to_thousandths(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}
