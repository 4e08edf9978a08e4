-- The servers with duplicates whose home pages a batch links to: number of the home page, server's number and name, and
-- how many domains linked to it before. Run after apply.sql.

SELECT u.number, s.number, s.name, s.voters
FROM (SELECT DISTINCT l.target
      FROM (SELECT 1 FROM duplicates LIMIT 1) CROSS JOIN batch b CROSS JOIN links l ON l.source = b.number
      WHERE b.fresh AND l.rel IN ('', 'form-and-link')) t
CROSS JOIN urls u ON u.number = t.target CROSS JOIN servers s ON s.number = u.server
WHERE u.path = '/' AND EXISTS (SELECT 1 FROM duplicates WHERE server = s.number);

-- The duplicates for which there is new evidence: they or links to them are new, their originals have lost links, or
-- their servers are in :servers (JSON: an array of numbers). Finds of searches never take the part of a document.
-- :before  as in apply.sql
-- Returns  at most :most page numbers.

SELECT d.number FROM (
    SELECT number FROM changes WHERE seq > :before
    UNION
    SELECT l.target FROM batch b CROSS JOIN links l ON l.source = b.number WHERE b.fresh AND l.rel IN ('', 'form-and-link')
    UNION
    SELECT n.number
    FROM unlinked t CROSS JOIN documents o ON o.number = t.target CROSS JOIN documents n ON n.digest = o.digest
    WHERE t.seq > :before AND o.duplicate_of IS NULL
    UNION
    SELECT number FROM duplicates WHERE server IN (SELECT value FROM json_each(:servers))
) r CROSS JOIN documents d INDEXED BY documents_with_original ON d.number = r.number
WHERE d.duplicate_of IS NOT NULL AND d.number NOT IN (SELECT number FROM finds)
ORDER BY d.number LIMIT :most;
