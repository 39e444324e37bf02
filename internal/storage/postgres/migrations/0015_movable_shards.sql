-- A cluster moves the rows of a store to another node while they are written to. For that
-- each table needs a replica identity, and this one has no primary key.
ALTER TABLE stock_moves REPLICA IDENTITY FULL;
