-- Periods count their own events, a session remembers what its prompts named, and notes are told from deeds.

ALTER TABLE life ADD COLUMN events_before INTEGER NOT NULL DEFAULT 0;
-- One a line, newest last.
ALTER TABLE life ADD COLUMN entities TEXT NOT NULL DEFAULT '';

ALTER TABLE hot ADD COLUMN is_note INTEGER NOT NULL DEFAULT 0;

-- Periods that are over and not yet in the archive, as they will stand there.
CREATE TABLE unarchived (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    period      INTEGER NOT NULL,
    name        TEXT NOT NULL,
    text        TEXT NOT NULL,
    PRIMARY KEY (space, agent, external_id, period)
) STRICT, WITHOUT ROWID;
