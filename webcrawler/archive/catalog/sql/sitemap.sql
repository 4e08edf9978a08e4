-- Writes one sitemap and what it says of pages. Run inside the transaction, after `told` is filled.
-- :number, :of, :fetched, :digest, :etag, :last_modified  the sitemap's columns; what a 304 leaves out stays.
-- Keeps    what is told again as it was known keeps its row and its seq.

INSERT INTO sitemaps (number, of, fetched, digest, etag, last_modified)
VALUES (:number, :of, :fetched, :digest, :etag, :last_modified)
ON CONFLICT (number) DO UPDATE SET
    of = excluded.of, fetched = excluded.fetched, digest = coalesce(excluded.digest, digest),
    etag = coalesce(excluded.etag, etag), last_modified = coalesce(excluded.last_modified, last_modified);

INSERT OR IGNORE INTO sitemaps (number, of) SELECT number, of FROM told WHERE of IS NOT NULL;

INSERT OR REPLACE INTO signs (number, sitemap, modified, seen)
SELECT t.number, :number, t.modified, :fetched
FROM told t LEFT JOIN signs s ON s.number = t.number AND s.sitemap = :number
WHERE s.seq IS NULL OR (t.modified IS NOT NULL AND t.modified IS NOT s.modified)
ORDER BY t.position;

DELETE FROM told;
