-- Spaces and who may use them. Several members share a space through `rethread serve` nodes; on a single machine these
-- tables are empty.

-- One row per space that an operator created.
CREATE TABLE space (
    space          TEXT COLLATE "C" NOT NULL,
    created_at     BIGINT NOT NULL,
    -- Sessions without activity for this many days are forgotten; null keeps them.
    retention_days BIGINT,
    PRIMARY KEY (space)
);

-- A revoked member keeps its row, because the audit still names it.
CREATE TABLE member (
    space               TEXT COLLATE "C" NOT NULL,
    name                TEXT COLLATE "C" NOT NULL,
    -- 'reader', 'member', 'admin' or 'service'.
    role                TEXT COLLATE "C" NOT NULL,
    created_at          BIGINT NOT NULL,
    revoked_at          BIGINT,
    -- Null means the server's own limit.
    requests_per_minute BIGINT,
    max_body_bytes      BIGINT,
    max_bytes_per_day   BIGINT,
    PRIMARY KEY (space, name)
);

-- The secret of a token is shown once and never stored, only its SHA-256.
CREATE TABLE token (
    space        TEXT COLLATE "C" NOT NULL,
    id           TEXT COLLATE "C" NOT NULL,
    hash         BYTEA NOT NULL,
    member       TEXT COLLATE "C" NOT NULL,
    -- What it may do, at most what the member's role allows: 'read', 'read,write' and so on.
    scope        TEXT COLLATE "C" NOT NULL,
    created_at   BIGINT NOT NULL,
    expires_at   BIGINT,
    revoked_at   BIGINT,
    last_used_at BIGINT,
    PRIMARY KEY (space, id)
);
CREATE INDEX token_by_member ON token (space, member);

-- What members did. Rows are only added, and deleted when they are old.
CREATE TABLE audit (
    space  TEXT COLLATE "C" NOT NULL,
    number BIGINT NOT NULL,
    at     BIGINT NOT NULL,
    member TEXT COLLATE "C" NOT NULL,
    -- 'read', 'write' or 'admin'.
    action TEXT COLLATE "C" NOT NULL,
    -- A route or an admin command with the names it was given. Never content.
    target TEXT COLLATE "C" NOT NULL,
    -- How many rows were read or written.
    items  BIGINT NOT NULL,
    -- HTTP status of the answer.
    status BIGINT NOT NULL,
    PRIMARY KEY (space, number)
);
CREATE INDEX audit_by_time ON audit (space, at);
CREATE INDEX audit_by_member ON audit (space, member, number);
