-- Pages with the same bytes. Within a folder its catalog has decided, by what came first and what changed since; of the
-- originals of several folders, the one is that others of them name as canonical, then the one that most domains link
-- to, twice as many at least, then the one that has not changed for longest.
-- Reads   documents, links
-- Gives   url_id, original_id, which is no duplicate

WITH firsts AS (
    SELECT d.url_id, d.content_digest, d.canonical_id, d.since, coalesce(o.url_id, d.url_id) AS first_id
    FROM documents d LEFT JOIN (
        SELECT url_id, content_digest FROM documents WHERE current AND duplicate_of IS NULL) o
    ON o.url_id = d.duplicate_of AND o.content_digest = d.content_digest
    WHERE d.current AND d.content_digest IS NOT NULL),
several AS (
    SELECT content_digest FROM firsts WHERE url_id = first_id GROUP BY content_digest HAVING count(*) > 1),
rivals AS (
    SELECT f.* FROM firsts f JOIN several s ON s.content_digest = f.content_digest WHERE f.url_id = f.first_id),
voters AS (
    SELECT l.target_id, count(DISTINCT l.source_domain) AS voters
    FROM links l JOIN rivals r ON r.url_id = l.target_id
    WHERE l.current AND l.rel IN ('', 'form-and-link') AND l.source_domain <> l.target_domain GROUP BY l.target_id),
conceded AS (
    SELECT canonical_id, content_digest, count(*) AS times FROM rivals
    WHERE canonical_id IS NOT NULL AND canonical_id <> url_id GROUP BY canonical_id, content_digest),
chosen AS (
    SELECT r.url_id, first_value(r.url_id) OVER (
               PARTITION BY r.content_digest
               ORDER BY coalesce(c.times, 0) DESC,
                        CASE WHEN v.voters IS NULL THEN 0 ELSE length(bin(v.voters)) END DESC,
                        r.since NULLS LAST, r.url_id) AS original_id
    FROM rivals r LEFT JOIN voters v ON v.target_id = r.url_id
    LEFT JOIN conceded c ON c.canonical_id = r.url_id AND c.content_digest = r.content_digest)
SELECT f.url_id, coalesce(c.original_id, f.first_id) AS original_id
FROM firsts f LEFT JOIN chosen c ON c.url_id = f.first_id
WHERE coalesce(c.original_id, f.first_id) <> f.url_id
