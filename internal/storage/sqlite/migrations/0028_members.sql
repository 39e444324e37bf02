-- The people of partners, which sign in to the portal. No two have the same e-mail address.
CREATE TABLE members (
  id TEXT NOT NULL,
  partner_id TEXT NOT NULL,
  email TEXT NOT NULL,
  role TEXT NOT NULL,
  created_on INTEGER NOT NULL,
  updated_on INTEGER NOT NULL,
  PRIMARY KEY (id)
) WITHOUT ROWID;

CREATE UNIQUE INDEX members_email ON members (email);

CREATE INDEX members_partner ON members (partner_id);
