-- The faults that partners have asked for in test mode.
CREATE TABLE faults (
  partner_id TEXT PRIMARY KEY,
  list TEXT NOT NULL,
  updated_on INTEGER NOT NULL
) WITHOUT ROWID;
