-- Each statement is sent alone. Rows of a store carry store_id in every key;
-- what is unique for a partner is keyed by partner. The two groups never refer
-- to each other, and large tables refer to none: a check of each row would cost
-- more than it tells, as batches write both rows or neither.

CREATE TABLE meta (
  name TEXT COLLATE "C" PRIMARY KEY,
  value BIGINT NOT NULL
);

INSERT INTO meta (name, value) VALUES ('next_store_no', 1);

-- One row for each process: below floor it will write nothing any more while
-- its batch is open; last is its newest stamp that is saved.
CREATE TABLE writers (
  id TEXT COLLATE "C" PRIMARY KEY,
  floor BIGINT,
  last BIGINT NOT NULL,
  until TIMESTAMPTZ NOT NULL
);

CREATE TABLE partners (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  scopes TEXT COLLATE "C" NOT NULL,
  store_ids TEXT COLLATE "C" NOT NULL,
  rate_limit BIGINT NOT NULL,
  callback_url TEXT COLLATE "C" NOT NULL,
  callback_secret TEXT COLLATE "C" NOT NULL,
  suspended BOOLEAN NOT NULL,
  created_on BIGINT NOT NULL,
  updated_on BIGINT NOT NULL
);

CREATE TABLE api_keys (
  partner_id TEXT COLLATE "C" NOT NULL REFERENCES partners (id),
  mode TEXT COLLATE "C" NOT NULL,
  hash BYTEA NOT NULL,
  created_on BIGINT NOT NULL,
  PRIMARY KEY (partner_id, mode)
);

CREATE UNIQUE INDEX api_keys_hash ON api_keys (hash);

CREATE TABLE categories (
  id TEXT COLLATE "C" PRIMARY KEY,
  name TEXT COLLATE "C" NOT NULL,
  active BOOLEAN NOT NULL
);

CREATE TABLE stores (
  id TEXT COLLATE "C" PRIMARY KEY,
  no BIGINT NOT NULL UNIQUE,
  name TEXT COLLATE "C" NOT NULL,
  slug TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  city TEXT COLLATE "C" NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  zip_code TEXT COLLATE "C" NOT NULL,
  active BOOLEAN NOT NULL,
  open BOOLEAN NOT NULL,
  pickup_enabled BOOLEAN NOT NULL,
  delivery_enabled BOOLEAN NOT NULL,
  lat DOUBLE PRECISION,
  lng DOUBLE PRECISION,
  radius_miles DOUBLE PRECISION,
  email TEXT COLLATE "C" NOT NULL,
  phone TEXT COLLATE "C" NOT NULL,
  tax_rate_bps BIGINT NOT NULL,
  charges_quote BOOLEAN NOT NULL,
  updated_on BIGINT NOT NULL,
  band BIGINT NOT NULL
);

CREATE INDEX stores_active ON stores (active, id);
CREATE INDEX stores_place ON stores (active, band, lng) INCLUDE (id, lat, pickup_enabled, delivery_enabled, radius_miles, updated_on);

CREATE TABLE product_stores (
  product_id TEXT COLLATE "C" PRIMARY KEY,
  store_id TEXT COLLATE "C" NOT NULL
);

CREATE TABLE products (
  store_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  sku TEXT COLLATE "C" NOT NULL,
  hot BOOLEAN NOT NULL,
  created_on BIGINT NOT NULL,
  description TEXT COLLATE "C" NOT NULL,
  featured_image TEXT COLLATE "C" NOT NULL,
  images TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (store_id, id)
);

-- What a sale looks at and changes, in a narrow row of its own, with what lists
-- filter by.
CREATE TABLE stock (
  store_id TEXT COLLATE "C" NOT NULL,
  product_id TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  price_cents BIGINT NOT NULL CHECK (price_cents >= 0),
  category_id TEXT COLLATE "C" NOT NULL,
  active BOOLEAN NOT NULL,
  quantity BIGINT NOT NULL CHECK (quantity >= 0),
  sold_count BIGINT NOT NULL CHECK (sold_count >= 0),
  sold_cents BIGINT NOT NULL CHECK (sold_cents >= 0),
  updated_on BIGINT NOT NULL,
  PRIMARY KEY (store_id, product_id)
) WITH (fillfactor = 80);

CREATE INDEX stock_feed ON stock (updated_on, product_id);

CREATE INDEX stock_feed_by_store ON stock (store_id, updated_on, product_id);

CREATE INDEX stock_feed_by_category ON stock (category_id, updated_on, product_id);

CREATE TABLE orders (
  store_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  partner_id TEXT COLLATE "C" NOT NULL,
  mode TEXT COLLATE "C" NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  external_id TEXT COLLATE "C" NOT NULL,
  fulfillment TEXT COLLATE "C" NOT NULL,
  lines TEXT COLLATE "C" NOT NULL,
  address TEXT COLLATE "C",
  subtotal_cents BIGINT NOT NULL,
  tax_cents BIGINT NOT NULL,
  delivery_fee_cents BIGINT NOT NULL,
  total_cents BIGINT NOT NULL,
  pickup_instructions TEXT COLLATE "C" NOT NULL,
  dropoff_instructions TEXT COLLATE "C" NOT NULL,
  external_payment_id TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  customer_id TEXT COLLATE "C" NOT NULL,
  customer_email TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL,
  refunded_cents BIGINT NOT NULL CHECK (refunded_cents >= 0),
  courier_quote_id TEXT COLLATE "C" NOT NULL,
  courier_delivery_id TEXT COLLATE "C" NOT NULL,
  courier_tracking_url TEXT COLLATE "C" NOT NULL,
  inventory_deducted BOOLEAN NOT NULL,
  confirmed BOOLEAN NOT NULL,
  ready_for_pickup_at BIGINT NOT NULL,
  picked_up_at BIGINT NOT NULL,
  attention TEXT COLLATE "C" NOT NULL,
  updated_on BIGINT NOT NULL,
  events BIGINT NOT NULL,
  notified_on BIGINT NOT NULL,
  PRIMARY KEY (store_id, id)
);

CREATE TABLE timeline (
  store_id TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL,
  courier_status TEXT COLLATE "C" NOT NULL,
  message TEXT COLLATE "C" NOT NULL,
  data TEXT COLLATE "C",
  created_on BIGINT NOT NULL,
  PRIMARY KEY (store_id, order_id, seq)
);

-- The card payment of an order, and the balance of its ledger.
CREATE TABLE payments (
  store_id TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  processor TEXT COLLATE "C" NOT NULL,
  success_url TEXT COLLATE "C" NOT NULL,
  cancel_url TEXT COLLATE "C" NOT NULL,
  store_name TEXT COLLATE "C" NOT NULL,
  titles TEXT COLLATE "C" NOT NULL,
  answers_partner TEXT COLLATE "C" NOT NULL,
  answers_op TEXT COLLATE "C" NOT NULL,
  answers_key TEXT COLLATE "C" NOT NULL,
  trace_id TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  session_id TEXT COLLATE "C" NOT NULL,
  checkout_url TEXT COLLATE "C" NOT NULL,
  payment_id TEXT COLLATE "C" NOT NULL,
  error TEXT COLLATE "C" NOT NULL,
  notice_id TEXT COLLATE "C" NOT NULL,
  captured_cents BIGINT NOT NULL,
  refunded_cents BIGINT NOT NULL CHECK (refunded_cents BETWEEN 0 AND captured_cents),
  pending_cents BIGINT NOT NULL CHECK (pending_cents >= 0),
  entries BIGINT NOT NULL,
  updated_on BIGINT NOT NULL,
  PRIMARY KEY (store_id, order_id)
);

CREATE TABLE ledger (
  store_id TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  seq BIGINT NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  amount_cents BIGINT NOT NULL CHECK (amount_cents > 0),
  refund_id TEXT COLLATE "C" NOT NULL,
  ref TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  PRIMARY KEY (store_id, order_id, seq)
);

CREATE TABLE refunds (
  store_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  amount_cents BIGINT NOT NULL CHECK (amount_cents > 0),
  reason TEXT COLLATE "C" NOT NULL,
  origin TEXT COLLATE "C" NOT NULL,
  answers_partner TEXT COLLATE "C" NOT NULL,
  answers_op TEXT COLLATE "C" NOT NULL,
  answers_key TEXT COLLATE "C" NOT NULL,
  trace_id TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  ref TEXT COLLATE "C" NOT NULL,
  error TEXT COLLATE "C" NOT NULL,
  updated_on BIGINT NOT NULL,
  PRIMARY KEY (store_id, id)
);

CREATE INDEX refunds_order ON refunds (store_id, order_id, id);

-- How the goods of an order get to the customer: the present attempt.
CREATE TABLE deliveries (
  store_id TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  answers_partner TEXT COLLATE "C" NOT NULL,
  answers_op TEXT COLLATE "C" NOT NULL,
  answers_key TEXT COLLATE "C" NOT NULL,
  trace_id TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  attempt BIGINT NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  provider TEXT COLLATE "C" NOT NULL,
  asked_on BIGINT NOT NULL,
  provider_id TEXT COLLATE "C" NOT NULL,
  quote_id TEXT COLLATE "C" NOT NULL,
  fee_cents BIGINT NOT NULL,
  avoid TEXT COLLATE "C" NOT NULL,
  tracking_url TEXT COLLATE "C" NOT NULL,
  status TEXT COLLATE "C" NOT NULL,
  pickup_eta BIGINT NOT NULL,
  dropoff_eta BIGINT NOT NULL,
  courier_name TEXT COLLATE "C" NOT NULL,
  courier_phone TEXT COLLATE "C" NOT NULL,
  courier_vehicle TEXT COLLATE "C" NOT NULL,
  courier_image_url TEXT COLLATE "C" NOT NULL,
  lat DOUBLE PRECISION,
  lng DOUBLE PRECISION,
  imminent BOOLEAN NOT NULL,
  seen_on BIGINT NOT NULL,
  heard_on BIGINT NOT NULL,
  told_on BIGINT NOT NULL,
  untold BOOLEAN NOT NULL,
  cancel_partner TEXT COLLATE "C" NOT NULL,
  cancel_op TEXT COLLATE "C" NOT NULL,
  cancel_key TEXT COLLATE "C" NOT NULL,
  error TEXT COLLATE "C" NOT NULL,
  updated_on BIGINT NOT NULL,
  changes BIGINT NOT NULL,
  PRIMARY KEY (store_id, order_id)
);

-- What couriers told of deliveries that are none of ours.
CREATE TABLE courier_notices (
  id TEXT COLLATE "C" NOT NULL,
  delivery_id TEXT COLLATE "C" NOT NULL,
  provider TEXT COLLATE "C" NOT NULL,
  body TEXT COLLATE "C" NOT NULL,
  received_on BIGINT NOT NULL,
  PRIMARY KEY (id)
);

CREATE INDEX courier_notices_delivery ON courier_notices (delivery_id, id);

-- Where addresses are; address is a digest.
CREATE TABLE places (
  address TEXT COLLATE "C" NOT NULL,
  lat DOUBLE PRECISION NOT NULL,
  lng DOUBLE PRECISION NOT NULL,
  precision TEXT COLLATE "C" NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  found_on BIGINT NOT NULL,
  PRIMARY KEY (address)
);

CREATE TABLE sandbox_objects (
  id TEXT COLLATE "C" PRIMARY KEY,
  version BIGINT NOT NULL,
  data TEXT COLLATE "C" NOT NULL,
  updated_on BIGINT NOT NULL
);

CREATE TABLE customers (
  store_id TEXT COLLATE "C" NOT NULL,
  contact TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  PRIMARY KEY (store_id, contact)
);

CREATE TABLE external_ids (
  partner_id TEXT COLLATE "C" NOT NULL,
  mode TEXT COLLATE "C" NOT NULL,
  external_id TEXT COLLATE "C" NOT NULL,
  store_id TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (partner_id, mode, external_id)
);

-- The digest is of partner, operation and key. With a job_id the answer is not
-- decided yet.
CREATE TABLE replies (
  partner_id TEXT COLLATE "C" NOT NULL,
  digest BYTEA NOT NULL,
  fingerprint BYTEA NOT NULL,
  status BIGINT NOT NULL,
  body BYTEA NOT NULL,
  job_slot BIGINT NOT NULL,
  job_id TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  PRIMARY KEY (partner_id, digest)
);

CREATE INDEX replies_created_on ON replies (created_on);

-- How many requests of a minute the processes have leased, and what the last
-- lease was given.
CREATE TABLE rate_windows (
  partner_id TEXT COLLATE "C" NOT NULL,
  mode TEXT COLLATE "C" NOT NULL,
  minute BIGINT NOT NULL,
  used BIGINT NOT NULL,
  granted BIGINT NOT NULL,
  PRIMARY KEY (partner_id, mode, minute)
);

CREATE TABLE webhook_events (
  partner_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  mode TEXT COLLATE "C" NOT NULL,
  store_id TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  trace_id TEXT COLLATE "C" NOT NULL,
  data TEXT COLLATE "C" NOT NULL,
  timestamp BIGINT NOT NULL,
  PRIMARY KEY (partner_id, id)
);

CREATE TABLE webhook_attempts (
  partner_id TEXT COLLATE "C" NOT NULL,
  event_id TEXT COLLATE "C" NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  url TEXT COLLATE "C" NOT NULL,
  at BIGINT NOT NULL,
  took_ms BIGINT NOT NULL,
  status BIGINT NOT NULL,
  error TEXT COLLATE "C" NOT NULL,
  answer TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (partner_id, event_id, id)
);

CREATE TABLE endpoints (
  partner_id TEXT COLLATE "C" PRIMARY KEY,
  failures BIGINT NOT NULL,
  failing_since BIGINT NOT NULL,
  held_until BIGINT NOT NULL,
  paused_on BIGINT NOT NULL,
  paused_for TEXT COLLATE "C" NOT NULL,
  previous_secret TEXT COLLATE "C" NOT NULL,
  previous_until BIGINT NOT NULL
);

CREATE INDEX endpoints_held ON endpoints (held_until) WHERE held_until <> 0 AND paused_on = 0;

CREATE TABLE jobs (
  slot BIGINT NOT NULL,
  id TEXT COLLATE "C" NOT NULL,
  kind TEXT COLLATE "C" NOT NULL,
  owner TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  run_at BIGINT NOT NULL,
  state TEXT COLLATE "C" NOT NULL,
  tries BIGINT NOT NULL,
  probes BIGINT NOT NULL,
  error TEXT COLLATE "C" NOT NULL,
  leased_by TEXT COLLATE "C" NOT NULL,
  leased_until BIGINT NOT NULL,
  PRIMARY KEY (slot, id)
);

-- What waits is found by its time; what is parked or dead is no longer in the way.
CREATE INDEX jobs_waiting ON jobs (slot, run_at, id) WHERE state = 'waiting';

CREATE INDEX jobs_parked ON jobs (owner, run_at, slot, id) WHERE state = 'parked';

CREATE INDEX jobs_dead ON jobs (run_at, slot, id) WHERE state = 'dead';

CREATE TABLE outbox (
  id TEXT COLLATE "C" PRIMARY KEY,
  kind TEXT COLLATE "C" NOT NULL,
  recipient TEXT COLLATE "C" NOT NULL,
  subject TEXT COLLATE "C" NOT NULL,
  body TEXT COLLATE "C" NOT NULL,
  html TEXT COLLATE "C" NOT NULL,
  reason TEXT COLLATE "C" NOT NULL,
  order_id TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL
);
