-- Each event of an order's history names its actor. Of events that are stored
-- already, the actor is not known.
ALTER TABLE timeline ADD COLUMN actor TEXT NOT NULL DEFAULT '';

-- What people do, and each change of keys and endpoints. before and after are JSON
-- objects: tables, in these the rows that changed, in these the columns. Rows are
-- only ever added.
CREATE TABLE audit (
  store_id TEXT NOT NULL,
  id TEXT NOT NULL,
  actor TEXT NOT NULL,
  action TEXT NOT NULL,
  object TEXT NOT NULL,
  before TEXT NOT NULL,
  after TEXT NOT NULL,
  address TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  PRIMARY KEY (store_id, id)
) WITHOUT ROWID;
