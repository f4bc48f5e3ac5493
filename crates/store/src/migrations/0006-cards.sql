-- Cards that a model wrote. Only we know them, so they are kept by the agent's own id and survive a rebuild.

CREATE TABLE card (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    -- Name, description, summary and tags as JSON; nothing while no attempt has succeeded.
    fields      TEXT,
    model       TEXT,
    created_at  INTEGER,
    updated_at  INTEGER,
    -- The last entry the model was shown, and how many prompts there were then.
    leaf        TEXT,
    prompts     INTEGER NOT NULL DEFAULT 0,
    -- The last entry of an attempt that failed since then.
    tried       TEXT,
    PRIMARY KEY (space, agent, external_id)
) STRICT, WITHOUT ROWID;
