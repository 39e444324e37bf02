-- Jobs that are held after a restore are listed by their time.
CREATE INDEX jobs_held ON jobs (run_at, slot, id) WHERE state = 'held';
