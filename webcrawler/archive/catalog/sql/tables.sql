-- The pages that changes after :after and until :until tell of, and the newest change of each; by page number.
-- Keeps     documents come with changes of their own; what merely lost a link is not told of again.

SELECT number, max(seq) FROM (
    SELECT number, seq FROM changes WHERE seq > :after AND seq <= :until
    UNION ALL
    SELECT u.target, u.seq FROM unlinked u
    WHERE u.seq > :after AND u.seq <= :until AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.number = u.target))
GROUP BY number ORDER BY number;

-- Of the URLs after the page number :after and until :until, those that no change may tell of.

SELECT u.number FROM urls u
WHERE u.number > :after AND u.number <= :until
  AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.number = u.number)
  AND NOT EXISTS (SELECT 1 FROM links l WHERE l.source = u.number)
ORDER BY u.number;

-- What is known of the pages :numbers, a JSON array, by page number: id, server, path, state, and when it was last
-- fetched with a result.
-- Keeps     finds, which are no part of the collection, are not crawled.

SELECT u.number, u.id, s.name, u.path,
       CASE WHEN s.blocked OR u.removed THEN 'removed'
            WHEN d.number IS NOT NULL THEN
                CASE WHEN d.duplicate_of IS NOT NULL THEN 'duplicate' WHEN d.noindex THEN 'noindex' ELSE 'document' END
            WHEN f.found IS NOT 0 THEN 'uncrawled'
            WHEN EXISTS (SELECT 1 FROM links l WHERE l.source = u.number AND l.rel = 'redirect') THEN 'redirect'
            ELSE 'gone' END,
       CASE WHEN i.number IS NULL THEN f.fetched END
FROM json_each(:numbers) n CROSS JOIN urls u ON u.number = n.value CROSS JOIN servers s ON s.number = u.server
LEFT JOIN finds i ON i.number = u.number AND i.job = (SELECT min(job) FROM finds WHERE number = u.number)
LEFT JOIN documents d ON d.number = u.number AND i.number IS NULL
LEFT JOIN fetches f ON f.number = u.number AND f.fetched = (
    SELECT fetched FROM fetches WHERE number = u.number AND found IS NOT NULL ORDER BY token DESC, fetched DESC LIMIT 1)
ORDER BY u.number;

-- The documents among the pages :numbers, by page number.

SELECT d.number, d.fetched, d.status, d.digest, d.content_type, d.word_count, d.file, d."offset", d.text_digest,
       d.simhash, d.canonical, o.id, n.id, d.noindex, d.changed
FROM documents d LEFT JOIN urls o ON o.number = d.duplicate_of LEFT JOIN urls n ON n.number = d.near_duplicate_of
WHERE d.number IN (SELECT value FROM json_each(:numbers)) AND d.number NOT IN (SELECT number FROM finds)
ORDER BY d.number;

-- The links of the pages :numbers, by source and target: source, id and server of the target, anchor, rel.

SELECT l.source, u.id, s.name, l.anchor, l.rel
FROM json_each(:numbers) n CROSS JOIN links l ON l.source = n.value
CROSS JOIN urls u ON u.number = l.target CROSS JOIN servers s ON s.number = u.server
WHERE l.source NOT IN (SELECT number FROM finds)
ORDER BY l.source, l.target;
