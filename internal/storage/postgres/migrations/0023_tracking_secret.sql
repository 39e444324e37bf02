-- The secret of the tokens of tracking pages is drawn once, and stays with the database. The
-- two random UUIDs have 244 random bits.
ALTER TABLE meta ADD COLUMN secret BYTEA;

INSERT INTO meta (name, value, secret) VALUES ('tracking', 0, sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));
