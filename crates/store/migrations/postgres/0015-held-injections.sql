-- Text that a host did not pass on to the model waits here for the next event whose text it does pass on.
ALTER TABLE injection ADD COLUMN is_held BOOLEAN NOT NULL DEFAULT FALSE;
