-- How many mails customers got: about one order to one recipient (owner is the
-- store), and for one partner on a day (owner is the partner).
CREATE TABLE mail_counts (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  day INTEGER NOT NULL,
  count INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  PRIMARY KEY (owner, name)
) WITHOUT ROWID;
