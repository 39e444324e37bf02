-- The people of partners, which sign in to the portal. No two have the same e-mail address.
CREATE TABLE members (
  id TEXT COLLATE "C" NOT NULL,
  partner_id TEXT COLLATE "C" NOT NULL,
  email TEXT COLLATE "C" NOT NULL,
  role TEXT COLLATE "C" NOT NULL,
  created_on BIGINT NOT NULL,
  updated_on BIGINT NOT NULL,
  PRIMARY KEY (id)
);

CREATE UNIQUE INDEX members_email ON members (email);

CREATE INDEX members_partner ON members (partner_id);
