-- Fences entries of `batch`, and tells checks: fetches of what is a document already. Run after `batch` is filled, before fresh.sql.
-- :missing_s    a document is removed when nothing is found so many seconds after that happened first; by 410, 301 and
--               308 at once
-- :moved_s      the same for redirects that may pass (302, 303, 307)
-- :lost_s       a document is removed when it could not be fetched for so long
-- :incident_s   for so long no document of a server is removed once clearly more than :incident_share of at least
--               :incident_checks checks of this hour and the last found nothing: by two standard deviations, since the few
--               pages that are really gone may be the first to be checked

-- A later lease fences off an earlier one, whatever either has found and whatever the workers' clocks say.
UPDATE batch SET fenced = 1, fresh = 0
WHERE EXISTS (SELECT 1 FROM fetches f
              WHERE f.number = batch.number
                AND (f.token > batch.token
                     OR f.fetched = batch.fetched
                     OR coalesce(f.token, batch.token) = batch.token
                        AND f.fetched >= batch.fetched AND f.found IS NOT NULL))
   OR reason IN ('removed', 'scope') -- says nothing of what is there
   OR EXISTS (SELECT 1 FROM urls u JOIN servers s ON s.number = u.server
              WHERE u.number = batch.number AND (s.blocked OR u.removed));

UPDATE batch SET checked = (SELECT coalesce(d.checked, d.fetched) FROM documents d WHERE d.number = batch.number)
WHERE NOT fenced;

-- A login or a ban: it does not say that the document is gone.
UPDATE batch SET found = NULL WHERE checked IS NOT NULL AND status IN (401, 403);

-- Nothing new: 304, the same bytes, or the same text where no other document has these bytes.
UPDATE batch SET same = 1
WHERE checked IS NOT NULL AND (reason = 'not-modified' OR found AND EXISTS (
    SELECT 1 FROM documents d
    WHERE d.number = batch.number AND d.noindex = batch.noindex
      AND CASE WHEN d.digest IS batch.digest THEN d.text_digest IS batch.text_digest OR d.text_digest IS NULL AND d.digest IS NOT NULL
          ELSE d.text_digest = batch.text_digest AND d.duplicate_of IS NULL
               AND NOT EXISTS (SELECT 1 FROM documents o WHERE o.digest IN (d.digest, batch.digest)
                                                           AND o.number <> d.number) END));

UPDATE batch SET changed = CASE WHEN same THEN 0 WHEN NOT found THEN 1 ELSE NOT EXISTS (
    SELECT 1 FROM documents d WHERE d.number = batch.number
       AND (d.digest = batch.digest OR d.text_digest = batch.text_digest)) END
WHERE checked IS NOT NULL AND (same OR found IS NOT NULL);

UPDATE documents SET (missing_since, failing_since) = (
    SELECT CASE WHEN b.same OR b.found THEN NULL WHEN b.found IS NULL THEN missing_since
           ELSE min(coalesce(missing_since, b.fetched), b.fetched) END,
           CASE WHEN b.found IS NULL AND NOT b.same THEN min(coalesce(failing_since, b.fetched), b.fetched) END
    FROM batch b WHERE b.number = documents.number)
WHERE number IN (SELECT number FROM batch WHERE checked IS NOT NULL AND NOT retry);

-- What a check must not remove at its first sight, nor while the whole server seems to be gone.
INSERT INTO checks (server, hour, checks, missing)
SELECT u.server, CAST(b.fetched / 3600 AS INTEGER), count(*), total(b.found = 0)
FROM batch b JOIN urls u ON u.number = b.number JOIN documents d ON d.number = b.number
WHERE b.checked IS NOT NULL AND NOT b.retry AND coalesce(d.missing_since, b.fetched) = b.fetched -- each page once
GROUP BY 1, 2
ON CONFLICT DO UPDATE SET checks = checks + excluded.checks, missing = missing + excluded.missing;

DELETE FROM checks WHERE (SELECT hour < max(fetched) / 3600 - 2 OR hour > max(fetched) / 3600 FROM batch);

UPDATE servers SET incident_since = CASE
    WHEN (SELECT excess > 0 AND excess * excess > 4 * checked * :incident_share * (1 - :incident_share)
          FROM (SELECT total(checks) AS checked, total(missing) - :incident_share * total(checks) AS excess
                FROM checks WHERE server = servers.number))
    THEN (SELECT CASE WHEN incident_since BETWEEN max(fetched) - 2 * :incident_s AND max(fetched) THEN incident_since ELSE max(fetched) END
          FROM batch) END
WHERE number IN (SELECT u.server FROM batch b JOIN urls u ON u.number = b.number WHERE b.checked IS NOT NULL)
  AND (SELECT total(checks) >= :incident_checks FROM checks WHERE server = servers.number);

UPDATE batch SET held = 1
WHERE checked IS NOT NULL AND NOT same AND found IS NOT 1 AND EXISTS (
    SELECT 1 FROM documents d JOIN urls u ON u.number = d.number JOIN servers s ON s.number = u.server
    WHERE d.number = batch.number
      AND CASE WHEN batch.found IS NULL
               THEN batch.reason <> 'robots-disallowed'
                    AND (batch.retry OR batch.fetched - d.failing_since < :lost_s)
               WHEN batch.fetched - s.incident_since < :incident_s THEN 1
               WHEN batch.status IN (301, 308, 410) AND batch.reason <> 'redirect-loop' THEN 0
               ELSE batch.fetched = d.missing_since
                    OR batch.fetched - d.missing_since
                       < CASE batch.reason WHEN 'redirect' THEN :moved_s ELSE :missing_s END END);

UPDATE batch SET found = CASE WHEN same OR held THEN nullif(found, 0) ELSE coalesce(found, 0) END,
                 fresh = NOT same AND NOT held
WHERE checked IS NOT NULL;

UPDATE batch SET changed = NULL WHERE held;

-- A check that found nothing new leaves all but this as it was.
UPDATE documents SET (checked, text_digest, fetched, status, content_type, digest, etag, last_modified, file, "offset") = (
    SELECT b.fetched, coalesce(b.text_digest, documents.text_digest),
           CASE WHEN is_new THEN b.fetched ELSE documents.fetched END, coalesce(b.status_200, documents.status),
           coalesce(b.type_200, documents.content_type), coalesce(b.digest, documents.digest),
           coalesce(b.etag, documents.etag), coalesce(b.last_modified, documents.last_modified),
           CASE WHEN is_new THEN b.file ELSE documents.file END,
           CASE WHEN is_new THEN b."offset" ELSE documents."offset" END
    FROM (SELECT *, found AND file IS NOT NULL AND digest IS NOT documents.digest AS is_new,
                 CASE WHEN found THEN status END AS status_200, CASE WHEN found THEN content_type END AS type_200
          FROM batch WHERE number = documents.number) b)
WHERE number IN (SELECT number FROM batch WHERE same);

-- How URLs were fetched; it stays the spelling that brought a document, when a fetch by another one finds nothing.
UPDATE urls SET spelling = (SELECT b.spelling FROM batch b WHERE b.number = urls.number)
WHERE number IN (
    SELECT b.number FROM batch b JOIN urls u ON u.number = b.number
    WHERE NOT b.fenced AND (b.checked IS NULL OR b.found OR b.same) AND u.spelling IS NOT b.spelling);
