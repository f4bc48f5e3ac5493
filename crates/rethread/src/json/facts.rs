//! What is known, as programs get it: fixes, decisions, workflows, the story of a file, facts and their graph.

use rethread_engine::{
    CommandUse, Decision, FactsReport, FileHistory, Fix, FixReport, Graph, KnownError, KnownFact, KnownThing, Pattern,
    Source, Thing, Touch, Workflow,
};
use rethread_model::{Entity, FactState, Predicate, Timestamp};
use schemars::JsonSchema;
use serde::Serialize;

use super::SCHEMA;
use super::shape::{EntityShape, Moment, PredicateName};

/// Where something stands.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Source")]
struct Cited {
    session: Of,
    line: u64,
    evidence: Vec<u64>,
    #[schemars(with = "Option<Moment>")]
    at: Option<Timestamp>,
    citation: String,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "SourceSession")]
struct Of {
    id: String,
    agent: &'static str,
    name: Option<String>,
    project: Option<String>,
}

impl Cited {
    fn new(source: &Source) -> Self {
        Self {
            session: Of {
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

/// What fixed an error.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fixes")]
#[serde(rename_all = "camelCase")]
pub(crate) struct Fixed<'a> {
    schema: u8,
    signature: Option<&'a str>,
    exact: bool,
    known_errors: u64,
    errors: Vec<Met<'a>>,
    fixes: Vec<Remedy<'a>>,
    dead_ends: Vec<Remedy<'a>>,
}

/// An error that was met before.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "KnownError")]
struct Met<'a> {
    signature: &'a str,
    error: &'a str,
    likeness: f64,
    seen: u64,
    last: Option<Cited>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fix")]
#[serde(rename_all = "camelCase")]
struct Remedy<'a> {
    state: &'static str,
    what: &'a str,
    reason: Option<&'a str>,
    succeeded: u64,
    failed: u64,
    command: Option<&'a str>,
    error: &'a str,
    signature: &'a str,
    likeness: f64,
    trust: &'static str,
    #[schemars(with = "Option<Moment>")]
    last_at: Option<Timestamp>,
    sources: Vec<Cited>,
}

impl<'a> Fixed<'a> {
    pub(crate) fn new(report: &'a FixReport) -> Self {
        let met = |error: &'a KnownError| Met {
            signature: &error.signature,
            error: &error.line,
            likeness: rounded(error.likeness),
            seen: error.seen,
            last: error.last.as_ref().map(Cited::new),
        };
        let of = |error: &'a KnownError, fixes: &'a [Fix]| {
            let named = fixes.iter().map(|fix| Remedy::new(fix, &error.signature, &error.line, error.likeness));
            named.collect::<Vec<_>>()
        };
        Self {
            schema: SCHEMA,
            signature: report.signature.as_deref(),
            exact: report.errors.first().is_some_and(|error| error.likeness >= 1.0 && is_named(report, error)),
            known_errors: report.known,
            errors: report.errors.iter().map(met).collect(),
            fixes: report.errors.iter().flat_map(|error| of(error, &error.fixes.fixes)).collect(),
            dead_ends: report.errors.iter().flat_map(|error| of(error, &error.fixes.dead_ends)).collect(),
        }
    }
}

fn is_named(report: &FixReport, error: &KnownError) -> bool {
    report.signature.as_deref() == Some(error.signature.as_str())
}

impl<'a> Remedy<'a> {
    fn new(fix: &'a Fix, signature: &'a str, error: &'a str, likeness: f64) -> Self {
        Self {
            state: fix.state.as_str(),
            what: &fix.what,
            reason: fix.reason.as_deref(),
            succeeded: fix.succeeded,
            failed: fix.failed,
            command: fix.command.as_deref(),
            error,
            signature,
            likeness: rounded(likeness),
            trust: fix.trust.as_str(),
            last_at: fix.last_at,
            sources: fix.sources.iter().map(Cited::new).collect(),
        }
    }
}

/// Decisions and rules.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Decisions")]
pub(crate) struct Decided<'a> {
    schema: u8,
    decisions: Vec<Settled<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Decision")]
#[serde(rename_all = "camelCase")]
struct Settled<'a> {
    kind: &'static str,
    state: &'static str,
    open: bool,
    choice: &'a str,
    against: Option<&'a str>,
    what: &'a str,
    reason: Option<&'a str>,
    trust: &'static str,
    project: Option<&'a str>,
    #[schemars(with = "Option<Moment>")]
    valid_from: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    valid_to: Option<Timestamp>,
    sources: Vec<Cited>,
    closed_by: Option<Cited>,
}

impl<'a> Decided<'a> {
    pub(crate) fn new(found: &'a [Decision]) -> Self {
        Self { schema: SCHEMA, decisions: found.iter().map(Settled::new).collect() }
    }
}

impl<'a> Settled<'a> {
    fn new(one: &'a Decision) -> Self {
        Self {
            kind: one.predicate.as_str(),
            state: one.state.of_decision(),
            open: one.is_open(),
            choice: &one.choice,
            against: one.against.as_deref(),
            what: &one.what,
            reason: one.reason.as_deref(),
            trust: one.trust.as_str(),
            project: one.project.as_deref(),
            valid_from: one.valid_from,
            valid_to: one.valid_to,
            sources: one.sources.iter().map(Cited::new).collect(),
            closed_by: one.closed_by.as_ref().map(Cited::new),
        }
    }
}

/// How work is done.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Workflows")]
pub(crate) struct Worked<'a> {
    schema: u8,
    projects: Vec<Habits<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ProjectWorkflow")]
struct Habits<'a> {
    project: Option<&'a str>,
    commands: Vec<Run<'a>>,
    sequences: Vec<Habit<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CommandUse")]
#[serde(rename_all = "camelCase")]
struct Run<'a> {
    command: &'a str,
    runs: u64,
    succeeded: u64,
    failed: u64,
    success_rate: Option<f64>,
    usually_fails: bool,
    retried: u64,
    retries_succeeded: u64,
    instead: Vec<Instead<'a>>,
    sessions: u64,
    last: Cited,
}

#[derive(Serialize, JsonSchema)]
struct Instead<'a> {
    what: &'a str,
    times: u64,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "CommandSequence")]
#[serde(rename_all = "camelCase")]
struct Habit<'a> {
    commands: &'a [String],
    times: u64,
    sessions: u64,
    succeeded: u64,
    success_rate: f64,
    #[schemars(with = "Option<Moment>")]
    last_at: Option<Timestamp>,
    last: Cited,
}

impl<'a> Worked<'a> {
    pub(crate) fn new(found: &'a [Workflow]) -> Self {
        let habits = |one: &'a Workflow| Habits {
            project: one.project.as_deref(),
            commands: one.commands.iter().map(Run::new).collect(),
            sequences: one.patterns.iter().map(Habit::new).collect(),
        };
        Self { schema: SCHEMA, projects: found.iter().map(habits).collect() }
    }
}

impl<'a> Run<'a> {
    fn new(one: &'a CommandUse) -> Self {
        Self {
            command: &one.command,
            runs: one.runs(),
            succeeded: one.succeeded,
            failed: one.failed,
            success_rate: one.success_rate().map(rounded),
            usually_fails: one.usually_fails(),
            retried: one.retried,
            retries_succeeded: one.retries_succeeded,
            instead: one.instead.iter().map(|(what, times)| Instead { what, times: *times }).collect(),
            sessions: one.sessions,
            last: Cited::new(&one.last),
        }
    }
}

impl<'a> Habit<'a> {
    fn new(one: &'a Pattern) -> Self {
        Self {
            commands: &one.commands,
            times: one.times,
            sessions: one.sessions,
            succeeded: one.succeeded,
            success_rate: rounded(one.success_rate()),
            last_at: one.last_at,
            last: Cited::new(&one.last),
        }
    }
}

/// The story of a file.
#[derive(Serialize, JsonSchema)]
pub(crate) struct FileStory<'a> {
    schema: u8,
    file: Option<&'a str>,
    names: &'a [String],
    total: u64,
    touches: Vec<Touched<'a>>,
    fixes: Vec<Remedy<'a>>,
    decisions: Vec<Settled<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Touch")]
#[serde(rename_all = "camelCase")]
struct Touched<'a> {
    deeds: Vec<Done<'a>>,
    #[schemars(with = "Option<Moment>")]
    last_at: Option<Timestamp>,
    why: Option<&'a str>,
    episode: u64,
    source: Cited,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Deed")]
#[serde(rename_all = "camelCase")]
struct Done<'a> {
    what: &'static str,
    name: &'a str,
    renamed_to: Option<&'a str>,
    times: u64,
}

impl<'a> FileStory<'a> {
    pub(crate) fn new(found: &'a FileHistory) -> Self {
        Self {
            schema: SCHEMA,
            file: found.names.first().map(String::as_str),
            names: &found.names,
            total: found.total,
            touches: found.touches.iter().map(Touched::new).collect(),
            fixes: found.fixes.iter().map(|(error, fix)| Remedy::new(fix, error, error, 1.0)).collect(),
            decisions: found.decisions.iter().map(Settled::new).collect(),
        }
    }
}

impl<'a> Touched<'a> {
    fn new(touch: &'a Touch) -> Self {
        let deeds = touch.deeds.iter().map(|deed| Done {
            what: deed.predicate.as_str(),
            name: &deed.name,
            renamed_to: deed.renamed_to.as_deref(),
            times: deed.times,
        });
        Self {
            deeds: deeds.collect(),
            last_at: touch.last_at,
            why: touch.why.as_deref(),
            episode: touch.source.episode,
            source: Cited::new(&touch.source),
        }
    }
}

/// What is known of a thing, or the things most is known of.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Facts")]
pub(crate) struct Known<'a> {
    schema: u8,
    entity: Option<Counted<'a>>,
    #[schemars(with = "Vec<EntityShape>")]
    others: &'a [Entity],
    facts: Vec<Stated<'a>>,
    graph: Option<Net<'a>>,
    things: Vec<Counted<'a>>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Thing")]
#[serde(rename_all = "camelCase")]
struct Counted<'a> {
    #[serde(flatten)]
    #[schemars(with = "EntityShape")]
    entity: &'a Entity,
    facts: u64,
    sessions: u64,
    #[schemars(with = "Option<Moment>")]
    last_at: Option<Timestamp>,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Fact")]
#[serde(rename_all = "camelCase")]
struct Stated<'a> {
    #[schemars(with = "PredicateName")]
    predicate: Predicate,
    #[schemars(with = "EntityShape")]
    subject: &'a Entity,
    #[schemars(with = "Option<EntityShape>")]
    object: Option<&'a Entity>,
    detail: &'a str,
    reason: Option<&'a str>,
    state: &'static str,
    succeeded: u64,
    failed: u64,
    trust: &'static str,
    model: Option<&'a str>,
    #[schemars(with = "Option<Moment>")]
    at: Option<Timestamp>,
    #[schemars(with = "Moment")]
    learned_at: Timestamp,
    source: Cited,
}

impl<'a> Known<'a> {
    pub(crate) fn new(report: &'a FactsReport) -> Self {
        let empty = Self { schema: SCHEMA, entity: None, others: &[], facts: vec![], graph: None, things: vec![] };
        match report {
            FactsReport::Things(things) => Self { things: things.iter().map(Counted::new).collect(), ..empty },
            FactsReport::About { thing, facts, graph, others } => Self {
                entity: Some(Counted::new(thing)),
                others,
                facts: facts.iter().map(Stated::new).collect(),
                graph: Some(Net::new(graph)),
                ..empty
            },
        }
    }
}

impl<'a> Counted<'a> {
    fn new(thing: &'a KnownThing) -> Self {
        Self { entity: &thing.entity, facts: thing.facts, sessions: thing.sessions, last_at: thing.last_at }
    }
}

impl<'a> Stated<'a> {
    fn new(known: &'a KnownFact) -> Self {
        let fact = &known.fact;
        Self {
            predicate: fact.predicate,
            subject: &fact.subject,
            object: fact.object.as_ref(),
            detail: &fact.detail,
            reason: fact.reason.as_deref(),
            state: fact.state.named(fact.predicate),
            succeeded: fact.succeeded,
            failed: fact.failed,
            trust: fact.trust.as_str(),
            model: fact.model.as_deref(),
            at: fact.at,
            learned_at: known.learned_at,
            source: Cited::new(&Source::of(known)),
        }
    }
}

/// What surrounds a thing.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Graph")]
#[serde(rename_all = "camelCase")]
struct Net<'a> {
    nodes: Vec<Point<'a>>,
    edges: Vec<Line>,
    left_out: usize,
}

#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Node")]
struct Point<'a> {
    kind: &'static str,
    name: String,
    depth: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    agent: Option<&'a str>,
}

/// An edge; its ends are positions among the nodes.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Edge")]
#[serde(rename_all = "camelCase")]
struct Line {
    from: usize,
    to: usize,
    #[schemars(with = "PredicateName")]
    predicate: Predicate,
    state: &'static str,
    times: u64,
    succeeded: u64,
    failed: u64,
    #[schemars(with = "Option<Moment>")]
    valid_from: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    valid_to: Option<Timestamp>,
    #[schemars(with = "Option<Moment>")]
    last_at: Option<Timestamp>,
    source: Cited,
}

impl<'a> Net<'a> {
    fn new(graph: &'a Graph) -> Self {
        let nodes = graph.nodes.iter().map(|node| {
            let (session, agent) = match &node.thing {
                Thing::Session { id, agent, .. } => (Some(id.to_string()), Some(agent.as_str())),
                Thing::Entity(_) => (None, None),
            };
            Point { kind: node.thing.kind(), name: node.thing.label(), depth: node.depth, session, agent }
        });
        let edges = graph.edges.iter().map(|edge| Line {
            from: edge.from,
            to: edge.to,
            predicate: edge.predicate,
            state: FactState::named(edge.state, edge.predicate),
            times: edge.times,
            succeeded: edge.succeeded,
            failed: edge.failed,
            valid_from: edge.valid_from,
            valid_to: edge.valid_to,
            last_at: edge.last_at,
            source: Cited::new(&edge.source),
        });
        Self { nodes: nodes.collect(), edges: edges.collect(), left_out: graph.left_out }
    }
}

fn rounded(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}
