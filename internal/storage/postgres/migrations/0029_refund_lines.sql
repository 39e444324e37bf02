-- The pieces that a refund is about (NULL: it is by amount), whether they go back into stock,
-- and what all refunds by line have taken of an order. Lists are JSON; NULL: there is nothing.
ALTER TABLE refunds ADD COLUMN lines TEXT COLLATE "C";

ALTER TABLE refunds ADD COLUMN restock BOOLEAN NOT NULL DEFAULT FALSE;

ALTER TABLE orders ADD COLUMN line_refunds TEXT COLLATE "C";
