-- How long after its confirmation an order is ready for a courier (-1: not known), and the
-- time that follows from it (0: not known).
ALTER TABLE orders ADD COLUMN ready_in_minutes INTEGER NOT NULL DEFAULT -1;

ALTER TABLE deliveries ADD COLUMN ready_at INTEGER NOT NULL DEFAULT 0;
