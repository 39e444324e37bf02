-- Rows of a store carry store_id first in every key; what is unique for a
-- partner is keyed by partner. The two groups never refer to each other.

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO meta (name, value) VALUES ('stamp', 0), ('next_store_no', 1);

CREATE TABLE partners (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  scopes TEXT NOT NULL,
  store_ids TEXT NOT NULL,
  rate_limit INTEGER NOT NULL,
  callback_url TEXT NOT NULL,
  callback_secret TEXT NOT NULL,
  suspended INTEGER NOT NULL,
  created_on INTEGER NOT NULL,
  updated_on INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE api_keys (
  partner_id TEXT NOT NULL REFERENCES partners (id),
  mode TEXT NOT NULL,
  hash BLOB NOT NULL,
  created_on INTEGER NOT NULL,
  PRIMARY KEY (partner_id, mode)
) WITHOUT ROWID;

CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);

CREATE TABLE categories (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  active INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE stores (
  id TEXT PRIMARY KEY,
  no INTEGER NOT NULL UNIQUE,
  name TEXT NOT NULL,
  slug TEXT NOT NULL,
  address TEXT NOT NULL,
  city TEXT NOT NULL,
  state TEXT NOT NULL,
  zip_code TEXT NOT NULL,
  active INTEGER NOT NULL,
  open INTEGER NOT NULL,
  pickup_enabled INTEGER NOT NULL,
  delivery_enabled INTEGER NOT NULL,
  lat REAL,
  lng REAL,
  radius_miles REAL,
  email TEXT NOT NULL,
  phone TEXT NOT NULL,
  tax_rate_bps INTEGER NOT NULL,
  charges_quote INTEGER NOT NULL,
  updated_on INTEGER NOT NULL,
  band INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX stores_active ON stores (active, id);
CREATE INDEX stores_place ON stores (active, band, lng, lat, pickup_enabled, delivery_enabled, radius_miles, updated_on);

CREATE TABLE product_stores (
  product_id TEXT PRIMARY KEY,
  store_id TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE products (
  store_id TEXT NOT NULL,
  id TEXT NOT NULL,
  source TEXT NOT NULL,
  sku TEXT NOT NULL,
  hot INTEGER NOT NULL,
  created_on INTEGER NOT NULL,
  description TEXT NOT NULL,
  featured_image TEXT NOT NULL,
  images TEXT NOT NULL,
  PRIMARY KEY (store_id, id)
);

-- What a sale looks at and changes, in a narrow row of its own, with what lists
-- filter by. The three feeds are covering: a page of ids and stamps is read from the
-- index alone.
CREATE TABLE stock (
  store_id TEXT NOT NULL,
  product_id TEXT NOT NULL,
  name TEXT NOT NULL,
  price_cents INTEGER NOT NULL CHECK (price_cents >= 0),
  category_id TEXT NOT NULL,
  active INTEGER NOT NULL,
  quantity INTEGER NOT NULL CHECK (quantity >= 0),
  sold_count INTEGER NOT NULL CHECK (sold_count >= 0),
  sold_cents INTEGER NOT NULL CHECK (sold_cents >= 0),
  updated_on INTEGER NOT NULL,
  PRIMARY KEY (store_id, product_id),
  FOREIGN KEY (store_id, product_id) REFERENCES products (store_id, id)
) WITHOUT ROWID;

CREATE INDEX stock_feed ON stock (updated_on, product_id, store_id, active, quantity);

CREATE INDEX stock_feed_by_store ON stock (store_id, updated_on, product_id, active, category_id, quantity);

CREATE INDEX stock_feed_by_category ON stock (category_id, updated_on, product_id, store_id, active, quantity);

-- Not moved by sales: which categories a store has.
CREATE INDEX stock_categories ON stock (store_id, category_id);

CREATE TABLE orders (
  store_id TEXT NOT NULL,
  id TEXT NOT NULL,
  partner_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  source TEXT NOT NULL,
  external_id TEXT NOT NULL,
  fulfillment TEXT NOT NULL,
  lines TEXT NOT NULL,
  address TEXT,
  subtotal_cents INTEGER NOT NULL,
  tax_cents INTEGER NOT NULL,
  delivery_fee_cents INTEGER NOT NULL,
  total_cents INTEGER NOT NULL,
  pickup_instructions TEXT NOT NULL,
  dropoff_instructions TEXT NOT NULL,
  external_payment_id TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  customer_id TEXT NOT NULL,
  customer_email TEXT NOT NULL,
  status TEXT NOT NULL,
  refunded_cents INTEGER NOT NULL CHECK (refunded_cents >= 0),
  courier_quote_id TEXT NOT NULL,
  courier_delivery_id TEXT NOT NULL,
  courier_tracking_url TEXT NOT NULL,
  inventory_deducted INTEGER NOT NULL,
  confirmed INTEGER NOT NULL,
  ready_for_pickup_at INTEGER NOT NULL,
  picked_up_at INTEGER NOT NULL,
  attention TEXT NOT NULL,
  updated_on INTEGER NOT NULL,
  events INTEGER NOT NULL,
  notified_on INTEGER NOT NULL
);
-- An order id says its store, so the index that each order grows holds no more.
CREATE UNIQUE INDEX orders_id ON orders (id);

CREATE TABLE timeline (
  store_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  status TEXT NOT NULL,
  courier_status TEXT NOT NULL,
  message TEXT NOT NULL,
  data TEXT,
  created_on INTEGER NOT NULL,
  FOREIGN KEY (order_id) REFERENCES orders (id)
);
CREATE UNIQUE INDEX timeline_order_id ON timeline (order_id, seq);

-- The card payment of an order, and the balance of its ledger.
CREATE TABLE payments (
  store_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  processor TEXT NOT NULL,
  success_url TEXT NOT NULL,
  cancel_url TEXT NOT NULL,
  store_name TEXT NOT NULL,
  titles TEXT NOT NULL,
  answers_partner TEXT NOT NULL,
  answers_op TEXT NOT NULL,
  answers_key TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  state TEXT NOT NULL,
  session_id TEXT NOT NULL,
  checkout_url TEXT NOT NULL,
  payment_id TEXT NOT NULL,
  error TEXT NOT NULL,
  notice_id TEXT NOT NULL,
  captured_cents INTEGER NOT NULL,
  refunded_cents INTEGER NOT NULL CHECK (refunded_cents BETWEEN 0 AND captured_cents),
  pending_cents INTEGER NOT NULL CHECK (pending_cents >= 0),
  entries INTEGER NOT NULL,
  updated_on INTEGER NOT NULL,
  PRIMARY KEY (store_id, order_id)
) WITHOUT ROWID;

CREATE TABLE ledger (
  store_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  kind TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  refund_id TEXT NOT NULL,
  ref TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  PRIMARY KEY (store_id, order_id, seq)
) WITHOUT ROWID;

CREATE TABLE refunds (
  store_id TEXT NOT NULL,
  id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  amount_cents INTEGER NOT NULL CHECK (amount_cents > 0),
  reason TEXT NOT NULL,
  origin TEXT NOT NULL,
  answers_partner TEXT NOT NULL,
  answers_op TEXT NOT NULL,
  answers_key TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  state TEXT NOT NULL,
  ref TEXT NOT NULL,
  error TEXT NOT NULL,
  updated_on INTEGER NOT NULL,
  PRIMARY KEY (store_id, id)
) WITHOUT ROWID;

CREATE INDEX refunds_order ON refunds (store_id, order_id, id);

-- How the goods of an order get to the customer: the present attempt.
CREATE TABLE deliveries (
  store_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  answers_partner TEXT NOT NULL,
  answers_op TEXT NOT NULL,
  answers_key TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL,
  provider TEXT NOT NULL,
  asked_on INTEGER NOT NULL,
  provider_id TEXT NOT NULL,
  quote_id TEXT NOT NULL,
  fee_cents INTEGER NOT NULL,
  avoid TEXT NOT NULL,
  tracking_url TEXT NOT NULL,
  status TEXT NOT NULL,
  pickup_eta INTEGER NOT NULL,
  dropoff_eta INTEGER NOT NULL,
  courier_name TEXT NOT NULL,
  courier_phone TEXT NOT NULL,
  courier_vehicle TEXT NOT NULL,
  courier_image_url TEXT NOT NULL,
  lat REAL,
  lng REAL,
  imminent INTEGER NOT NULL,
  seen_on INTEGER NOT NULL,
  heard_on INTEGER NOT NULL,
  told_on INTEGER NOT NULL,
  untold INTEGER NOT NULL,
  cancel_partner TEXT NOT NULL,
  cancel_op TEXT NOT NULL,
  cancel_key TEXT NOT NULL,
  error TEXT NOT NULL,
  updated_on INTEGER NOT NULL,
  changes INTEGER NOT NULL,
  PRIMARY KEY (store_id, order_id)
) WITHOUT ROWID;

-- What couriers told of deliveries that are none of ours.
CREATE TABLE courier_notices (
  id TEXT NOT NULL,
  delivery_id TEXT NOT NULL,
  provider TEXT NOT NULL,
  body TEXT NOT NULL,
  received_on INTEGER NOT NULL,
  PRIMARY KEY (id)
) WITHOUT ROWID;

CREATE INDEX courier_notices_delivery ON courier_notices (delivery_id, id);

-- Where addresses are; address is a digest.
CREATE TABLE places (
  address TEXT NOT NULL,
  lat REAL NOT NULL,
  lng REAL NOT NULL,
  precision TEXT NOT NULL,
  source TEXT NOT NULL,
  found_on INTEGER NOT NULL,
  PRIMARY KEY (address)
) WITHOUT ROWID;

CREATE TABLE sandbox_objects (
  id TEXT PRIMARY KEY,
  version INTEGER NOT NULL,
  data TEXT NOT NULL,
  updated_on INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE customers (
  store_id TEXT NOT NULL,
  contact TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  PRIMARY KEY (store_id, contact)
) WITHOUT ROWID;

CREATE TABLE external_ids (
  partner_id TEXT NOT NULL,
  mode TEXT NOT NULL,
  external_id TEXT NOT NULL,
  store_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  PRIMARY KEY (partner_id, mode, external_id)
) WITHOUT ROWID;

-- The digest is of partner, operation and key. With a job_id the answer is not
-- decided yet.
CREATE TABLE replies (
  partner_id TEXT NOT NULL,
  digest BLOB NOT NULL,
  fingerprint BLOB NOT NULL,
  status INTEGER NOT NULL,
  body BLOB NOT NULL,
  job_slot INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  created_on INTEGER NOT NULL
);
CREATE UNIQUE INDEX replies_digest ON replies (digest);

CREATE INDEX replies_created_on ON replies (created_on);

CREATE TABLE webhook_events (
  partner_id TEXT NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  mode TEXT NOT NULL,
  store_id TEXT NOT NULL,
  order_id TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  data TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  PRIMARY KEY (partner_id, id)
);

CREATE TABLE webhook_attempts (
  partner_id TEXT NOT NULL,
  event_id TEXT NOT NULL,
  id TEXT NOT NULL,
  url TEXT NOT NULL,
  at INTEGER NOT NULL,
  took_ms INTEGER NOT NULL,
  status INTEGER NOT NULL,
  error TEXT NOT NULL,
  answer TEXT NOT NULL,
  PRIMARY KEY (partner_id, event_id, id)
) WITHOUT ROWID;

CREATE TABLE endpoints (
  partner_id TEXT PRIMARY KEY,
  failures INTEGER NOT NULL,
  failing_since INTEGER NOT NULL,
  held_until INTEGER NOT NULL,
  paused_on INTEGER NOT NULL,
  paused_for TEXT NOT NULL,
  previous_secret TEXT NOT NULL,
  previous_until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE INDEX endpoints_held ON endpoints (held_until) WHERE held_until <> 0 AND paused_on = 0;

CREATE TABLE jobs (
  slot INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  owner TEXT NOT NULL,
  subject TEXT NOT NULL,
  run_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  tries INTEGER NOT NULL,
  probes INTEGER NOT NULL,
  error TEXT NOT NULL,
  leased_by TEXT NOT NULL,
  leased_until INTEGER NOT NULL,
  PRIMARY KEY (slot, id)
) WITHOUT ROWID;

-- What waits is found by its time; what is parked or dead is no longer in the way.
CREATE INDEX jobs_waiting ON jobs (slot, run_at, id) WHERE state = 'waiting';

CREATE INDEX jobs_parked ON jobs (owner, run_at, slot, id) WHERE state = 'parked';

CREATE INDEX jobs_dead ON jobs (run_at, slot, id) WHERE state = 'dead';

CREATE TABLE outbox (
  id TEXT PRIMARY KEY,
  kind TEXT NOT NULL,
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  html TEXT NOT NULL,
  reason TEXT NOT NULL,
  order_id TEXT NOT NULL,
  created_on INTEGER NOT NULL
) WITHOUT ROWID;
