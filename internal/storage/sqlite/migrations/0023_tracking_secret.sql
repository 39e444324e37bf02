-- The secret of the tokens of tracking pages is drawn once, and stays with the database.
ALTER TABLE meta ADD COLUMN secret BLOB;

INSERT INTO meta (name, value, secret) VALUES ('tracking', 0, randomblob(32));
