-- How many bytes of replies each partner has stored, by the hour (Unix ms) in which
-- they were made. 256 bytes stand for the row of each reply.
CREATE TABLE stored_replies (
  partner_id TEXT NOT NULL,
  hour INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (partner_id, hour)
) WITHOUT ROWID;

INSERT INTO stored_replies (partner_id, hour, bytes)
SELECT partner_id, created_on - created_on % 3600000, sum(length(body) + 256) FROM replies GROUP BY partner_id, created_on - created_on % 3600000;
