-- Nothing changes here: rows are kept in the order of their key, so the two ids in
-- it are written once. On PostgreSQL they stood in the index, too.
SELECT 1;
