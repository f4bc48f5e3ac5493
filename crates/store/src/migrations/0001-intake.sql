-- Sessions, their transcripts, entries and episodes. `space` leads every key.

CREATE TABLE counter (
    space TEXT NOT NULL,
    name  TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE session (
    space           TEXT NOT NULL,
    num             INTEGER NOT NULL,
    id              TEXT NOT NULL,
    agent           TEXT NOT NULL,
    external_id     TEXT NOT NULL,
    kind            TEXT NOT NULL,
    parent_external TEXT,
    alias           TEXT,
    name            TEXT,
    cwd             TEXT,
    project         TEXT,
    namespace       TEXT,
    branch          TEXT,
    model           TEXT,
    started_at      INTEGER,
    last_at         INTEGER,
    transcript      TEXT,
    prompts         INTEGER NOT NULL DEFAULT 0,
    messages        INTEGER NOT NULL DEFAULT 0,
    tool_calls      INTEGER NOT NULL DEFAULT 0,
    tool_errors     INTEGER NOT NULL DEFAULT 0,
    files_edited    INTEGER NOT NULL DEFAULT 0,
    episodes        INTEGER NOT NULL DEFAULT 0,
    tokens_input    INTEGER NOT NULL DEFAULT 0,
    tokens_output   INTEGER NOT NULL DEFAULT 0,
    cache_read      INTEGER NOT NULL DEFAULT 0,
    cache_write     INTEGER NOT NULL DEFAULT 0,
    cost_nanos      INTEGER,
    raw_bytes       INTEGER NOT NULL DEFAULT 0,
    kept_tokens     INTEGER NOT NULL DEFAULT 0,
    empty           INTEGER NOT NULL DEFAULT 1,
    memory          TEXT,
    change          INTEGER NOT NULL,
    PRIMARY KEY (space, num)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX session_by_id ON session (space, id);
CREATE UNIQUE INDEX session_by_external ON session (space, agent, external_id);
CREATE UNIQUE INDEX session_by_alias ON session (space, alias) WHERE alias IS NOT NULL;
CREATE INDEX session_by_agent ON session (space, agent, kind);
CREATE INDEX session_by_time ON session (space, last_at);

CREATE TABLE transcript (
    space     TEXT NOT NULL,
    num       INTEGER NOT NULL,
    path      TEXT NOT NULL,
    agent     TEXT NOT NULL,
    session   INTEGER,
    device    INTEGER NOT NULL,
    inode     INTEGER NOT NULL,
    size      INTEGER NOT NULL,
    mtime     INTEGER NOT NULL,
    offset    INTEGER NOT NULL,
    line      INTEGER NOT NULL,
    head_hash INTEGER NOT NULL,
    tail_hash INTEGER NOT NULL,
    PRIMARY KEY (space, num)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX transcript_by_path ON transcript (space, path);
CREATE INDEX transcript_by_session ON transcript (space, session);

CREATE TABLE problem (
    space      TEXT NOT NULL,
    transcript INTEGER NOT NULL,
    line       INTEGER NOT NULL,
    message    TEXT NOT NULL,
    PRIMARY KEY (space, transcript, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE redaction (
    space TEXT NOT NULL,
    rule  TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (space, rule)
) STRICT, WITHOUT ROWID;

CREATE TABLE entry (
    space      TEXT NOT NULL,
    session    INTEGER NOT NULL,
    seq        INTEGER NOT NULL,
    native     INTEGER NOT NULL,
    native_id  TEXT NOT NULL,
    message    INTEGER,
    node       INTEGER,
    line       INTEGER NOT NULL,
    offset     INTEGER NOT NULL,
    length     INTEGER NOT NULL,
    at         INTEGER,
    speech     TEXT NOT NULL,
    text       TEXT NOT NULL,
    episode    INTEGER,
    abandoned  INTEGER NOT NULL DEFAULT 0,
    taken_back INTEGER NOT NULL DEFAULT 0,
    tool       TEXT,
    tool_kind  TEXT,
    target     TEXT,
    arguments  TEXT,
    paths      TEXT,
    status     TEXT,
    summary    TEXT,
    error      TEXT,
    exit_code  INTEGER,
    out_lines  INTEGER,
    out_bytes  INTEGER,
    output     TEXT,
    PRIMARY KEY (space, session, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX entry_by_native ON entry (space, native);

CREATE TABLE episode (
    space       TEXT NOT NULL,
    session     INTEGER NOT NULL,
    number      INTEGER NOT NULL,
    id          TEXT NOT NULL,
    first_seq   INTEGER NOT NULL,
    last_seq    INTEGER NOT NULL,
    parts       TEXT NOT NULL,
    first_line  INTEGER NOT NULL,
    last_line   INTEGER NOT NULL,
    first_byte  INTEGER NOT NULL,
    last_byte   INTEGER NOT NULL,
    started_at  INTEGER,
    ended_at    INTEGER,
    tool_calls  INTEGER NOT NULL,
    tool_errors INTEGER NOT NULL,
    kept_tokens INTEGER NOT NULL,
    open        INTEGER NOT NULL,
    abandoned   INTEGER NOT NULL,
    change      INTEGER NOT NULL,
    PRIMARY KEY (space, session, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX episode_by_change ON episode (space, change);

CREATE TABLE usage (
    space       TEXT NOT NULL,
    message     INTEGER NOT NULL,
    session     INTEGER NOT NULL,
    at          INTEGER,
    model       TEXT,
    input       INTEGER NOT NULL,
    output      INTEGER NOT NULL,
    cache_read  INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    cost_nanos  INTEGER,
    PRIMARY KEY (space, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX usage_by_session ON usage (space, session);

CREATE TABLE edited_file (
    space   TEXT NOT NULL,
    session INTEGER NOT NULL,
    path    TEXT NOT NULL,
    PRIMARY KEY (space, session, path)
) STRICT, WITHOUT ROWID;

CREATE TABLE queued (
    space   TEXT NOT NULL,
    session INTEGER NOT NULL,
    step    INTEGER NOT NULL,
    PRIMARY KEY (space, session, step)
) STRICT, WITHOUT ROWID;

CREATE TABLE node (
    space   TEXT NOT NULL,
    session INTEGER NOT NULL,
    id      INTEGER NOT NULL,
    line    INTEGER NOT NULL,
    parent  INTEGER,
    lineage INTEGER NOT NULL,
    PRIMARY KEY (space, session, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX node_by_lineage ON node (space, lineage);

CREATE TABLE title_elsewhere (
    space TEXT NOT NULL,
    leaf  INTEGER NOT NULL,
    text  TEXT NOT NULL,
    PRIMARY KEY (space, leaf)
) STRICT, WITHOUT ROWID;
