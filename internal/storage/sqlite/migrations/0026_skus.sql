-- Partners find products by SKU. The index tells two products of one SKU from one.
CREATE INDEX products_sku ON products (store_id, sku, id) WHERE sku <> '';
