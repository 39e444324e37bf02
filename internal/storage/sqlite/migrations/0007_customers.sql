-- A customer is one partner's, live and test apart. One that is there becomes that
-- of the partner and mode of its oldest order; all orders keep its id.
CREATE TABLE customers_of_partners (
  store_id TEXT NOT NULL,
  contact TEXT NOT NULL,
  partner_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  PRIMARY KEY (store_id, contact, partner_id, mode)
) WITHOUT ROWID;

INSERT INTO customers_of_partners (store_id, contact, partner_id, mode, id, name, created_on)
SELECT c.store_id, c.contact, coalesce(o.partner_id, ''), coalesce(o.mode, 'live'), c.id, c.name, c.created_on
FROM customers AS c LEFT JOIN (
  SELECT store_id, customer_id, partner_id, mode, row_number() OVER (PARTITION BY store_id, customer_id ORDER BY created_on, id) AS place FROM orders
) AS o ON o.store_id = c.store_id AND o.customer_id = c.id AND o.place = 1;

DROP TABLE customers;

ALTER TABLE customers_of_partners RENAME TO customers;
