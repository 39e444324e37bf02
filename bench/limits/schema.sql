-- What the report transaction of pgbench needs: the columns of the service,
-- without its other indexes and its foreign keys, which would slow it down.

CREATE TABLE products (
  store_id text COLLATE "C" NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  sku text NOT NULL,
  created_on bigint NOT NULL,
  description text NOT NULL,
  featured_image text NOT NULL,
  images text NOT NULL,
  PRIMARY KEY (store_id, product_id)
);

CREATE TABLE stock (
  store_id text COLLATE "C" NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  name text NOT NULL,
  price_cents bigint NOT NULL CHECK (price_cents >= 0),
  category_id text NOT NULL,
  active boolean NOT NULL,
  quantity bigint NOT NULL CHECK (quantity >= 0),
  moves bigint NOT NULL,
  moved_on bigint NOT NULL,
  sold_count bigint NOT NULL,
  sold_cents bigint NOT NULL,
  updated_on bigint NOT NULL,
  PRIMARY KEY (store_id, product_id)
);

CREATE TABLE stock_moves (
  at bigint NOT NULL,
  store_id text COLLATE "C" NOT NULL,
  product_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL,
  delta bigint NOT NULL,
  quantity_after bigint NOT NULL,
  previous_at bigint NOT NULL,
  order_body bytea NOT NULL,
  noted boolean NOT NULL,
  PRIMARY KEY (at, store_id, product_id, seq)
);

CREATE TABLE orders (
  store_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  partner_id text NOT NULL,
  mode text NOT NULL,
  source text NOT NULL,
  external_id text NOT NULL,
  fulfillment text NOT NULL,
  lines text NOT NULL,
  subtotal_cents bigint NOT NULL,
  tax_cents bigint NOT NULL,
  delivery_fee_cents bigint NOT NULL,
  total_cents bigint NOT NULL,
  customer_id text NOT NULL,
  status text NOT NULL,
  refunded_cents bigint NOT NULL,
  inventory_deducted boolean NOT NULL,
  created_on bigint NOT NULL,
  updated_on bigint NOT NULL,
  PRIMARY KEY (store_id, id)
);

CREATE TABLE timeline (
  store_id text COLLATE "C" NOT NULL,
  order_id text COLLATE "C" NOT NULL,
  seq bigint NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  message text NOT NULL,
  created_on bigint NOT NULL,
  PRIMARY KEY (store_id, order_id, seq)
);

CREATE TABLE outbox (
  partner_id text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  kind text NOT NULL,
  store_id text NOT NULL,
  order_id text NOT NULL,
  data text NOT NULL,
  created_on bigint NOT NULL,
  PRIMARY KEY (partner_id, id)
);

CREATE TABLE replies (
  partner_id text COLLATE "C" NOT NULL,
  op text COLLATE "C" NOT NULL,
  key text COLLATE "C" NOT NULL,
  fingerprint text NOT NULL,
  status bigint NOT NULL,
  body text NOT NULL,
  created_on bigint NOT NULL,
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

VACUUM ANALYZE products;
VACUUM ANALYZE stock;
VACUUM ANALYZE stock_moves;
