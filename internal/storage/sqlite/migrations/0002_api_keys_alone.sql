-- Commands that make or change a key look at its partner in the same
-- transaction, so the foreign key is not needed. SQLite removes one only with
-- its table.
CREATE TABLE api_keys_alone (
  partner_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  hash BLOB NOT NULL,
  created_on INTEGER NOT NULL,
  PRIMARY KEY (partner_id, mode)
) WITHOUT ROWID;

INSERT INTO api_keys_alone (partner_id, mode, hash, created_on) SELECT partner_id, mode, hash, created_on FROM api_keys;

DROP TABLE api_keys;

ALTER TABLE api_keys_alone RENAME TO api_keys;

CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);
