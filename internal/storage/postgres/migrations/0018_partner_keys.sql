-- A partner has several keys. Their number ascends with each change of them. The table
-- api_keys stays, with one key of each mode, for programs that know no other.
ALTER TABLE partners ADD COLUMN keys_no BIGINT NOT NULL DEFAULT 0;

CREATE TABLE partner_keys (
  id TEXT COLLATE "C" PRIMARY KEY,
  partner_id TEXT COLLATE "C" NOT NULL,
  mode TEXT COLLATE "C" NOT NULL,
  hash BYTEA NOT NULL,
  last4 TEXT COLLATE "C" NOT NULL,
  replaces TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  store_ids TEXT COLLATE "C" NOT NULL,
  addresses TEXT COLLATE "C" NOT NULL,
  expires_on BIGINT NOT NULL,
  revoked_on BIGINT NOT NULL,
  used_on BIGINT NOT NULL
);

INSERT INTO partner_keys (id, partner_id, mode, hash, last4, replaces, created_on, name, scopes, store_ids, addresses, expires_on, revoked_on, used_on)
SELECT 'key_' || substr(partner_id, 5) || '_' || mode, partner_id, mode, hash, '', '', created_on, mode || ' key', '[]', '[]', '[]', 0, 0, 0 FROM api_keys;

CREATE UNIQUE INDEX partner_keys_hash ON partner_keys (hash);

CREATE INDEX partner_keys_partner ON partner_keys (partner_id, created_on, id);

CREATE INDEX partner_keys_revoked ON partner_keys (revoked_on, id) WHERE revoked_on <> 0;

CREATE INDEX partner_keys_expired ON partner_keys (expires_on, id) WHERE expires_on <> 0;
