-- A customer is one partner's, live and test apart. One that is there becomes that
-- of the partner and mode of its oldest order; all orders keep its id.
ALTER TABLE customers ADD COLUMN partner_id TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE customers ADD COLUMN mode TEXT COLLATE "C" NOT NULL DEFAULT 'live';

UPDATE customers AS c SET partner_id = o.partner_id, mode = o.mode FROM (
  SELECT DISTINCT ON (store_id, customer_id) store_id, customer_id, partner_id, mode FROM orders ORDER BY store_id, customer_id, created_on, id
) AS o WHERE o.store_id = c.store_id AND o.customer_id = c.id;

ALTER TABLE customers DROP CONSTRAINT customers_pkey;

ALTER TABLE customers ADD PRIMARY KEY (store_id, contact, partner_id, mode);
