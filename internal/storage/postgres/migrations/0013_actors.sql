-- Each event of an order's history names its actor. Of events that are stored
-- already, the actor is not known.
ALTER TABLE timeline ADD COLUMN actor TEXT COLLATE "C" NOT NULL DEFAULT '';

-- What people do, and each change of keys and endpoints. before and after are JSON
-- objects: tables, in these the rows that changed, in these the columns. Rows are
-- only ever added.
CREATE TABLE audit (
  store_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  actor TEXT COLLATE "C" NOT NULL,
  action TEXT COLLATE "C" NOT NULL,
  object TEXT COLLATE "C" NOT NULL,
  before TEXT COLLATE "C" NOT NULL,
  after TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  trace_id TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  PRIMARY KEY (store_id, id)
);
