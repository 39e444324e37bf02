\set s random(1, :stores)
\set a 1000 * :s + random(1, :goods)
SELECT p.sku, p.description, p.featured_image, p.images, s.name, s.price_cents, s.category_id, s.active, s.quantity, s.updated_on FROM products p JOIN stock s USING (store_id, product_id) WHERE p.store_id = :s AND p.product_id = :a;
