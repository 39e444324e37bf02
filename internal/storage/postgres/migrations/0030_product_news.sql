-- Events of products are made by a follower of their feed, which stores how far it has come and
-- what it has told lately. facts_on is when a product was changed otherwise than by its stock.
ALTER TABLE products ADD COLUMN facts_on BIGINT NOT NULL DEFAULT 0;

CREATE TABLE feed_places (
	name TEXT COLLATE "C" PRIMARY KEY,
	at BIGINT NOT NULL,
	id TEXT COLLATE "C" NOT NULL,
	worker TEXT COLLATE "C" NOT NULL,
	leased_until BIGINT NOT NULL
);

CREATE TABLE product_news (
	store_id TEXT COLLATE "C" NOT NULL,
	product_id TEXT COLLATE "C" NOT NULL,
	quantity BIGINT NOT NULL,
	facts_on BIGINT NOT NULL,
	stock_told_on BIGINT NOT NULL,
	facts_told_on BIGINT NOT NULL,
	next_on BIGINT NOT NULL,
	PRIMARY KEY (store_id, product_id)
);

CREATE INDEX product_news_next ON product_news (next_on, store_id, product_id);
