-- Sessions in the order they changed, for whoever shows them while they change.

CREATE INDEX session_by_change ON session (space, change);
