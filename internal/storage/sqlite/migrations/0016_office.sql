-- The status that an order has beneath refund_requested, to which a declined request
-- takes it back.
ALTER TABLE orders ADD COLUMN requested_from TEXT NOT NULL DEFAULT '';

-- Staff asked for another courier than the one that has the order.
ALTER TABLE deliveries ADD COLUMN replacing INTEGER NOT NULL DEFAULT 0;

-- The time zone of a store is an IANA name. late_minutes is how long an order may wait
-- until the board marks it.
ALTER TABLE stores ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC';

ALTER TABLE stores ADD COLUMN late_minutes INTEGER NOT NULL DEFAULT 15;

-- How the back office finds orders: those that staff have work with, those of a customer,
-- and the newest of a partner, by when they were made or last changed.
CREATE INDEX orders_open ON orders (status, created_on, store_id)
  WHERE status IN ('paid', 'processed', 'ready_for_pickup', 'shipped', 'out_for_delivery', 'refund_requested');

CREATE INDEX orders_customer ON orders (customer_id);

CREATE INDEX orders_partner ON orders (partner_id, mode, created_on);

CREATE INDEX orders_changed ON orders (partner_id, mode, updated_on);

-- The staff of the merchant. recovery_codes is a JSON list of digests, grants one of
-- {"role", "store"}.
CREATE TABLE users (
  id TEXT NOT NULL,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  password TEXT NOT NULL,
  totp_secret TEXT NOT NULL,
  totp_step INTEGER NOT NULL,
  recovery_codes TEXT NOT NULL,
  grants TEXT NOT NULL,
  suspended INTEGER NOT NULL,
  preferences TEXT NOT NULL,
  rights_on INTEGER NOT NULL,
  created_on INTEGER NOT NULL,
  updated_on INTEGER NOT NULL,
  PRIMARY KEY (id)
) WITHOUT ROWID;

-- One row for each browser in which a user is signed in. id is the digest of the token.
CREATE TABLE sessions (
  id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  data BLOB NOT NULL,
  address TEXT NOT NULL,
  agent TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  seen_on INTEGER NOT NULL,
  expires_on INTEGER NOT NULL,
  PRIMARY KEY (id)
) WITHOUT ROWID;

-- The newest one-time link of each user; without a user, that of the first owner.
CREATE TABLE sign_in_links (
  user_id TEXT NOT NULL,
  hash BLOB NOT NULL,
  expires_on INTEGER NOT NULL,
  PRIMARY KEY (user_id)
) WITHOUT ROWID;

-- Failed sign-ins of accounts, addresses and browsers.
CREATE TABLE sign_in_counts (
  id TEXT NOT NULL,
  since INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  PRIMARY KEY (id)
) WITHOUT ROWID;

-- Filters of the list of orders that users have named.
CREATE TABLE saved_views (
  user_id TEXT NOT NULL,
  name TEXT NOT NULL,
  query TEXT NOT NULL,
  updated_on INTEGER NOT NULL,
  PRIMARY KEY (user_id, name)
) WITHOUT ROWID;

-- All that people did, the newest first. Only what people do writes to it.
CREATE INDEX audit_newest ON audit (id);

-- What reports are made from: sums over the orders of an hour, by a job that runs when the
-- hour is over. hours has the hours of a day (Unix ms, UTC) as packed numbers.
CREATE TABLE hour_sums (
  store_id TEXT NOT NULL,
  day INTEGER NOT NULL,
  mode TEXT NOT NULL,
  partner_id TEXT NOT NULL,
  source TEXT NOT NULL,
  hours BLOB NOT NULL,
  PRIMARY KEY (store_id, day, mode, partner_id, source)
) WITHOUT ROWID;

-- How far the job has come, as a whole and with the orders of each partner and mode.
CREATE TABLE sum_positions (
  name TEXT NOT NULL,
  at INTEGER NOT NULL,
  worker TEXT NOT NULL,
  leased_until INTEGER NOT NULL,
  PRIMARY KEY (name)
) WITHOUT ROWID;

CREATE UNIQUE INDEX users_email ON users (email);

CREATE INDEX sessions_user ON sessions (user_id);

CREATE INDEX sessions_expired ON sessions (expires_on, id);

CREATE INDEX sign_in_counts_since ON sign_in_counts (since, id);
