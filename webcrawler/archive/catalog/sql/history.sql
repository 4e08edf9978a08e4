-- Adds one batch to the history, with the catalog's verdict. Run after apply.sql, in the same transaction.
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
