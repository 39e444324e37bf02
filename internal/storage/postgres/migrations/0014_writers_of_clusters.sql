-- The low watermarks of a distributed database stand beside the rows that they guard, as
-- writers has them on a single server: those of stock beside the store, those of events
-- and orders beside the partner.
CREATE TABLE store_writers (
  store_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  floor BIGINT,
  last BIGINT NOT NULL,
  until TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (store_id, id)
);

CREATE TABLE partner_writers (
  partner_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  floor BIGINT,
  last BIGINT NOT NULL,
  until TIMESTAMPTZ NOT NULL,
  PRIMARY KEY (partner_id, id)
);
