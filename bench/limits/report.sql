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
