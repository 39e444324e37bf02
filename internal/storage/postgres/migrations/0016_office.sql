-- The status that an order has beneath refund_requested, to which a declined request
-- takes it back.
ALTER TABLE orders ADD COLUMN requested_from TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Staff asked for another courier than the one that has the order.
ALTER TABLE deliveries ADD COLUMN replacing BOOLEAN NOT NULL DEFAULT FALSE;

-- The time zone of a store is an IANA name. late_minutes is how long an order may wait
-- until the board marks it.
ALTER TABLE stores ADD COLUMN time_zone TEXT COLLATE "C" NOT NULL DEFAULT 'UTC';

ALTER TABLE stores ADD COLUMN late_minutes BIGINT NOT NULL DEFAULT 15;

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
  id TEXT COLLATE "C" NOT NULL,
  email TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  password TEXT COLLATE "C" NOT NULL,
  totp_secret TEXT COLLATE "C" NOT NULL,
  totp_step BIGINT NOT NULL,
  recovery_codes TEXT COLLATE "C" NOT NULL,
  grants TEXT COLLATE "C" NOT NULL,
  suspended BOOLEAN NOT NULL,
  preferences TEXT COLLATE "C" NOT NULL,
  rights_on BIGINT NOT NULL,
  created_on BIGINT NOT NULL,
  updated_on BIGINT NOT NULL,
  PRIMARY KEY (id)
);

-- One row for each browser in which a user is signed in. id is the digest of the token.
CREATE TABLE sessions (
  id TEXT COLLATE "C" NOT NULL,
  user_id TEXT COLLATE "C" NOT NULL,
  data BYTEA NOT NULL,
  address TEXT COLLATE "C" NOT NULL,
  agent TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  seen_on BIGINT NOT NULL,
  expires_on BIGINT NOT NULL,
  PRIMARY KEY (id)
);

-- The newest one-time link of each user; without a user, that of the first owner.
CREATE TABLE sign_in_links (
  user_id TEXT COLLATE "C" NOT NULL,
  hash BYTEA NOT NULL,
  expires_on BIGINT NOT NULL,
  PRIMARY KEY (user_id)
);

-- Failed sign-ins of accounts, addresses and browsers.
CREATE TABLE sign_in_counts (
  id TEXT COLLATE "C" NOT NULL,
  since BIGINT NOT NULL,
  failures BIGINT NOT NULL,
  PRIMARY KEY (id)
);

-- Filters of the list of orders that users have named.
CREATE TABLE saved_views (
  user_id TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  query TEXT COLLATE "C" NOT NULL,
  updated_on BIGINT NOT NULL,
  PRIMARY KEY (user_id, name)
);

-- All that people did, the newest first. Only what people do writes to it.
CREATE INDEX audit_newest ON audit (id);

-- What reports are made from: sums over the orders of an hour, by a job that runs when the
-- hour is over. hours has the hours of a day (Unix ms, UTC) as packed numbers.
CREATE TABLE hour_sums (
  store_id TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  mode TEXT COLLATE "C" NOT NULL,
  partner_id TEXT COLLATE "C" NOT NULL,
  source TEXT COLLATE "C" NOT NULL,
  hours BYTEA NOT NULL,
  PRIMARY KEY (store_id, day, mode, partner_id, source)
);

-- How far the job has come, as a whole and with the orders of each partner and mode.
CREATE TABLE sum_positions (
  name TEXT COLLATE "C" NOT NULL,
  at BIGINT NOT NULL,
  worker TEXT COLLATE "C" NOT NULL,
  leased_until BIGINT NOT NULL,
  PRIMARY KEY (name)
);

CREATE UNIQUE INDEX users_email ON users (email);

CREATE INDEX sessions_user ON sessions (user_id);

CREATE INDEX sessions_expired ON sessions (expires_on, id);

CREATE INDEX sign_in_counts_since ON sign_in_counts (since, id);
