-- Commands that make or change a key look at its partner in the same
-- transaction, so the foreign key is not needed. On a cluster it keeps the
-- table on one node.
ALTER TABLE api_keys DROP CONSTRAINT api_keys_partner_id_fkey;
