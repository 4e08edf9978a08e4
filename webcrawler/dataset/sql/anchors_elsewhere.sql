-- What a home lacks of the anchors of the URLs that it knows: how many more links of other servers call them so, and
-- whether their own server does. A copy that is the home's only one has the anchors of the original.
-- Reads   known, stands_for, anchor_totals, anchor_counts
-- Gives   home, url_id, anchor, others, own

WITH wanted AS (
    SELECT k.home, k.url_id, coalesce(s.page_id, k.url_id) AS page_id
    FROM known k LEFT JOIN stands_for s ON s.home = '' AND s.url_id = k.url_id
    WHERE k.findable AND (s.page_id IS NULL OR k.state = 'document')),
had AS (
    SELECT home, local_id, anchor, CAST(sum(local_others) AS BIGINT) AS others, max(local_own) AS own
    FROM anchor_counts GROUP BY home, local_id, anchor),
lacked AS (
    SELECT w.home, w.url_id, t.anchor, t.others - coalesce(h.others, 0) AS others,
           CASE WHEN t.own > coalesce(h.own, 0) THEN 1 ELSE 0 END AS own
    FROM wanted w JOIN anchor_totals t ON t.target_id = w.page_id
    LEFT JOIN had h ON h.home = w.home AND h.local_id = w.url_id AND h.anchor = t.anchor)
SELECT home, url_id, anchor, CASE WHEN others > 0 THEN others ELSE 0 END AS others, own
FROM lacked WHERE others > 0 OR own > 0
