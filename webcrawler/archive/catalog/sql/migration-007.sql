-- What the owner has removed.

-- 1: as of a blocked server, only the history is kept. From scope.json beside the catalog; its digest is in `meta`.
ALTER TABLE urls ADD COLUMN removed INTEGER NOT NULL DEFAULT 0;
