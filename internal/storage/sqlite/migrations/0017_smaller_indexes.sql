-- An order without a contact has a customer of its own, whom no search finds.
DROP INDEX orders_customer;

CREATE INDEX orders_customer ON orders (customer_id) WHERE address IS NOT NULL OR customer_email <> '';

-- An order that was never changed is found in orders_partner.
DROP INDEX orders_changed;

CREATE INDEX orders_changed ON orders (partner_id, mode, updated_on) WHERE updated_on <> created_on;
