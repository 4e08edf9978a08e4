-- Adds one batch to the history, with the catalog's verdict. Run after apply.sql, in the same transaction.

INSERT OR IGNORE INTO fetches (number, fetched, status, state, reason, retry, tries, found, seconds, digest, error,
                               file, "offset", token)
SELECT b.number, b.fetched, b.status, b.state,
       CASE WHEN NOT b.fresh OR b.reason NOT IN ('document', 'duplicate') THEN b.reason
            WHEN d.duplicate_of IS NULL THEN 'document' ELSE 'duplicate' END,
       b.retry, b.tries, b.found, b.seconds, b.digest, b.error, b.file, b."offset", b.token
FROM batch b LEFT JOIN documents d ON d.number = b.number;
