\set s 1
\set x 1
\set y 2
