-- 1: the check of a document that was drawn at random from all, whatever was known of it. Such checks say how much of the
-- collection is current without any estimate.
ALTER TABLE fetches ADD COLUMN audit INTEGER NOT NULL DEFAULT 0;
-- Of checks: 1 sent with validators, 0 without, though the document had some: these tell whether a 304 can be believed;
-- NULL: it had none, or nobody knows.
ALTER TABLE fetches ADD COLUMN conditional INTEGER;
CREATE INDEX fetches_by_audit ON fetches (fetched) WHERE audit;
