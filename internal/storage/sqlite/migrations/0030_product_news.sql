-- Events of products are made by a follower of their feed, which stores how far it has come and
-- what it has told lately. facts_on is when a product was changed otherwise than by its stock.
ALTER TABLE products ADD COLUMN facts_on INTEGER NOT NULL DEFAULT 0;

CREATE TABLE feed_places (
	name TEXT NOT NULL PRIMARY KEY,
	at INTEGER NOT NULL,
	id TEXT NOT NULL,
	worker TEXT NOT NULL,
	leased_until INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE product_news (
	store_id TEXT NOT NULL,
	product_id TEXT NOT NULL,
	quantity INTEGER NOT NULL,
	facts_on INTEGER NOT NULL,
	stock_told_on INTEGER NOT NULL,
	facts_told_on INTEGER NOT NULL,
	next_on INTEGER NOT NULL,
	PRIMARY KEY (store_id, product_id)
) WITHOUT ROWID;

CREATE INDEX product_news_next ON product_news (next_on, store_id, product_id);
