-- A refund that the bank gives back takes its order out of refunded: the order
-- keeps the status that it had before, and whether that refund had stopped the
-- fulfilment.
ALTER TABLE orders ADD COLUMN refunded_from TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE orders ADD COLUMN refund_stopped BOOLEAN NOT NULL DEFAULT FALSE;

-- Money that came back and was not refunded again.
ALTER TABLE payments ADD COLUMN came_back_cents BIGINT NOT NULL DEFAULT 0;

-- What a refund made of its order: the sum of the refunds up to it, and the status
-- then.
ALTER TABLE refunds ADD COLUMN total_refunded_cents BIGINT NOT NULL DEFAULT 0;

ALTER TABLE refunds ADD COLUMN order_status TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Of orders that are refunded by now it is known whether the goods were handed
-- over. If not, the refund stopped the fulfilment, or the order was cancelled
-- before it.
UPDATE orders SET refunded_from = 'cancelled' WHERE status = 'refunded';

UPDATE orders SET refunded_from = 'picked_up' WHERE status = 'refunded' AND picked_up_at <> 0;

UPDATE orders SET refunded_from = 'delivered' FROM deliveries AS d
WHERE d.store_id = orders.store_id AND d.order_id = orders.id AND d.status = 'delivered' AND orders.status = 'refunded';

UPDATE payments SET came_back_cents = CASE WHEN l.cents < payments.captured_cents - payments.refunded_cents THEN l.cents
  ELSE payments.captured_cents - payments.refunded_cents END
FROM (SELECT store_id, order_id, sum(amount_cents) AS cents FROM ledger WHERE kind = 'refund_failed' GROUP BY store_id, order_id) AS l
WHERE l.store_id = payments.store_id AND l.order_id = payments.order_id;

-- A refund whose job is not over may have been told by a notice already. Its
-- answer tells of the order as it is now.
UPDATE refunds SET total_refunded_cents = o.refunded_cents, order_status = o.status FROM orders AS o
WHERE o.store_id = refunds.store_id AND o.id = refunds.order_id AND refunds.state = 'done';
