-- A refund that waits is counted by itself, so that no crowd of other jobs hides it from operators.
CREATE INDEX jobs_refunds ON jobs (run_at, slot, id) WHERE state = 'waiting' AND kind = 'refund_payment';
