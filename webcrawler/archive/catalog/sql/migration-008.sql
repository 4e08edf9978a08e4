-- 1: the check of a document that was drawn at random from all, whatever was known of it. Such checks say how much of the
-- collection is current without any estimate.
ALTER TABLE fetches ADD COLUMN audit INTEGER NOT NULL DEFAULT 0;
CREATE INDEX fetches_by_audit ON fetches (fetched) WHERE audit;
