-- A checkout may hold its goods for some minutes. They stand beside the quantity that may
-- be sold. A stock move that changes what is held says so beside its note, so that the moves
-- of sales stay as narrow as they were.
ALTER TABLE stores ADD COLUMN hold_minutes INTEGER NOT NULL DEFAULT 0;

ALTER TABLE orders ADD COLUMN held_until INTEGER NOT NULL DEFAULT 0;

ALTER TABLE stock ADD COLUMN held INTEGER NOT NULL DEFAULT 0 CHECK (held >= 0);

ALTER TABLE stock_notes ADD COLUMN held_delta INTEGER NOT NULL DEFAULT 0;

ALTER TABLE stock_notes ADD COLUMN held_after INTEGER NOT NULL DEFAULT 0;
