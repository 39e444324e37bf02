-- Jobs that an operator gave up are listed, and swept, by their time.
CREATE INDEX jobs_given_up ON jobs (run_at, slot, id) WHERE state = 'given_up';
