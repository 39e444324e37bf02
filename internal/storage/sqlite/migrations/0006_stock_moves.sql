-- Each change of a quantity is a row, and is never changed. The number and the
-- time of a product's newest row stand in its stock row, so that nothing is read to
-- write the next one, and each row has the time of the one before. A product that is there opens with the quantity that it has.
ALTER TABLE stock ADD COLUMN moves INTEGER NOT NULL DEFAULT 1;

ALTER TABLE stock ADD COLUMN moved_on INTEGER NOT NULL DEFAULT 0;

UPDATE stock SET moved_on = updated_on;

CREATE TABLE stock_moves (
  at INTEGER NOT NULL,
  store_id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  delta INTEGER NOT NULL,
  quantity_after INTEGER NOT NULL,
  previous_at INTEGER NOT NULL,
  order_body BLOB NOT NULL,
  noted INTEGER NOT NULL,
  PRIMARY KEY (at, store_id, product_id, seq)
) WITHOUT ROWID;

INSERT INTO stock_moves (at, store_id, product_id, seq, kind, delta, quantity_after, previous_at, order_body, noted)
SELECT updated_on, store_id, product_id, 1, 'opened', quantity, quantity, 0, x'', 0 FROM stock;

-- Who made a move, and why; a sale and a restoration have their order instead.
CREATE TABLE stock_notes (
  store_id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  actor TEXT NOT NULL,
  reason TEXT NOT NULL,
  external_reference TEXT NOT NULL,
  PRIMARY KEY (store_id, product_id, seq)
) WITHOUT ROWID;
