-- The schema of memory.db, version 13. Never edit a migration that was released: add the next one, and its version to
-- `MIGRATIONS` in sql/schema.rs.
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
    space TEXT NOT NULL,
    name  TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;

-- One random number per database file. A search index built for a deleted database does not match its successor.
CREATE TABLE store_identity (
    value INTEGER NOT NULL
) STRICT;
INSERT INTO store_identity (value) VALUES (random());

-- Sessions and transcripts: derived from what agents write, except `alias`.

-- One conversation. A removed session keeps its row with kind 'removed', so that an index following the changes drops
-- it.
CREATE TABLE session (
    space              TEXT NOT NULL,
    number             INTEGER NOT NULL,
    id                 TEXT NOT NULL,
    agent              TEXT NOT NULL,
    external_id        TEXT NOT NULL,
    -- 'main', 'child' (a sub-agent) or 'removed'.
    kind               TEXT NOT NULL,
    parent_external_id TEXT,
    alias              TEXT,
    name               TEXT,
    cwd                TEXT,
    project            TEXT,
    namespace          TEXT,
    branch             TEXT,
    model              TEXT,
    started_at         INTEGER,
    last_activity_at   INTEGER,
    transcript_path    TEXT,
    prompts            INTEGER NOT NULL DEFAULT 0,
    messages           INTEGER NOT NULL DEFAULT 0,
    tool_calls         INTEGER NOT NULL DEFAULT 0,
    tool_errors        INTEGER NOT NULL DEFAULT 0,
    files_edited       INTEGER NOT NULL DEFAULT 0,
    episodes           INTEGER NOT NULL DEFAULT 0,
    input_tokens       INTEGER NOT NULL DEFAULT 0,
    output_tokens      INTEGER NOT NULL DEFAULT 0,
    cache_read_tokens  INTEGER NOT NULL DEFAULT 0,
    cache_write_tokens INTEGER NOT NULL DEFAULT 0,
    cost_nanos         INTEGER,
    raw_bytes          INTEGER NOT NULL DEFAULT 0,
    kept_tokens        INTEGER NOT NULL DEFAULT 0,
    is_empty           INTEGER NOT NULL DEFAULT 1,
    -- What the session assembler needs to continue where it stopped, as JSON.
    assembler_state    TEXT,
    change             INTEGER NOT NULL,
    -- The change at which everything derived from the session was last cleared and derived again.
    rebuilt_at_change  INTEGER NOT NULL DEFAULT 0,
    -- Version of the extraction rules that made the session's facts; 0 if none were extracted.
    fact_rules_version INTEGER NOT NULL DEFAULT 0,
    -- Counts how often the transcript was replaced by another one. A `seq` means the same entry only within one
    -- generation.
    generation         INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX session_by_id ON session (space, id);
CREATE UNIQUE INDEX session_by_external_id ON session (space, agent, external_id);
CREATE UNIQUE INDEX session_by_alias ON session (space, alias) WHERE alias IS NOT NULL;
CREATE INDEX session_by_agent ON session (space, agent, kind);
CREATE INDEX session_by_time ON session (space, last_activity_at);
-- Covers the queries that filter sessions by project or agent, so that they do not read the long rows.
CREATE INDEX session_by_project ON session (space, project, cwd, agent, number);
-- Recently active sessions of a project.
CREATE INDEX session_by_project_time ON session (space, project, last_activity_at);
CREATE INDEX session_by_change ON session (space, change);
CREATE INDEX session_by_rebuild ON session (space, rebuilt_at_change);

-- One file an agent writes, how it is recognized later, and how far it was read.
CREATE TABLE transcript (
    space       TEXT NOT NULL,
    number      INTEGER NOT NULL,
    path        TEXT NOT NULL,
    agent       TEXT NOT NULL,
    session     INTEGER,
    device      INTEGER NOT NULL,
    inode       INTEGER NOT NULL,
    size        INTEGER NOT NULL,
    -- Nanoseconds since 1970.
    mtime       INTEGER NOT NULL,
    read_offset INTEGER NOT NULL,
    read_lines  INTEGER NOT NULL,
    head_hash   INTEGER NOT NULL,
    tail_hash   INTEGER NOT NULL,
    -- Set while it is read again from the start: 'unchanged' if what was read before is still there, else 'rewritten'.
    reread      TEXT,
    PRIMARY KEY (space, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX transcript_by_path ON transcript (space, path);
CREATE INDEX transcript_by_session ON transcript (space, session);

-- Transcript lines that could not be parsed.
CREATE TABLE transcript_problem (
    space      TEXT NOT NULL,
    transcript INTEGER NOT NULL,
    line       INTEGER NOT NULL,
    message    TEXT NOT NULL,
    PRIMARY KEY (space, transcript, line)
) STRICT, WITHOUT ROWID;

-- How many secrets each redaction rule removed.
CREATE TABLE redaction (
    space TEXT NOT NULL,
    rule  TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (space, rule)
) STRICT, WITHOUT ROWID;

-- One message or tool call of a session.
CREATE TABLE entry (
    space         TEXT NOT NULL,
    session       INTEGER NOT NULL,
    seq           INTEGER NOT NULL,
    -- Hash of the agent's id, by which copies in other transcripts are recognized; `native_id` is the id itself.
    native_key    INTEGER NOT NULL,
    native_id     TEXT NOT NULL,
    -- Hash of the id of its line, which differs from its own id for tool calls.
    line_key      INTEGER,
    -- The API message and the tree node the entry belongs to.
    message_key   INTEGER,
    node_key      INTEGER,
    -- Position in the transcript: line from 1, byte offset and length.
    line          INTEGER NOT NULL,
    offset        INTEGER NOT NULL,
    length        INTEGER NOT NULL,
    -- The transcript it was read from.
    transcript    INTEGER,
    at            INTEGER,
    kind          TEXT NOT NULL,
    text          TEXT NOT NULL,
    episode       INTEGER,
    -- On a branch the session left.
    is_abandoned  INTEGER NOT NULL DEFAULT 0,
    -- Retracted by the user before it was sent.
    is_retracted  INTEGER NOT NULL DEFAULT 0,
    -- No longer in its transcript, because the agent rewrote it. Nothing but forgetting deletes an entry.
    is_superseded INTEGER NOT NULL DEFAULT 0,
    -- Null from here on unless the entry is a tool call; the result columns are null until there is a result.
    tool_name     TEXT,
    tool_kind     TEXT,
    target        TEXT,
    -- A command with its line breaks, where `target` does not hold all of it.
    script        TEXT,
    arguments     TEXT,
    -- A JSON list.
    paths         TEXT,
    status        TEXT,
    summary       TEXT,
    error         TEXT,
    exit_code     INTEGER,
    output_lines  INTEGER,
    output_bytes  INTEGER,
    output        TEXT,
    -- Hash of what the agent wrote, without the result: SQLite does not notice a changed bit in a text.
    checksum      INTEGER,
    PRIMARY KEY (space, session, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_by_native_key ON entry (space, native_key);
CREATE INDEX entry_superseded ON entry (space, session) WHERE is_superseded = 1;

-- Entries of sessions whose transcripts are being read again, with the columns of `entry`. Those that are not found
-- again are restored.
CREATE TABLE set_aside_entry (
    space         TEXT NOT NULL,
    session       INTEGER NOT NULL,
    seq           INTEGER NOT NULL,
    -- Hash of the agent's id, by which copies in other transcripts are recognized; `native_id` is the id itself.
    native_key    INTEGER NOT NULL,
    native_id     TEXT NOT NULL,
    -- Hash of the id of its line, which differs from its own id for tool calls.
    line_key      INTEGER,
    -- The API message and the tree node the entry belongs to.
    message_key   INTEGER,
    node_key      INTEGER,
    -- Position in the transcript: line from 1, byte offset and length.
    line          INTEGER NOT NULL,
    offset        INTEGER NOT NULL,
    length        INTEGER NOT NULL,
    -- The transcript it was read from.
    transcript    INTEGER,
    at            INTEGER,
    kind          TEXT NOT NULL,
    text          TEXT NOT NULL,
    episode       INTEGER,
    -- On a branch the session left.
    is_abandoned  INTEGER NOT NULL DEFAULT 0,
    -- Retracted by the user before it was sent.
    is_retracted  INTEGER NOT NULL DEFAULT 0,
    -- No longer in its transcript, because the agent rewrote it. Nothing but forgetting deletes an entry.
    is_superseded INTEGER NOT NULL DEFAULT 0,
    -- Null from here on unless the entry is a tool call; the result columns are null until there is a result.
    tool_name     TEXT,
    tool_kind     TEXT,
    target        TEXT,
    -- A command with its line breaks, where `target` does not hold all of it.
    script        TEXT,
    arguments     TEXT,
    -- A JSON list.
    paths         TEXT,
    status        TEXT,
    summary       TEXT,
    error         TEXT,
    exit_code     INTEGER,
    output_lines  INTEGER,
    output_bytes  INTEGER,
    output        TEXT,
    -- Hash of what the agent wrote, without the result: SQLite does not notice a changed bit in a text.
    checksum      INTEGER,
    PRIMARY KEY (space, session, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX set_aside_entry_by_native_key ON set_aside_entry (space, native_key);

-- Sessions with such entries, and their assembler state from before.
CREATE TABLE set_aside_session (
    space           TEXT NOT NULL,
    session         INTEGER NOT NULL,
    assembler_state TEXT,
    PRIMARY KEY (space, session)
) STRICT, WITHOUT ROWID;

-- One exchange: a human prompt and what followed.
CREATE TABLE episode (
    space        TEXT NOT NULL,
    session      INTEGER NOT NULL,
    number       INTEGER NOT NULL,
    id           TEXT NOT NULL,
    first_seq    INTEGER NOT NULL,
    last_seq     INTEGER NOT NULL,
    -- The first entry of each span facts are extracted from, comma-separated.
    span_starts  TEXT NOT NULL,
    first_line   INTEGER NOT NULL,
    last_line    INTEGER NOT NULL,
    first_byte   INTEGER NOT NULL,
    last_byte    INTEGER NOT NULL,
    started_at   INTEGER,
    ended_at     INTEGER,
    tool_calls   INTEGER NOT NULL,
    tool_errors  INTEGER NOT NULL,
    kept_tokens  INTEGER NOT NULL,
    -- The last episode of a session stays open: it may still grow.
    is_open      INTEGER NOT NULL,
    is_abandoned INTEGER NOT NULL,
    change       INTEGER NOT NULL,
    PRIMARY KEY (space, session, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_by_change ON episode (space, change);
CREATE INDEX episode_by_time ON episode (space, started_at);
CREATE INDEX episode_by_id ON episode (space, id);

-- Tokens and cost of one API message. The key has no session: a message copied into a fork counts once.
CREATE TABLE usage (
    space              TEXT NOT NULL,
    message_key        INTEGER NOT NULL,
    session            INTEGER NOT NULL,
    at                 INTEGER,
    model              TEXT,
    input_tokens       INTEGER NOT NULL,
    output_tokens      INTEGER NOT NULL,
    cache_read_tokens  INTEGER NOT NULL,
    cache_write_tokens INTEGER NOT NULL,
    -- Of the cache writes, those stored for an hour; they cost more.
    hour_write_tokens  INTEGER NOT NULL DEFAULT 0,
    cost_nanos         INTEGER,
    transcript         INTEGER,
    PRIMARY KEY (space, message_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_session ON usage (space, session);

-- Files a session edited, each once.
CREATE TABLE edited_file (
    space   TEXT NOT NULL,
    session INTEGER NOT NULL,
    path    TEXT NOT NULL,
    PRIMARY KEY (space, session, path)
) STRICT, WITHOUT ROWID;

-- Steps of a session's prompt queue that were already handled, so that reading a line again has no effect.
CREATE TABLE queue_step (
    space      TEXT NOT NULL,
    session    INTEGER NOT NULL,
    step_key   INTEGER NOT NULL,
    transcript INTEGER,
    PRIMARY KEY (space, session, step_key)
) STRICT, WITHOUT ROWID;

-- Nodes of a transcript that is a tree, needed to find the current branch. `lineage_key` is the same in copies of a
-- node.
CREATE TABLE tree_node (
    space       TEXT NOT NULL,
    session     INTEGER NOT NULL,
    node_key    INTEGER NOT NULL,
    line        INTEGER NOT NULL,
    parent_key  INTEGER,
    lineage_key INTEGER NOT NULL,
    transcript  INTEGER,
    PRIMARY KEY (space, session, node_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX tree_node_by_lineage ON tree_node (space, lineage_key);

-- Titles that one file holds for a session in another file. The session is the one that has the leaf entry.
CREATE TABLE other_session_title (
    space        TEXT NOT NULL,
    leaf_key     INTEGER NOT NULL,
    title        TEXT NOT NULL,
    -- Whether the session has the title. It may be read after the title, or read again.
    is_delivered INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, leaf_key)
) STRICT, WITHOUT ROWID;

-- Embeddings, facts and what models said: derived, some of it at a price.

-- Embedding of an entry by the model the user chose, quantized to integers from -127 to 127, one byte each.
CREATE TABLE embedding (
    space     TEXT NOT NULL,
    session   INTEGER NOT NULL,
    seq       INTEGER NOT NULL,
    model     TEXT NOT NULL,
    -- Hash of the embedded text: the embedding is out of date when the entry's text has another one.
    text_hash INTEGER NOT NULL,
    vector    BLOB NOT NULL,
    PRIMARY KEY (space, session, seq)
) STRICT, WITHOUT ROWID;

-- What facts are about: files, commands, errors and so on.
CREATE TABLE entity (
    space  TEXT NOT NULL,
    number INTEGER NOT NULL,
    kind   TEXT NOT NULL,
    name   TEXT NOT NULL,
    PRIMARY KEY (space, number)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX entity_by_name ON entity (space, kind, name);

-- A part of a session that facts were extracted from, and the extractor's state after it, as JSON: extraction can
-- resume there instead of starting over.
CREATE TABLE fact_span (
    space           TEXT NOT NULL,
    session         INTEGER NOT NULL,
    first_seq       INTEGER NOT NULL,
    extractor_state TEXT NOT NULL,
    PRIMARY KEY (space, session, first_seq)
) STRICT, WITHOUT ROWID;

-- What was observed about an entity. `subject` and `object` are entity numbers.
CREATE TABLE fact (
    space          TEXT NOT NULL,
    session        INTEGER NOT NULL,
    -- The first entry of the fact's span.
    span_first_seq INTEGER NOT NULL,
    number         INTEGER NOT NULL,
    episode        INTEGER NOT NULL,
    predicate      TEXT NOT NULL,
    subject        INTEGER NOT NULL,
    object         INTEGER,
    detail         TEXT NOT NULL,
    reason         TEXT,
    quote          TEXT,
    state          TEXT NOT NULL,
    success_count  INTEGER NOT NULL,
    failure_count  INTEGER NOT NULL,
    trust          TEXT NOT NULL,
    line           INTEGER NOT NULL,
    -- Transcript lines, comma-separated.
    evidence_lines TEXT NOT NULL,
    at             INTEGER,
    learned_at     INTEGER NOT NULL,
    -- Null for facts extracted by rules.
    model          TEXT,
    PRIMARY KEY (space, session, span_first_seq, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX fact_by_subject ON fact (space, subject, predicate);
CREATE INDEX fact_by_object ON fact (space, object, predicate) WHERE object IS NOT NULL;
CREATE INDEX fact_by_predicate ON fact (space, predicate, at);

-- The queue of sessions a model adds facts to, and how far it has come in each.
CREATE TABLE enrichment (
    space           TEXT NOT NULL,
    session         INTEGER NOT NULL,
    -- The last entry the model was shown.
    shown_seq       INTEGER,
    -- Failed attempts in a row.
    failed_attempts INTEGER NOT NULL,
    -- Set while the session is queued.
    next_attempt_at INTEGER,
    -- Set when no further attempt is made.
    failed_at       INTEGER,
    error           TEXT,
    completed_at    INTEGER,
    PRIMARY KEY (space, session)
) STRICT, WITHOUT ROWID;
CREATE INDEX enrichment_queue ON enrichment (space, next_attempt_at) WHERE next_attempt_at IS NOT NULL;

-- Answers of models to questions about a session. Valid while the session still has the change number it had then.
CREATE TABLE cached_answer (
    space          TEXT NOT NULL,
    session        INTEGER NOT NULL,
    question       TEXT NOT NULL,
    model          TEXT NOT NULL,
    session_change INTEGER NOT NULL,
    at             INTEGER NOT NULL,
    text           TEXT NOT NULL,
    PRIMARY KEY (space, session, question, model)
) STRICT, WITHOUT ROWID;

-- How many questions were put to models in one turn of an agent; enforces the limit per turn.
CREATE TABLE turn_call_count (
    space        TEXT NOT NULL,
    turn_id      TEXT NOT NULL,
    calls        INTEGER NOT NULL,
    last_call_at INTEGER NOT NULL,
    PRIMARY KEY (space, turn_id)
) STRICT, WITHOUT ROWID;

-- Every request to a model, recorded before it is sent. Holds the estimate until the provider reports actual numbers.
CREATE TABLE ledger (
    space             TEXT NOT NULL,
    number            INTEGER NOT NULL,
    at                INTEGER NOT NULL,
    provider          TEXT NOT NULL,
    model             TEXT NOT NULL,
    purpose           TEXT NOT NULL,
    tokens            INTEGER NOT NULL,
    cost_nanos        INTEGER,
    is_settled        INTEGER NOT NULL DEFAULT 0,
    has_actual_tokens INTEGER NOT NULL DEFAULT 0,
    error             TEXT,
    PRIMARY KEY (space, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX ledger_by_time ON ledger (space, at);

-- What only Rethread knows about a session: from hooks, users and models.

-- State of a session between hooks.
CREATE TABLE lifecycle (
    space                TEXT NOT NULL,
    agent                TEXT NOT NULL,
    external_id          TEXT NOT NULL,
    -- Periods of work are counted from 1; a long silence or an end starts the next one.
    period               INTEGER NOT NULL,
    period_started_at    INTEGER NOT NULL,
    touched_at           INTEGER NOT NULL,
    -- 'suspended', 'ended' or 'run-ended'; null while the session is not closed.
    closed_as            TEXT,
    closed_at            INTEGER,
    events               INTEGER NOT NULL,
    -- Events of earlier periods, included in `events`.
    events_before_period INTEGER NOT NULL DEFAULT 0,
    -- What prompts named, one per line, newest last.
    prompt_entities      TEXT NOT NULL DEFAULT '',
    -- Files and tools of tool calls in the current period, one per line, newest last.
    recent_files         TEXT NOT NULL DEFAULT '',
    recent_tools         TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (space, agent, external_id)
) STRICT, WITHOUT ROWID;

-- The name and the task a user gave a session. Apart from `lifecycle`: a label neither starts nor resumes a session.
CREATE TABLE session_label (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    name        TEXT,
    task        TEXT,
    PRIMARY KEY (space, agent, external_id)
) STRICT, WITHOUT ROWID;

-- The latest events of a session; `lifecycle.events` counts all of them.
CREATE TABLE lifecycle_event (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    number      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    detail      TEXT NOT NULL,
    PRIMARY KEY (space, agent, external_id, number)
) STRICT, WITHOUT ROWID;

-- Recent actions of a session, and notes users attached to it.
CREATE TABLE hot_memory (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    number      INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    text        TEXT NOT NULL,
    is_note     INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (space, agent, external_id, number)
) STRICT, WITHOUT ROWID;

-- How far the session named by `agent` and `external_id` has seen another one.
CREATE TABLE watermark (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    session     INTEGER NOT NULL,
    -- The generation of the session that `last_seq` belongs to.
    generation  INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id, session)
) STRICT, WITHOUT ROWID;

-- Names under which the session named by `agent` and `external_id` was shown other sessions. They keep their meaning
-- for it when a session gets another name.
CREATE TABLE shown_name (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    -- Lower case, words joined by dashes.
    slug        TEXT NOT NULL,
    session     INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id, slug)
) STRICT, WITHOUT ROWID;

-- Text added to an agent's context; the latest ones of each session.
CREATE TABLE injection (
    space           TEXT NOT NULL,
    number          INTEGER NOT NULL,
    agent           TEXT NOT NULL,
    external_id     TEXT NOT NULL,
    at              INTEGER NOT NULL,
    event           TEXT NOT NULL,
    text            TEXT NOT NULL,
    -- What was included and left out, with reasons, as JSON.
    sections        TEXT NOT NULL,
    text_hash       INTEGER NOT NULL,
    duration_micros INTEGER NOT NULL,
    PRIMARY KEY (space, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX injection_by_session ON injection (space, agent, external_id, number);

-- Hashes of what is in a session's context already, so that nothing is injected twice.
CREATE TABLE injected_content (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    dedupe_key  INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id, dedupe_key)
) STRICT, WITHOUT ROWID;

-- Whether a session's context was compacted or cleared since its last prompt: the next prompt gets the session context
-- again. Apart from `lifecycle`, because this can be known before the session has a lifecycle.
CREATE TABLE context_state (
    space          TEXT NOT NULL,
    agent          TEXT NOT NULL,
    external_id    TEXT NOT NULL,
    is_new_context INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id)
) STRICT, WITHOUT ROWID;

-- Finished periods that are not in the archive yet: file name and content as they will be written.
CREATE TABLE pending_archive (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    period      INTEGER NOT NULL,
    file_name   TEXT NOT NULL,
    content     TEXT NOT NULL,
    PRIMARY KEY (space, agent, external_id, period)
) STRICT, WITHOUT ROWID;

-- Cards written by a model.
CREATE TABLE card (
    space          TEXT NOT NULL,
    agent          TEXT NOT NULL,
    external_id    TEXT NOT NULL,
    -- Name, description, summary and tags as JSON; null until an attempt succeeds.
    fields         TEXT,
    model          TEXT,
    created_at     INTEGER,
    updated_at     INTEGER,
    -- Native id of the last entry the model was shown, and how many prompts the session had then.
    leaf_id        TEXT,
    prompts        INTEGER NOT NULL DEFAULT 0,
    -- Native id of the last entry at a failed attempt since then.
    failed_leaf_id TEXT,
    PRIMARY KEY (space, agent, external_id)
) STRICT, WITHOUT ROWID;

-- Files of spooled hook events that were delivered; a row stays until its file is gone.
CREATE TABLE delivered_event (
    space     TEXT NOT NULL,
    file_name TEXT NOT NULL,
    PRIMARY KEY (space, file_name)
) STRICT, WITHOUT ROWID;

-- Forgotten sessions. Neither table holds text.

-- Sessions forgotten on the user's order; nothing brings them back.
CREATE TABLE forgotten_session (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id)
) STRICT, WITHOUT ROWID;

-- Keys of forgotten entries, their lines and contents, tree nodes and titles: copies of them in other transcripts stay
-- out too.
CREATE TABLE forgotten_key (
    space TEXT NOT NULL,
    key   INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

-- The secret key of content hashes: without it a tombstone could be compared with a guessed text.
CREATE TABLE tombstone_salt (
    space TEXT NOT NULL,
    value BLOB NOT NULL,
    PRIMARY KEY (space)
) STRICT, WITHOUT ROWID;

-- Every table keyed by agent and external id ignores rows for a forgotten session. Triggers, because a hook may be in
-- the middle of its work while the session is forgotten.
CREATE TRIGGER card_stays_forgotten BEFORE INSERT ON card
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER lifecycle_stays_forgotten BEFORE INSERT ON lifecycle
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER session_label_stays_forgotten BEFORE INSERT ON session_label
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER lifecycle_event_stays_forgotten BEFORE INSERT ON lifecycle_event
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER hot_memory_stays_forgotten BEFORE INSERT ON hot_memory
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER watermark_stays_forgotten BEFORE INSERT ON watermark
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER shown_name_stays_forgotten BEFORE INSERT ON shown_name
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER injection_stays_forgotten BEFORE INSERT ON injection
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER injected_content_stays_forgotten BEFORE INSERT ON injected_content
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER context_state_stays_forgotten BEFORE INSERT ON context_state
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER pending_archive_stays_forgotten BEFORE INSERT ON pending_archive
WHEN EXISTS (SELECT 1 FROM forgotten_session
    WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
