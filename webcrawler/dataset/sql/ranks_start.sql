-- Equal ranks, or those of the last run: a page not known then has the rank of one that nobody links to.
-- Reads   pages (url_id), edges, last_ranks (url_id, pagerank)
-- Gives   url_id, links, pagerank, change

WITH known_pages AS (
    SELECT p.url_id, coalesce(l.pagerank, 1 - :damping) AS pagerank
    FROM pages p LEFT JOIN last_ranks l ON l.url_id = p.url_id),
mean AS (SELECT avg(pagerank) AS mean FROM known_pages),
outlinks AS (SELECT source_id, count(*) AS links FROM edges GROUP BY source_id)
SELECT k.url_id, coalesce(o.links, 0) AS links, k.pagerank / m.mean AS pagerank, CAST(1 AS DOUBLE) AS change
FROM known_pages k CROSS JOIN mean m LEFT JOIN outlinks o ON o.source_id = k.url_id
