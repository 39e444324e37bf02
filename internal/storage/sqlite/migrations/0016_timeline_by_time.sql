-- The index of timelines grows at its end, because the last 26 characters of an order's id
-- begin with its time. Before, each store had an end of its own, and a batch wrote a page for
-- nearly each of its orders.
DROP INDEX timeline_order_id;
CREATE UNIQUE INDEX timeline_order ON timeline (substr(order_id, -26), store_id, seq);
