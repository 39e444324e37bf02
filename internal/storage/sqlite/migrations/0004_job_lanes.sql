-- Jobs of the sandbox and of other partners never wait for each other, so that a
-- claim must know a job's mode and partner. Jobs that are open keep the lane of
-- their store.
ALTER TABLE jobs ADD COLUMN mode TEXT NOT NULL DEFAULT 'live';

ALTER TABLE jobs ADD COLUMN partner_id TEXT NOT NULL DEFAULT '';
