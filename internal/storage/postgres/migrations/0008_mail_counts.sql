-- How many mails customers got: about one order to one recipient (owner is the
-- store), and for one partner on a day (owner is the partner).
CREATE TABLE mail_counts (
  owner TEXT COLLATE "C" NOT NULL,
  name TEXT COLLATE "C" NOT NULL,
  day BIGINT NOT NULL,
  count BIGINT NOT NULL,
  job_id TEXT COLLATE "C" NOT NULL,
  PRIMARY KEY (owner, name)
);
