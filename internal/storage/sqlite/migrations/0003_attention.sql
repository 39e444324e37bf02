-- Why the merchant is asked to look at an order: one row for each reason.
-- orders.attention had room for one, and the next reason replaced it.
CREATE TABLE attention (
  store_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  code TEXT NOT NULL,
  since INTEGER NOT NULL,
  detail TEXT NOT NULL,
  resolved_on INTEGER NOT NULL,
  resolved_by TEXT NOT NULL,
  PRIMARY KEY (store_id, order_id, code)
) WITHOUT ROWID;

CREATE INDEX attention_open ON attention (store_id, since, order_id, code) WHERE resolved_on = 0;

-- An order that could not be confirmed because a product was switched off can be
-- confirmed now, so that code is not kept.
INSERT INTO attention (store_id, order_id, code, since, detail, resolved_on, resolved_by)
SELECT store_id, id, attention, updated_on, '', 0, ''
FROM orders WHERE attention NOT IN ('', 'product_inactive');

-- Money that is left of an order which is not fulfilled is flagged, too, where
-- another reason had replaced the one that told of it.
INSERT INTO attention (store_id, order_id, code, since, detail, resolved_on, resolved_by)
SELECT o.store_id, o.id, CASE WHEN o.status IN ('pending_payment', 'failed_payment') THEN 'payment_mismatch' ELSE 'refund_due' END,
  o.updated_on, '', 0, ''
FROM payments AS p JOIN orders AS o ON o.store_id = p.store_id AND o.id = p.order_id
WHERE o.status IN ('pending_payment', 'failed_payment', 'cancelled', 'refunded')
  AND o.attention NOT IN ('payment_mismatch', 'refund_due', 'refund_failed')
  AND p.captured_cents > p.refunded_cents + p.pending_cents;

ALTER TABLE orders DROP COLUMN attention;
