-- The number of the schema, and that of the oldest program that may use it. Only a
-- migration that takes something away raises the second.
INSERT INTO meta (name, value) VALUES ('schema', 32), ('oldest_program', 31);
