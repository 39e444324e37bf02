-- Notes of the partner on its order, as a JSON object of strings; NULL: there are none.
ALTER TABLE orders ADD COLUMN metadata TEXT;
