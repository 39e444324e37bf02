-- The faults that partners have asked for in test mode.
CREATE TABLE faults (
  partner_id TEXT COLLATE "C" PRIMARY KEY,
  list TEXT COLLATE "C" NOT NULL,
  updated_on BIGINT NOT NULL
);
