-- When the user pinned the session; null if it is not pinned.
ALTER TABLE session_label ADD COLUMN pinned_at BIGINT;
-- The user's tags, one per line.
ALTER TABLE session_label ADD COLUMN tags TEXT COLLATE "C";
