-- part schema
-- The columns of the service, without its other indexes and its foreign keys,
-- which would slow pgbench down.

CREATE TABLE products (
  store_id text COLLATE "C", product_id text COLLATE "C", sku text NOT NULL, created_on bigint NOT NULL,
  description text NOT NULL, featured_image text NOT NULL, images text NOT NULL,
  PRIMARY KEY (store_id, product_id)
);
CREATE TABLE stock (
  store_id text COLLATE "C", product_id text COLLATE "C", name text NOT NULL,
  price_cents bigint NOT NULL CHECK (price_cents >= 0), category_id text NOT NULL, active boolean NOT NULL,
  quantity bigint NOT NULL CHECK (quantity >= 0), moves bigint NOT NULL, moved_on bigint NOT NULL,
  sold_count bigint NOT NULL, sold_cents bigint NOT NULL, updated_on bigint NOT NULL,
  PRIMARY KEY (store_id, product_id)
);
CREATE TABLE stock_moves (
  at bigint, store_id text COLLATE "C", product_id text COLLATE "C", seq bigint, kind text NOT NULL, delta bigint NOT NULL,
  quantity_after bigint NOT NULL, previous_at bigint NOT NULL, order_body bytea NOT NULL, noted boolean NOT NULL,
  PRIMARY KEY (at, store_id, product_id, seq)
);
CREATE TABLE orders (
  store_id text COLLATE "C", id text COLLATE "C", partner_id text NOT NULL, mode text NOT NULL, source text NOT NULL,
  external_id text NOT NULL, fulfillment text NOT NULL, lines text NOT NULL, subtotal_cents bigint NOT NULL,
  tax_cents bigint NOT NULL, delivery_fee_cents bigint NOT NULL, total_cents bigint NOT NULL, customer_id text NOT NULL,
  status text NOT NULL, refunded_cents bigint NOT NULL, inventory_deducted boolean NOT NULL, created_on bigint NOT NULL,
  updated_on bigint NOT NULL,
  PRIMARY KEY (store_id, id)
);
CREATE TABLE timeline (
  store_id text COLLATE "C", order_id text COLLATE "C", seq bigint, kind text NOT NULL, status text NOT NULL,
  message text NOT NULL, created_on bigint NOT NULL,
  PRIMARY KEY (store_id, order_id, seq)
);
CREATE TABLE outbox (
  partner_id text COLLATE "C", id text COLLATE "C", kind text NOT NULL, store_id text NOT NULL, order_id text NOT NULL,
  data text NOT NULL, created_on bigint NOT NULL,
  PRIMARY KEY (partner_id, id)
);
CREATE TABLE replies (
  partner_id text COLLATE "C", op text COLLATE "C", key text COLLATE "C", fingerprint text NOT NULL, status bigint NOT NULL,
  body text NOT NULL, created_on bigint NOT NULL,
  PRIMARY KEY (partner_id, op, key)
);

INSERT INTO products
SELECT s::text, (1000 * s + g)::text, 'ALM-' || (1000 * s + g), 1750000000000,
  'Whole California almonds, dry roasted in small batches, with sea salt.',
  'https://images.example.com/' || (1000 * s + g) || '/a.jpg', '["https://images.example.com/' || (1000 * s + g) || '/b.jpg"]'
FROM generate_series(1, :stores) AS s, generate_series(1, :goods) AS g;
INSERT INTO stock
SELECT store_id, product_id, 'Roasted Almonds, lightly salted, No. ' || product_id, 999, 'category-01', true, 1000000000, 1, created_on, 0, 0, created_on
FROM products;
INSERT INTO stock_moves
SELECT updated_on, store_id, product_id, 1, 'opened', quantity, quantity, 0, '', false FROM stock;
VACUUM ANALYZE products, stock, stock_moves;
-- part product
\set s random(1, :stores)
\set a 1000 * :s + random(1, :goods)
SELECT p.sku, p.description, p.featured_image, p.images, s.name, s.price_cents, s.category_id, s.active, s.quantity, s.updated_on FROM products p JOIN stock s USING (store_id, product_id) WHERE p.store_id = :s AND p.product_id = :a;
-- part spread
\set s random(1, :stores)
\set x random(1, :goods)
\set y random(1, :goods - 1)
\set y :y + CASE WHEN :y >= :x THEN 1 ELSE 0 END
-- part hot
\set s 1
\set x 1
\set y 2
-- part report
\set a 1000 * :s + least(:x, :y)
\set b 1000 * :s + greatest(:x, :y)
\set n :n + 1
\set order_id (:run * 100 + :client_id) * 1000000 + :n
\set at 1750000000000 + :n
\set key random(1, 9000000000000000000)
BEGIN;
SELECT fingerprint, status, body FROM replies WHERE partner_id = 'ptn_bench' AND op = 'live POST /v1/orders/report' AND key = :key;
SELECT product_id, name, price_cents, quantity, moves, moved_on, active FROM stock WHERE store_id = :s AND product_id IN (:a, :b) ORDER BY product_id FOR UPDATE;
UPDATE stock SET quantity = quantity - 1, moves = moves + 1, moved_on = :at, sold_count = sold_count + 1, sold_cents = sold_cents + price_cents, updated_on = updated_on + 1 WHERE store_id = :s AND product_id = :a RETURNING moves AS seq_a, quantity AS left_a \gset
UPDATE stock SET quantity = quantity - 2, moves = moves + 1, moved_on = :at, sold_count = sold_count + 2, sold_cents = sold_cents + 2 * price_cents, updated_on = updated_on + 1 WHERE store_id = :s AND product_id = :b RETURNING moves AS seq_b, quantity AS left_b \gset
INSERT INTO stock_moves VALUES (:at, :s, :a, :seq_a, 'sold', -1, :left_a, 1750000000000, '\x0123456789abcdef0123456789abcdef', false), (:at, :s, :b, :seq_b, 'sold', -2, :left_b, 1750000000000, '\x0123456789abcdef0123456789abcdef', false);
INSERT INTO orders VALUES (:s, :order_id, 'ptn_bench', 'live', 'partner', :order_id, 'pickup', '[{"product_id":"prd_0000000000000000000000","name":"Roasted Almonds, lightly salted, No. 1","quantity":1,"price":999},{"product_id":"prd_0000000000000000000001","name":"Roasted Almonds, lightly salted, No. 2","quantity":2,"price":999}]', 2997, 0, 0, 2997, 'cus_0000000000000000000000', 'processed', 0, true, 1750000000000, 1750000000000);
INSERT INTO timeline VALUES (:s, :order_id, 1, 'order.created', 'pending', 'Order reported by the partner', 1750000000000), (:s, :order_id, 2, 'order.processed', 'processed', 'Order processed', 1750000000000);
INSERT INTO outbox VALUES ('ptn_bench', :order_id, 'order.processed', :s, :order_id, '{"order_id":"ord_0000000000000000000000","external_order_id":"W-0000000000000000","status":"processed","store_id":"store-0001"}', 1750000000000);
INSERT INTO replies VALUES ('ptn_bench', 'live POST /v1/orders/report', :key, '0123456789abcdef0123456789abcdef', 201, '{"ok": true, "order_id":"ord_0000000000000000000000","external_order_id":"W-0000000000000000","status":"processed","trace_id":"0123456789abcdef0123456789abcdef"}', 1750000000000);
COMMIT;
