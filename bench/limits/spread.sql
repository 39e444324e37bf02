\set s random(1, :stores)
\set x random(1, :goods)
\set y random(1, :goods - 1)
\set y :y + CASE WHEN :y >= :x THEN 1 ELSE 0 END
