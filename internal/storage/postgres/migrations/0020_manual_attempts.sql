-- Whether an event was sent again by a person or its partner.
ALTER TABLE webhook_attempts ADD COLUMN manual BOOLEAN NOT NULL DEFAULT false;
