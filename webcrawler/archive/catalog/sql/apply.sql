-- Applies one batch to documents, texts, changes. Run inside the transaction, after `batch` is filled.
-- :before   the last changes.seq of earlier transactions and batches.
-- :sampled  pages of a server whose blocks are kept.
-- Keeps    duplicate_of is the original of the same digest, NULL for that one itself: the one that was it before, else
--          the holder with the least `since`, until choose_originals finds one that has more for it.
--          near_duplicate_of follows in near.sql, the history in history.sql.
-- Cost     a few b-tree look-ups an entry, in this order: without CROSS JOIN all documents would be read; where an original leaves its digest, all its followers are rewritten.

INSERT INTO vacated
SELECT d.digest, t.packed
FROM batch b CROSS JOIN documents d ON d.number = b.number LEFT JOIN texts t ON t.number = b.number
WHERE b.fresh AND d.duplicate_of IS NULL AND d.digest IS NOT NULL AND (NOT b.found OR b.digest IS NOT d.digest);

INSERT INTO changes (number, kind)
SELECT b.number, CASE WHEN d.number IS NULL THEN CASE WHEN b.found THEN 'insert' ELSE 'links' END
                      WHEN b.found THEN 'update' ELSE 'delete' END
FROM batch b LEFT JOIN documents d ON d.number = b.number
WHERE b.fresh AND (b.found OR d.number IS NOT NULL OR b.linked
                   OR EXISTS (SELECT 1 FROM links l WHERE l.source = b.number) -- a redirect's
                   OR EXISTS (SELECT 1 FROM inlinks WHERE inlinks MATCH b.number) -- others link to it, but there is no document
                      AND NOT EXISTS (SELECT 1 FROM fetches f WHERE f.number = b.number AND f.found = 0))
ORDER BY b.position;

DELETE FROM documents WHERE number IN (SELECT number FROM batch WHERE fresh AND NOT found);

INSERT INTO documents (number, fetched, status, content_type, digest, simhash, since, etag, last_modified, word_count,
                       seconds, noindex, file, "offset", checked, changed, text_digest, canonical)
SELECT b.number, b.fetched, b.status, b.content_type, b.digest, b.simhash, c.seq, b.etag, b.last_modified,
       b.word_count, b.seconds, b.noindex, b.file, b."offset", b.fetched,
       CASE WHEN b.changed IS 0 THEN NULL ELSE b.fetched END, b.text_digest, b.canonical
FROM changes c JOIN batch b ON b.number = c.number
WHERE c.seq > :before AND b.found
ON CONFLICT (number) DO UPDATE SET
    fetched = excluded.fetched, status = excluded.status, content_type = excluded.content_type,
    since = CASE WHEN digest IS excluded.digest THEN since ELSE excluded.since END, digest = excluded.digest,
    simhash = excluded.simhash, etag = excluded.etag, last_modified = excluded.last_modified,
    word_count = excluded.word_count, seconds = excluded.seconds, noindex = excluded.noindex,
    file = excluded.file, "offset" = excluded."offset", checked = excluded.checked,
    changed = coalesce(excluded.changed, changed), text_digest = excluded.text_digest,
    canonical = excluded.canonical;

INSERT INTO changes (number, kind)
SELECT number, 'update'
FROM documents
WHERE digest IN (SELECT digest FROM vacated)
  AND number NOT IN (SELECT number FROM changes WHERE seq > :before);

UPDATE documents
SET duplicate_of = nullif(
    (SELECT coalesce((SELECT p.number FROM documents p -- the oldest leads to the original, unless that has just left
                      WHERE p.number = o.duplicate_of AND p.digest = o.digest AND p.since <= :before), o.number)
     FROM documents o WHERE o.digest = documents.digest ORDER BY o.since LIMIT 1), number)
WHERE number IN (SELECT number FROM changes WHERE seq > :before);

INSERT OR IGNORE INTO duplicates
SELECT u.server, d.number
FROM changes c CROSS JOIN documents d ON d.number = c.number CROSS JOIN urls u ON u.number = d.number
WHERE c.seq > :before AND d.duplicate_of IS NOT NULL;

DELETE FROM texts WHERE number IN (SELECT number FROM batch WHERE fresh);

INSERT INTO texts SELECT number, packed FROM batch WHERE fresh AND found AND packed IS NOT NULL;

DELETE FROM blocks
WHERE (server, id) IN (SELECT u.server, u.id FROM batch b CROSS JOIN urls u ON u.number = b.number WHERE b.fresh);

-- The least ids stay, :sampled of a server: what is above those is not inserted, or leaves.
WITH highest (server, id) AS (
    SELECT server, (SELECT o.id FROM blocks o WHERE o.server = s.server ORDER BY o.id LIMIT 1 OFFSET :sampled - 1)
    FROM (SELECT DISTINCT u.server FROM batch b CROSS JOIN urls u ON u.number = b.number WHERE b.blocks IS NOT NULL) s)
INSERT INTO blocks
SELECT u.server, u.id, b.number, b.blocks
FROM batch b CROSS JOIN urls u ON u.number = b.number CROSS JOIN highest h ON h.server = u.server
WHERE b.fresh AND b.found AND b.packed IS NOT NULL AND b.blocks IS NOT NULL AND (h.id IS NULL OR u.id < h.id);

DELETE FROM blocks
WHERE (server, id) IN (
    SELECT o.server, o.id
    FROM (SELECT DISTINCT u.server FROM batch b CROSS JOIN urls u ON u.number = b.number WHERE b.blocks IS NOT NULL) s
    CROSS JOIN blocks o ON o.server = s.server
      AND o.id > (SELECT l.id FROM blocks l WHERE l.server = s.server ORDER BY l.id LIMIT 1 OFFSET :sampled - 1));

-- The next original says what the last one said, so it takes over the text where it came without one.
INSERT OR IGNORE INTO texts
SELECT d.number, v.packed
FROM vacated v CROSS JOIN documents d ON d.digest = v.digest AND d.duplicate_of IS NULL
WHERE v.packed IS NOT NULL AND NOT d.noindex;
