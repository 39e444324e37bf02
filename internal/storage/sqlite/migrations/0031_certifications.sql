-- The newest certification of each partner.
CREATE TABLE certifications (
  partner_id TEXT PRIMARY KEY,
  run_id TEXT NOT NULL,
  running INTEGER NOT NULL,
  run TEXT NOT NULL,
  ends_on INTEGER NOT NULL,
  version INTEGER NOT NULL,
  certified_on INTEGER NOT NULL,
  updated_on INTEGER NOT NULL
) WITHOUT ROWID;
