-- Spaces and who may use them. Several members share a space through `rethread serve` nodes; on a single machine these
-- tables are empty.

-- One row per space that an operator created.
CREATE TABLE space (
    space          TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    -- Sessions without activity for this many days are forgotten; null keeps them.
    retention_days INTEGER,
    PRIMARY KEY (space)
) STRICT, WITHOUT ROWID;

-- A revoked member keeps its row, because the audit still names it.
CREATE TABLE member (
    space               TEXT NOT NULL,
    name                TEXT NOT NULL,
    -- 'reader', 'member', 'admin' or 'service'.
    role                TEXT NOT NULL,
    created_at          INTEGER NOT NULL,
    revoked_at          INTEGER,
    -- Null means the server's own limit.
    requests_per_minute INTEGER,
    max_body_bytes      INTEGER,
    max_bytes_per_day   INTEGER,
    PRIMARY KEY (space, name)
) STRICT, WITHOUT ROWID;

-- The secret of a token is shown once and never stored, only its SHA-256.
CREATE TABLE token (
    space        TEXT NOT NULL,
    id           TEXT NOT NULL,
    hash         BLOB NOT NULL,
    member       TEXT NOT NULL,
    -- What it may do, at most what the member's role allows: 'read', 'read,write' and so on.
    scope        TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    expires_at   INTEGER,
    revoked_at   INTEGER,
    last_used_at INTEGER,
    PRIMARY KEY (space, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX token_by_member ON token (space, member);

-- What members did. Rows are only added, and deleted when they are old.
CREATE TABLE audit (
    space  TEXT NOT NULL,
    number INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    member TEXT NOT NULL,
    -- 'read', 'write' or 'admin'.
    action TEXT NOT NULL,
    -- A route or an admin command with the names it was given. Never content.
    target TEXT NOT NULL,
    -- How many rows were read or written.
    items  INTEGER NOT NULL,
    -- HTTP status of the answer.
    status INTEGER NOT NULL,
    PRIMARY KEY (space, number)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_by_time ON audit (space, at);
CREATE INDEX audit_by_member ON audit (space, member, number);
