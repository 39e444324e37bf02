-- A job carries the idempotency key of the call whose answer it decides. Until now
-- the key stood in the payment, refund or delivery that the job is about.
ALTER TABLE jobs ADD COLUMN reply_partner TEXT NOT NULL DEFAULT '';

ALTER TABLE jobs ADD COLUMN reply_op TEXT NOT NULL DEFAULT '';

ALTER TABLE jobs ADD COLUMN reply_key TEXT NOT NULL DEFAULT '';

-- Each statement first finds the jobs that are open, then their rows, and writes
-- jobs from a list that is complete. Jobs and the others are spread by different
-- columns over the nodes of a cluster, so no statement joins the tables themselves.
WITH asked AS MATERIALIZED (SELECT owner, subject FROM jobs WHERE kind = 'open_session' AND state <> 'given_up'),
found AS MATERIALIZED (SELECT asked.owner, asked.subject, p.answers_partner AS partner, p.answers_op AS op, p.answers_key AS key
  FROM asked JOIN payments AS p ON p.store_id = asked.owner AND p.order_id = asked.subject)
UPDATE jobs SET reply_partner = found.partner, reply_op = found.op, reply_key = found.key FROM found
WHERE jobs.kind = 'open_session' AND jobs.state <> 'given_up' AND jobs.owner = found.owner AND jobs.subject = found.subject;

WITH asked AS MATERIALIZED (SELECT owner, subject FROM jobs WHERE kind = 'refund_payment' AND state <> 'given_up'),
found AS MATERIALIZED (SELECT asked.owner, asked.subject, r.answers_partner AS partner, r.answers_op AS op, r.answers_key AS key
  FROM asked JOIN refunds AS r ON r.store_id = asked.owner AND r.id = asked.subject)
UPDATE jobs SET reply_partner = found.partner, reply_op = found.op, reply_key = found.key FROM found
WHERE jobs.kind = 'refund_payment' AND jobs.state <> 'given_up' AND jobs.owner = found.owner AND jobs.subject = found.subject;

-- The subject of a dispatch is dlv_, the body of the order's id, _ and the number of
-- the attempt.
WITH asked AS MATERIALIZED (SELECT owner, subject,
  'ord_' || substr(rtrim(subject, '0123456789'), 5, length(rtrim(subject, '0123456789')) - 5) AS order_id FROM jobs WHERE kind = 'dispatch' AND state <> 'given_up'),
found AS MATERIALIZED (SELECT asked.owner, asked.subject, d.answers_partner AS partner, d.answers_op AS op, d.answers_key AS key
  FROM asked JOIN deliveries AS d ON d.store_id = asked.owner AND d.order_id = asked.order_id)
UPDATE jobs SET reply_partner = found.partner, reply_op = found.op, reply_key = found.key FROM found
WHERE jobs.kind = 'dispatch' AND jobs.state <> 'given_up' AND jobs.owner = found.owner AND jobs.subject = found.subject;

WITH asked AS MATERIALIZED (SELECT owner, subject FROM jobs WHERE kind = 'cancel_delivery' AND state <> 'given_up'),
found AS MATERIALIZED (SELECT asked.owner, asked.subject, d.cancel_partner AS partner, d.cancel_op AS op, d.cancel_key AS key
  FROM asked JOIN deliveries AS d ON d.store_id = asked.owner AND d.order_id = asked.subject)
UPDATE jobs SET reply_partner = found.partner, reply_op = found.op, reply_key = found.key FROM found
WHERE jobs.kind = 'cancel_delivery' AND jobs.state <> 'given_up' AND jobs.owner = found.owner AND jobs.subject = found.subject;

-- The answer of a call that cancelled an order says whether that put goods back in
-- stock, and whether the courier was called off. It is made from the order and the
-- delivery, which did not say that.
ALTER TABLE orders ADD COLUMN restocked INTEGER NOT NULL DEFAULT FALSE;

UPDATE orders SET restocked = TRUE
WHERE status IN ('cancelled', 'refunded') AND NOT inventory_deducted AND (confirmed OR external_id <> '');

ALTER TABLE deliveries ADD COLUMN called_off INTEGER NOT NULL DEFAULT FALSE;

UPDATE deliveries SET called_off = TRUE WHERE cancel_key <> '' AND status = 'cancelled';

ALTER TABLE payments DROP COLUMN answers_partner;

ALTER TABLE payments DROP COLUMN answers_op;

ALTER TABLE payments DROP COLUMN answers_key;

ALTER TABLE refunds DROP COLUMN answers_partner;

ALTER TABLE refunds DROP COLUMN answers_op;

ALTER TABLE refunds DROP COLUMN answers_key;

ALTER TABLE deliveries DROP COLUMN answers_partner;

ALTER TABLE deliveries DROP COLUMN answers_op;

ALTER TABLE deliveries DROP COLUMN answers_key;

ALTER TABLE deliveries DROP COLUMN cancel_partner;

ALTER TABLE deliveries DROP COLUMN cancel_op;

ALTER TABLE deliveries DROP COLUMN cancel_key;
