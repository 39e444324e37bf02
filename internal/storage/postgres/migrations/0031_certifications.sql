-- The newest certification of each partner.
CREATE TABLE certifications (
  partner_id TEXT COLLATE "C" PRIMARY KEY,
  run_id TEXT COLLATE "C" NOT NULL,
  running BOOLEAN NOT NULL,
  run TEXT COLLATE "C" NOT NULL,
  ends_on BIGINT NOT NULL,
  version BIGINT NOT NULL,
  certified_on BIGINT NOT NULL,
  updated_on BIGINT NOT NULL
);
