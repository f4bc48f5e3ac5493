-- Who was forgotten, so that nothing brings them back. No text is kept here.

CREATE TABLE tombstone (
    space       TEXT NOT NULL,
    agent       TEXT NOT NULL,
    external_id TEXT NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (space, agent, external_id)
) STRICT, WITHOUT ROWID;

-- Keys of entries, tree nodes and names that were forgotten: copies of them in other transcripts stay out too.
CREATE TABLE forgotten (
    space TEXT NOT NULL,
    key   INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

-- Whoever writes down what only we know of a session, a hook in the middle of its work too, meets the tombstone.
CREATE TRIGGER card_stays_forgotten BEFORE INSERT ON card
WHEN EXISTS (SELECT 1 FROM tombstone WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER life_stays_forgotten BEFORE INSERT ON life
WHEN EXISTS (SELECT 1 FROM tombstone WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER life_event_stays_forgotten BEFORE INSERT ON life_event
WHEN EXISTS (SELECT 1 FROM tombstone WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER hot_stays_forgotten BEFORE INSERT ON hot
WHEN EXISTS (SELECT 1 FROM tombstone WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER seen_stays_forgotten BEFORE INSERT ON seen
WHEN EXISTS (SELECT 1 FROM tombstone WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER told_stays_forgotten BEFORE INSERT ON told
WHEN EXISTS (SELECT 1 FROM tombstone WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER injection_stays_forgotten BEFORE INSERT ON injection
WHEN EXISTS (SELECT 1 FROM tombstone WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
CREATE TRIGGER unarchived_stays_forgotten BEFORE INSERT ON unarchived
WHEN EXISTS (SELECT 1 FROM tombstone WHERE space = NEW.space AND agent = NEW.agent AND external_id = NEW.external_id)
BEGIN SELECT RAISE(IGNORE); END;
