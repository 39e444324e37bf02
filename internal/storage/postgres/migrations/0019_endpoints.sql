-- A partner has several endpoints. The partner says which events go to which, so that a
-- sale need not read the endpoints. partner_id of endpoints is the owner of their jobs: a
-- partner's id for its callback URL, and PARTNER/ENDPOINT for the others.
ALTER TABLE partners ADD COLUMN routes TEXT COLLATE "C" NOT NULL DEFAULT '[]';

ALTER TABLE endpoints ADD COLUMN url TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE endpoints ADD COLUMN secret TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE endpoints ADD COLUMN description TEXT COLLATE "C" NOT NULL DEFAULT '';

ALTER TABLE endpoints ADD COLUMN delivered_on BIGINT NOT NULL DEFAULT 0;

ALTER TABLE endpoints ADD COLUMN created_on BIGINT NOT NULL DEFAULT 0;

ALTER TABLE endpoints ADD COLUMN updated_on BIGINT NOT NULL DEFAULT 0;

ALTER TABLE webhook_attempts ADD COLUMN endpoint_id TEXT COLLATE "C" NOT NULL DEFAULT '';

CREATE INDEX webhook_attempts_endpoint ON webhook_attempts (partner_id, endpoint_id, id);
