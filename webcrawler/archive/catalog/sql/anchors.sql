-- The anchor texts of the in-links of pages, also of links to what stands for them: redirects, duplicates.
-- :numbers  JSON: an array of page numbers.
-- Returns   page number, anchor text, number of the source's server; page by page, ascending. Without nofollow,
--           redirects, and links that have no text.
-- Cost      about 4 µs a link.

WITH RECURSIVE alias (number, page) AS (
    SELECT value, value FROM json_each(:numbers)
    UNION -- ends circles
    SELECT l.source, a.page
    FROM alias a CROSS JOIN inlinks i ON i.inlinks MATCH a.number
    CROSS JOIN links l ON l.source = i.rowid AND l.target = a.number
    WHERE l.rel = 'redirect'
    UNION
    SELECT d.number, a.page
    FROM alias a CROSS JOIN documents o ON o.number = a.number CROSS JOIN documents d ON d.digest = o.digest
    WHERE d.duplicate_of = a.number)
SELECT a.page, l.anchor, u.server
FROM alias a CROSS JOIN inlinks i ON i.inlinks MATCH a.number
CROSS JOIN links l ON l.source = i.rowid AND l.target = a.number
CROSS JOIN urls u ON u.number = l.source
WHERE l.rel IN ('', 'form-and-link') AND trim(l.anchor) <> ''
ORDER BY a.page;

-- The pages whose anchor texts the changes after :after and until :until may have changed, ascending.
-- Keeps     a redirect or a duplicate comes with all that it leads to.

WITH RECURSIVE led (number) AS (
    SELECT number FROM changes WHERE seq > :after AND seq <= :until
    UNION
    SELECT target FROM links
    WHERE source IN (SELECT DISTINCT number FROM changes WHERE seq > :after AND seq <= :until)
    UNION
    SELECT target FROM unlinked WHERE seq > :after AND seq <= :until
    UNION
    SELECT l.target FROM led CROSS JOIN links l ON l.source = led.number WHERE l.rel = 'redirect'
    UNION
    SELECT d.duplicate_of FROM led CROSS JOIN documents d ON d.number = led.number
    WHERE d.duplicate_of IS NOT NULL)
SELECT number FROM led ORDER BY number;

-- Of these pages, those that may be found by what others call them: page number, URL, server, its number.
-- Keeps     left out are redirects, duplicates, noindex pages, what is gone or removed, and blocked servers.

SELECT u.number, s.name || u.path, s.name, s.number
FROM json_each(:numbers) n CROSS JOIN urls u ON u.number = n.value CROSS JOIN servers s ON s.number = u.server
LEFT JOIN documents d ON d.number = u.number
WHERE NOT s.blocked AND NOT u.removed
  AND CASE WHEN d.number IS NOT NULL THEN d.duplicate_of IS NULL AND NOT d.noindex
      ELSE coalesce((SELECT f.found FROM fetches f WHERE f.number = u.number AND f.found IS NOT NULL
                     ORDER BY f.token DESC, f.fetched DESC LIMIT 1), 1) END;
