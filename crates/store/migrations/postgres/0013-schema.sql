-- The schema of a database on a server, version 13. Never edit a migration that was released: add the next one, and its
-- version to `MIGRATIONS` in sql/schema.rs. Tables, columns and keys are those of SQLite; a test compares them. Texts are
-- ordered by their bytes (collation C) and nulls come first, as in SQLite.
--
-- Conventions:
-- * `space` (the tenant) leads every key, so that rows of different owners never mix.
-- * `number` is our short row number, counted from 1 within a space. A column called `session` or `transcript` holds
--   such a number.
-- * `agent` and `external_id` name a session by the agent's own id. Tables keyed by them hold what only Rethread knows;
--   they can be written before the transcript is read and they survive a rebuild.
-- * `seq` is the position of an entry in its session, counted from 0 without gaps.
-- * Columns ending in `_at`, and `at`, are UTC times in milliseconds since 1970.
-- * Columns ending in `_key` are 64-bit hashes made from an agent's own ids. `change` is a change number.
-- * Columns ending in `_nanos` that name a cost are billionths of a dollar: integers add up to the same sum in any
--   order.
-- A new table that belongs to a session, or holds text, must also be listed in forgetting/tables.rs.

-- Named numbers: the last change number, how far embeddings have come, the circuit breaker of enrichment.
CREATE TABLE counter (
    space TEXT COLLATE "C" NOT NULL,
    name  TEXT COLLATE "C" NOT NULL,
    value BIGINT NOT NULL,
    PRIMARY KEY (space, name)
);

-- One random number per database. A search index built for a deleted database does not match its successor.
CREATE TABLE store_identity (
    value BIGINT NOT NULL
);
INSERT INTO store_identity (value) VALUES (CAST((random() - 0.5) * 1.8e19 AS BIGINT));

-- Sessions and transcripts: derived from what agents write, except `alias`.

-- One conversation. A removed session keeps its row with kind 'removed', so that an index following the changes drops
-- it.
CREATE TABLE session (
    space              TEXT COLLATE "C" NOT NULL,
    number             BIGINT NOT NULL,
    id                 TEXT COLLATE "C" NOT NULL,
    agent              TEXT COLLATE "C" NOT NULL,
    external_id        TEXT COLLATE "C" NOT NULL,
    -- 'main', 'child' (a sub-agent) or 'removed'.
    kind               TEXT COLLATE "C" NOT NULL,
    parent_external_id TEXT COLLATE "C",
    alias              TEXT COLLATE "C",
    name               TEXT COLLATE "C",
    cwd                TEXT COLLATE "C",
    project            TEXT COLLATE "C",
    namespace          TEXT COLLATE "C",
    branch             TEXT COLLATE "C",
    model              TEXT COLLATE "C",
    started_at         BIGINT,
    last_activity_at   BIGINT,
    transcript_path    TEXT COLLATE "C",
    prompts            BIGINT NOT NULL DEFAULT 0,
    messages           BIGINT NOT NULL DEFAULT 0,
    tool_calls         BIGINT NOT NULL DEFAULT 0,
    tool_errors        BIGINT NOT NULL DEFAULT 0,
    files_edited       BIGINT NOT NULL DEFAULT 0,
    episodes           BIGINT NOT NULL DEFAULT 0,
    input_tokens       BIGINT NOT NULL DEFAULT 0,
    output_tokens      BIGINT NOT NULL DEFAULT 0,
    cache_read_tokens  BIGINT NOT NULL DEFAULT 0,
    cache_write_tokens BIGINT NOT NULL DEFAULT 0,
    cost_nanos         BIGINT,
    raw_bytes          BIGINT NOT NULL DEFAULT 0,
    kept_tokens        BIGINT NOT NULL DEFAULT 0,
    is_empty           BOOLEAN NOT NULL DEFAULT TRUE,
    -- What the session assembler needs to continue where it stopped, as JSON.
    assembler_state    TEXT COLLATE "C",
    change             BIGINT NOT NULL,
    -- The change at which everything derived from the session was last cleared and derived again.
    rebuilt_at_change  BIGINT NOT NULL DEFAULT 0,
    -- Version of the extraction rules that made the session's facts; 0 if none were extracted.
    fact_rules_version BIGINT NOT NULL DEFAULT 0,
    -- Counts how often the transcript was replaced by another one. A `seq` means the same entry only within one
    -- generation.
    generation         BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (space, number)
);
CREATE UNIQUE INDEX session_by_id ON session (space, id);
CREATE UNIQUE INDEX session_by_external_id ON session (space, agent, external_id);
CREATE UNIQUE INDEX session_by_alias ON session (space, alias) WHERE alias IS NOT NULL;
CREATE INDEX session_by_agent ON session (space, agent, kind);
CREATE INDEX session_by_time ON session (space, last_activity_at NULLS FIRST);
-- Covers the queries that filter sessions by project or agent, so that they do not read the long rows.
CREATE INDEX session_by_project ON session (space, project, cwd, agent, number);
-- Recently active sessions of a project.
CREATE INDEX session_by_project_time ON session (space, project, last_activity_at NULLS FIRST);
CREATE INDEX session_by_change ON session (space, change);
CREATE INDEX session_by_rebuild ON session (space, rebuilt_at_change);

-- One file an agent writes, how it is recognized later, and how far it was read.
CREATE TABLE transcript (
    space       TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    path        TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    session     BIGINT,
    device      BIGINT NOT NULL,
    inode       BIGINT NOT NULL,
    size        BIGINT NOT NULL,
    -- Nanoseconds since 1970.
    mtime       BIGINT NOT NULL,
    read_offset BIGINT NOT NULL,
    read_lines  BIGINT NOT NULL,
    head_hash   BIGINT NOT NULL,
    tail_hash   BIGINT NOT NULL,
    -- Set while it is read again from the start: 'unchanged' if what was read before is still there, else 'rewritten'.
    reread      TEXT COLLATE "C",
    PRIMARY KEY (space, number)
);
CREATE UNIQUE INDEX transcript_by_path ON transcript (space, path);
CREATE INDEX transcript_by_session ON transcript (space, session);

-- Transcript lines that could not be parsed.
CREATE TABLE transcript_problem (
    space      TEXT COLLATE "C" NOT NULL,
    transcript BIGINT NOT NULL,
    line       BIGINT NOT NULL,
    message    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, transcript, line)
);

-- How many secrets each redaction rule removed.
CREATE TABLE redaction (
    space TEXT COLLATE "C" NOT NULL,
    rule  TEXT COLLATE "C" NOT NULL,
    count BIGINT NOT NULL,
    PRIMARY KEY (space, rule)
);

-- One message or tool call of a session.
CREATE TABLE entry (
    space         TEXT COLLATE "C" NOT NULL,
    session       BIGINT NOT NULL,
    seq           BIGINT NOT NULL,
    -- Hash of the agent's id, by which copies in other transcripts are recognized; `native_id` is the id itself.
    native_key    BIGINT NOT NULL,
    native_id     TEXT COLLATE "C" NOT NULL,
    -- Hash of the id of its line, which differs from its own id for tool calls.
    line_key      BIGINT,
    -- The API message and the tree node the entry belongs to.
    message_key   BIGINT,
    node_key      BIGINT,
    -- Position in the transcript: line from 1, byte offset and length.
    line          BIGINT NOT NULL,
    "offset"        BIGINT NOT NULL,
    length        BIGINT NOT NULL,
    -- The transcript it was read from.
    transcript    BIGINT,
    at            BIGINT,
    kind          TEXT COLLATE "C" NOT NULL,
    text          TEXT COLLATE "C" NOT NULL,
    episode       BIGINT,
    -- On a branch the session left.
    is_abandoned  BOOLEAN NOT NULL DEFAULT FALSE,
    -- Retracted by the user before it was sent.
    is_retracted  BOOLEAN NOT NULL DEFAULT FALSE,
    -- No longer in its transcript, because the agent rewrote it. Nothing but forgetting deletes an entry.
    is_superseded BOOLEAN NOT NULL DEFAULT FALSE,
    -- Null from here on unless the entry is a tool call; the result columns are null until there is a result.
    tool_name     TEXT COLLATE "C",
    tool_kind     TEXT COLLATE "C",
    target        TEXT COLLATE "C",
    -- A command with its line breaks, where `target` does not hold all of it.
    script        TEXT COLLATE "C",
    arguments     TEXT COLLATE "C",
    -- A JSON list.
    paths         TEXT COLLATE "C",
    status        TEXT COLLATE "C",
    summary       TEXT COLLATE "C",
    error         TEXT COLLATE "C",
    exit_code     BIGINT,
    output_lines  BIGINT,
    output_bytes  BIGINT,
    output        TEXT COLLATE "C",
    -- Hash of what the agent wrote, without the result: a database does not notice a changed bit in a text.
    checksum      BIGINT,
    PRIMARY KEY (space, session, seq)
);
CREATE INDEX entry_by_native_key ON entry (space, native_key);
CREATE INDEX entry_superseded ON entry (space, session) WHERE is_superseded;

-- Entries of sessions whose transcripts are being read again, with the columns of `entry`. Those that are not found
-- again are restored.
CREATE TABLE set_aside_entry (
    space         TEXT COLLATE "C" NOT NULL,
    session       BIGINT NOT NULL,
    seq           BIGINT NOT NULL,
    -- Hash of the agent's id, by which copies in other transcripts are recognized; `native_id` is the id itself.
    native_key    BIGINT NOT NULL,
    native_id     TEXT COLLATE "C" NOT NULL,
    -- Hash of the id of its line, which differs from its own id for tool calls.
    line_key      BIGINT,
    -- The API message and the tree node the entry belongs to.
    message_key   BIGINT,
    node_key      BIGINT,
    -- Position in the transcript: line from 1, byte offset and length.
    line          BIGINT NOT NULL,
    "offset"        BIGINT NOT NULL,
    length        BIGINT NOT NULL,
    -- The transcript it was read from.
    transcript    BIGINT,
    at            BIGINT,
    kind          TEXT COLLATE "C" NOT NULL,
    text          TEXT COLLATE "C" NOT NULL,
    episode       BIGINT,
    -- On a branch the session left.
    is_abandoned  BOOLEAN NOT NULL DEFAULT FALSE,
    -- Retracted by the user before it was sent.
    is_retracted  BOOLEAN NOT NULL DEFAULT FALSE,
    -- No longer in its transcript, because the agent rewrote it. Nothing but forgetting deletes an entry.
    is_superseded BOOLEAN NOT NULL DEFAULT FALSE,
    -- Null from here on unless the entry is a tool call; the result columns are null until there is a result.
    tool_name     TEXT COLLATE "C",
    tool_kind     TEXT COLLATE "C",
    target        TEXT COLLATE "C",
    -- A command with its line breaks, where `target` does not hold all of it.
    script        TEXT COLLATE "C",
    arguments     TEXT COLLATE "C",
    -- A JSON list.
    paths         TEXT COLLATE "C",
    status        TEXT COLLATE "C",
    summary       TEXT COLLATE "C",
    error         TEXT COLLATE "C",
    exit_code     BIGINT,
    output_lines  BIGINT,
    output_bytes  BIGINT,
    output        TEXT COLLATE "C",
    -- Hash of what the agent wrote, without the result: a database does not notice a changed bit in a text.
    checksum      BIGINT,
    PRIMARY KEY (space, session, seq)
);
CREATE INDEX set_aside_entry_by_native_key ON set_aside_entry (space, native_key);

-- Sessions with such entries, and their assembler state from before.
CREATE TABLE set_aside_session (
    space           TEXT COLLATE "C" NOT NULL,
    session         BIGINT NOT NULL,
    assembler_state TEXT COLLATE "C",
    PRIMARY KEY (space, session)
);

-- One exchange: a human prompt and what followed.
CREATE TABLE episode (
    space        TEXT COLLATE "C" NOT NULL,
    session      BIGINT NOT NULL,
    number       BIGINT NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    first_seq    BIGINT NOT NULL,
    last_seq     BIGINT NOT NULL,
    -- The first entry of each span facts are extracted from, comma-separated.
    span_starts  TEXT COLLATE "C" NOT NULL,
    first_line   BIGINT NOT NULL,
    last_line    BIGINT NOT NULL,
    first_byte   BIGINT NOT NULL,
    last_byte    BIGINT NOT NULL,
    started_at   BIGINT,
    ended_at     BIGINT,
    tool_calls   BIGINT NOT NULL,
    tool_errors  BIGINT NOT NULL,
    kept_tokens  BIGINT NOT NULL,
    -- The last episode of a session stays open: it may still grow.
    is_open      BOOLEAN NOT NULL,
    is_abandoned BOOLEAN NOT NULL,
    change       BIGINT NOT NULL,
    PRIMARY KEY (space, session, number)
);
CREATE INDEX episode_by_change ON episode (space, change);
CREATE INDEX episode_by_time ON episode (space, started_at NULLS FIRST);
CREATE INDEX episode_by_id ON episode (space, id);

-- Tokens and cost of one API message. The key has no session: a message copied into a fork counts once.
CREATE TABLE usage (
    space              TEXT COLLATE "C" NOT NULL,
    message_key        BIGINT NOT NULL,
    session            BIGINT NOT NULL,
    at                 BIGINT,
    model              TEXT COLLATE "C",
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    cache_read_tokens  BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    -- Of the cache writes, those stored for an hour; they cost more.
    hour_write_tokens  BIGINT NOT NULL DEFAULT 0,
    cost_nanos         BIGINT,
    transcript         BIGINT,
    PRIMARY KEY (space, message_key)
);
CREATE INDEX usage_by_session ON usage (space, session);

-- Files a session edited, each once.
CREATE TABLE edited_file (
    space   TEXT COLLATE "C" NOT NULL,
    session BIGINT NOT NULL,
    path    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, session, path)
);

-- Steps of a session's prompt queue that were already handled, so that reading a line again has no effect.
CREATE TABLE queue_step (
    space      TEXT COLLATE "C" NOT NULL,
    session    BIGINT NOT NULL,
    step_key   BIGINT NOT NULL,
    transcript BIGINT,
    PRIMARY KEY (space, session, step_key)
);

-- Nodes of a transcript that is a tree, needed to find the current branch. `lineage_key` is the same in copies of a
-- node.
CREATE TABLE tree_node (
    space       TEXT COLLATE "C" NOT NULL,
    session     BIGINT NOT NULL,
    node_key    BIGINT NOT NULL,
    line        BIGINT NOT NULL,
    parent_key  BIGINT,
    lineage_key BIGINT NOT NULL,
    transcript  BIGINT,
    PRIMARY KEY (space, session, node_key)
);
CREATE INDEX tree_node_by_lineage ON tree_node (space, lineage_key);

-- Titles that one file holds for a session in another file. The session is the one that has the leaf entry.
CREATE TABLE other_session_title (
    space        TEXT COLLATE "C" NOT NULL,
    leaf_key     BIGINT NOT NULL,
    title        TEXT COLLATE "C" NOT NULL,
    -- Whether the session has the title. It may be read after the title, or read again.
    is_delivered BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (space, leaf_key)
);

-- Embeddings, facts and what models said: derived, some of it at a price.

-- Embedding of an entry by the model the user chose, quantized to integers from -127 to 127, one byte each.
CREATE TABLE embedding (
    space     TEXT COLLATE "C" NOT NULL,
    session   BIGINT NOT NULL,
    seq       BIGINT NOT NULL,
    model     TEXT COLLATE "C" NOT NULL,
    -- Hash of the embedded text: the embedding is out of date when the entry's text has another one.
    text_hash BIGINT NOT NULL,
    vector    BYTEA NOT NULL,
    PRIMARY KEY (space, session, seq)
);

-- What facts are about: files, commands, errors and so on.
CREATE TABLE entity (
    space  TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    kind   TEXT COLLATE "C" NOT NULL,
    name   TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, number)
);
CREATE UNIQUE INDEX entity_by_name ON entity (space, kind, name);

-- A part of a session that facts were extracted from, and the extractor's state after it, as JSON: extraction can
-- resume there instead of starting over.
CREATE TABLE fact_span (
    space           TEXT COLLATE "C" NOT NULL,
    session         BIGINT NOT NULL,
    first_seq       BIGINT NOT NULL,
    extractor_state TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, session, first_seq)
);

-- What was observed about an entity. `subject` and `object` are entity numbers.
CREATE TABLE fact (
    space          TEXT COLLATE "C" NOT NULL,
    session        BIGINT NOT NULL,
    -- The first entry of the fact's span.
    span_first_seq BIGINT NOT NULL,
    number         BIGINT NOT NULL,
    episode        BIGINT NOT NULL,
    predicate      TEXT COLLATE "C" NOT NULL,
    subject        BIGINT NOT NULL,
    object         BIGINT,
    detail         TEXT COLLATE "C" NOT NULL,
    reason         TEXT COLLATE "C",
    quote          TEXT COLLATE "C",
    state          TEXT COLLATE "C" NOT NULL,
    success_count  BIGINT NOT NULL,
    failure_count  BIGINT NOT NULL,
    trust          TEXT COLLATE "C" NOT NULL,
    line           BIGINT NOT NULL,
    -- Transcript lines, comma-separated.
    evidence_lines TEXT COLLATE "C" NOT NULL,
    at             BIGINT,
    learned_at     BIGINT NOT NULL,
    -- Null for facts extracted by rules.
    model          TEXT COLLATE "C",
    PRIMARY KEY (space, session, span_first_seq, number)
);
CREATE INDEX fact_by_subject ON fact (space, subject, predicate);
CREATE INDEX fact_by_object ON fact (space, object, predicate) WHERE object IS NOT NULL;
CREATE INDEX fact_by_predicate ON fact (space, predicate, at NULLS FIRST);

-- The queue of sessions a model adds facts to, and how far it has come in each.
CREATE TABLE enrichment (
    space           TEXT COLLATE "C" NOT NULL,
    session         BIGINT NOT NULL,
    -- The last entry the model was shown.
    shown_seq       BIGINT,
    -- Failed attempts in a row.
    failed_attempts BIGINT NOT NULL,
    -- Set while the session is queued.
    next_attempt_at BIGINT,
    -- Set when no further attempt is made.
    failed_at       BIGINT,
    error           TEXT COLLATE "C",
    completed_at    BIGINT,
    PRIMARY KEY (space, session)
);
CREATE INDEX enrichment_queue ON enrichment (space, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

-- Answers of models to questions about a session. Valid while the session still has the change number it had then.
CREATE TABLE cached_answer (
    space          TEXT COLLATE "C" NOT NULL,
    session        BIGINT NOT NULL,
    question       TEXT COLLATE "C" NOT NULL,
    model          TEXT COLLATE "C" NOT NULL,
    session_change BIGINT NOT NULL,
    at             BIGINT NOT NULL,
    text           TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, session, question, model)
);

-- How many questions were put to models in one turn of an agent; enforces the limit per turn.
CREATE TABLE turn_call_count (
    space        TEXT COLLATE "C" NOT NULL,
    turn_id      TEXT COLLATE "C" NOT NULL,
    calls        BIGINT NOT NULL,
    last_call_at BIGINT NOT NULL,
    PRIMARY KEY (space, turn_id)
);

-- Every request to a model, recorded before it is sent. Holds the estimate until the provider reports actual numbers.
CREATE TABLE ledger (
    space             TEXT COLLATE "C" NOT NULL,
    number            BIGINT NOT NULL,
    at                BIGINT NOT NULL,
    provider          TEXT COLLATE "C" NOT NULL,
    model             TEXT COLLATE "C" NOT NULL,
    purpose           TEXT COLLATE "C" NOT NULL,
    tokens            BIGINT NOT NULL,
    cost_nanos        BIGINT,
    is_settled        BOOLEAN NOT NULL DEFAULT FALSE,
    has_actual_tokens BOOLEAN NOT NULL DEFAULT FALSE,
    error             TEXT COLLATE "C",
    PRIMARY KEY (space, number)
);
CREATE INDEX ledger_by_time ON ledger (space, at);

-- What only Rethread knows about a session: from hooks, users and models.

-- State of a session between hooks.
CREATE TABLE lifecycle (
    space                TEXT COLLATE "C" NOT NULL,
    agent                TEXT COLLATE "C" NOT NULL,
    external_id          TEXT COLLATE "C" NOT NULL,
    -- Periods of work are counted from 1; a long silence or an end starts the next one.
    period               BIGINT NOT NULL,
    period_started_at    BIGINT NOT NULL,
    touched_at           BIGINT NOT NULL,
    -- 'suspended', 'ended' or 'run-ended'; null while the session is not closed.
    closed_as            TEXT COLLATE "C",
    closed_at            BIGINT,
    events               BIGINT NOT NULL,
    -- Events of earlier periods, included in `events`.
    events_before_period BIGINT NOT NULL DEFAULT 0,
    -- What prompts named, one per line, newest last.
    prompt_entities      TEXT COLLATE "C" NOT NULL DEFAULT '',
    -- Files and tools of tool calls in the current period, one per line, newest last.
    recent_files         TEXT COLLATE "C" NOT NULL DEFAULT '',
    recent_tools         TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (space, agent, external_id)
);

-- The name and the task a user gave a session. Apart from `lifecycle`: a label neither starts nor resumes a session.
CREATE TABLE session_label (
    space       TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C",
    task        TEXT COLLATE "C",
    PRIMARY KEY (space, agent, external_id)
);

-- The latest events of a session; `lifecycle.events` counts all of them.
CREATE TABLE lifecycle_event (
    space       TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    detail      TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, agent, external_id, number)
);

-- Recent actions of a session, and notes users attached to it.
CREATE TABLE hot_memory (
    space       TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    number      BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    text        TEXT COLLATE "C" NOT NULL,
    is_note     BOOLEAN NOT NULL DEFAULT FALSE,
    PRIMARY KEY (space, agent, external_id, number)
);

-- How far the session named by `agent` and `external_id` has seen another one.
CREATE TABLE watermark (
    space       TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    session     BIGINT NOT NULL,
    -- The generation of the session that `last_seq` belongs to.
    generation  BIGINT NOT NULL,
    last_seq    BIGINT NOT NULL,
    PRIMARY KEY (space, agent, external_id, session)
);

-- Names under which the session named by `agent` and `external_id` was shown other sessions. They keep their meaning
-- for it when a session gets another name.
CREATE TABLE shown_name (
    space       TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    -- Lower case, words joined by dashes.
    slug        TEXT COLLATE "C" NOT NULL,
    session     BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (space, agent, external_id, slug)
);

-- Text added to an agent's context; the latest ones of each session.
CREATE TABLE injection (
    space           TEXT COLLATE "C" NOT NULL,
    number          BIGINT NOT NULL,
    agent           TEXT COLLATE "C" NOT NULL,
    external_id     TEXT COLLATE "C" NOT NULL,
    at              BIGINT NOT NULL,
    event           TEXT COLLATE "C" NOT NULL,
    text            TEXT COLLATE "C" NOT NULL,
    -- What was included and left out, with reasons, as JSON.
    sections        TEXT COLLATE "C" NOT NULL,
    text_hash       BIGINT NOT NULL,
    duration_micros BIGINT NOT NULL,
    PRIMARY KEY (space, number)
);
CREATE INDEX injection_by_session ON injection (space, agent, external_id, number);

-- Hashes of what is in a session's context already, so that nothing is injected twice.
CREATE TABLE injected_content (
    space       TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    dedupe_key  BIGINT NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (space, agent, external_id, dedupe_key)
);

-- Whether a session's context was compacted or cleared since its last prompt: the next prompt gets the session context
-- again. Apart from `lifecycle`, because this can be known before the session has a lifecycle.
CREATE TABLE context_state (
    space          TEXT COLLATE "C" NOT NULL,
    agent          TEXT COLLATE "C" NOT NULL,
    external_id    TEXT COLLATE "C" NOT NULL,
    is_new_context BOOLEAN NOT NULL,
    PRIMARY KEY (space, agent, external_id)
);

-- Finished periods that are not in the archive yet: file name and content as they will be written.
CREATE TABLE pending_archive (
    space       TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    period      BIGINT NOT NULL,
    file_name   TEXT COLLATE "C" NOT NULL,
    content     TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, agent, external_id, period)
);

-- Cards written by a model.
CREATE TABLE card (
    space          TEXT COLLATE "C" NOT NULL,
    agent          TEXT COLLATE "C" NOT NULL,
    external_id    TEXT COLLATE "C" NOT NULL,
    -- Name, description, summary and tags as JSON; null until an attempt succeeds.
    fields         TEXT COLLATE "C",
    model          TEXT COLLATE "C",
    created_at     BIGINT,
    updated_at     BIGINT,
    -- Native id of the last entry the model was shown, and how many prompts the session had then.
    leaf_id        TEXT COLLATE "C",
    prompts        BIGINT NOT NULL DEFAULT 0,
    -- Native id of the last entry at a failed attempt since then.
    failed_leaf_id TEXT COLLATE "C",
    PRIMARY KEY (space, agent, external_id)
);

-- Files of spooled hook events that were delivered; a row stays until its file is gone.
CREATE TABLE delivered_event (
    space     TEXT COLLATE "C" NOT NULL,
    file_name TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (space, file_name)
);

-- Forgotten sessions. Neither table holds text.

-- Sessions forgotten on the user's order; nothing brings them back.
CREATE TABLE forgotten_session (
    space       TEXT COLLATE "C" NOT NULL,
    agent       TEXT COLLATE "C" NOT NULL,
    external_id TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (space, agent, external_id)
);

-- Keys of forgotten entries, their lines and contents, tree nodes and titles: copies of them in other transcripts stay
-- out too.
CREATE TABLE forgotten_key (
    space TEXT COLLATE "C" NOT NULL,
    key   BIGINT NOT NULL,
    PRIMARY KEY (space, key)
);

-- The secret key of content hashes: without it a tombstone could be compared with a guessed text.
CREATE TABLE tombstone_salt (
    space TEXT COLLATE "C" NOT NULL,
    value BYTEA NOT NULL,
    PRIMARY KEY (space)
);
