-- People are told by e-mail of endpoints that fail and of keys that end, once of each state.
-- Of endpoints that are paused when this begins, nothing is told.
ALTER TABLE partners ADD COLUMN alarm_addresses TEXT NOT NULL DEFAULT '[]';

ALTER TABLE endpoints ADD COLUMN held_since INTEGER NOT NULL DEFAULT 0;

ALTER TABLE endpoints ADD COLUMN alarmed TEXT NOT NULL DEFAULT '';

ALTER TABLE partner_keys ADD COLUMN alarmed TEXT NOT NULL DEFAULT '';

UPDATE endpoints SET held_since = failing_since WHERE held_until <> 0;

UPDATE endpoints SET alarmed = 'paused' WHERE paused_on <> 0;
