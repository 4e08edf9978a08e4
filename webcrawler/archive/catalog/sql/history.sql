-- Adds one batch to the history, with the catalog's verdict. Run after apply.sql, in the same transaction.
-- Returns  JSON arrays of positions: duplicates (of what was there before, also where they have become the original),
--          near-duplicates, checks that found nothing new, and checks that found nothing or failed while the document stays.
-- A check that told nothing new keeps the verdict on its document.
-- Cost     the newest seq by its index, which leaves out NULL: asked otherwise, all of the history would be read.

INSERT OR IGNORE INTO fetches (number, fetched, status, state, reason, retry, tries, found, seconds, digest, error,
                               file, "offset", token, seq, changed, since, audit, conditional)
SELECT b.number, b.fetched, b.status, b.state,
       CASE WHEN NOT (b.fresh OR b.same) OR b.reason NOT IN ('document', 'duplicate') THEN b.reason
            WHEN EXISTS (SELECT 1 FROM documents o WHERE o.digest = d.digest AND o.since < d.since) THEN 'duplicate'
            ELSE 'document' END,
       b.retry, b.tries, CASE WHEN b.same THEN 1 ELSE b.found END, b.seconds, b.digest, b.error, b.file, b."offset",
       b.token, (SELECT coalesce(max(seq), 0) FROM fetches WHERE seq IS NOT NULL) + 1 + b.position, b.changed, b.checked,
       b.audit AND b.checked IS NOT NULL, b.conditional
FROM batch b LEFT JOIN documents d ON d.number = b.number;

SELECT json_group_array(b.position) FILTER (WHERE b.found AND EXISTS (
           SELECT 1 FROM documents o WHERE o.digest = d.digest AND o.since < d.since)),
       json_group_array(b.position) FILTER (WHERE b.found AND d.near_duplicate_of IS NOT NULL),
       json_group_array(b.position) FILTER (WHERE b.same),
       json_group_array(b.position) FILTER (WHERE b.held)
FROM batch b LEFT JOIN documents d ON d.number = b.number;
