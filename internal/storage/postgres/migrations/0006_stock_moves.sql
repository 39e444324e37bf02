-- Each change of a quantity is a row, and is never changed. The number and the
-- time of a product's newest row stand in its stock row, so that nothing is read to
-- write the next one, and each row has the time of the one before. A product that is there opens with the quantity that it has.
ALTER TABLE stock ADD COLUMN moves BIGINT NOT NULL DEFAULT 1;

ALTER TABLE stock ADD COLUMN moved_on BIGINT NOT NULL DEFAULT 0;

UPDATE stock SET moved_on = updated_on;

CREATE TABLE stock_moves (
  at BIGINT NOT NULL,
  store_id TEXT COLLATE "C" NOT NULL,
  product_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  delta BIGINT NOT NULL,
  quantity_after BIGINT NOT NULL,
  previous_at BIGINT NOT NULL,
  order_body BYTEA NOT NULL,
  noted BOOLEAN NOT NULL,
  PRIMARY KEY (at, store_id, product_id, seq)
);

INSERT INTO stock_moves (at, store_id, product_id, seq, kind, delta, quantity_after, previous_at, order_body, noted)
SELECT updated_on, store_id, product_id, 1, 'opened', quantity, quantity, 0, '', FALSE FROM stock;

-- Who made a move, and why; a sale and a restoration have their order instead.
CREATE TABLE stock_notes (
  store_id TEXT COLLATE "C" NOT NULL,
  product_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  external_reference TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (store_id, product_id, seq)
);
