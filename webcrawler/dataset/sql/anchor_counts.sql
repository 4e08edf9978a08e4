-- How many links of a home call a page so: for the page that all homes together know to be meant (target_id), and for
-- the one that this home alone takes it for (local_id). Own are links of the server of the page that is meant.
-- Reads   links, known, stands_for
-- Gives   home, current, target_id, local_id, anchor, others, own, local_others, local_own

WITH stands AS (
    SELECT s.home, s.url_id, s.page_id, k.server FROM stands_for s JOIN known k ON k.url_id = s.page_id AND k.current),
named AS (
    SELECT l.home, l.current, l.anchor, coalesce(s.page_id, l.target_id) AS target_id,
           coalesce(o.page_id, l.target_id) AS local_id,
           CASE WHEN s.page_id IS NULL THEN l.same_server ELSE l.source_server = s.server END AS is_own,
           CASE WHEN o.page_id IS NULL THEN l.same_server ELSE l.source_server = o.server END AS is_local_own
    FROM links l LEFT JOIN stands s ON s.home = '' AND s.url_id = l.target_id
    LEFT JOIN stands o ON o.home = l.home AND o.url_id = l.target_id
    WHERE l.rel IN ('', 'form-and-link') AND l.anchor <> '')
SELECT home, current, target_id, local_id, anchor, count(*) FILTER (WHERE NOT is_own) AS others,
       max(CASE WHEN is_own THEN 1 ELSE 0 END) AS own, count(*) FILTER (WHERE NOT is_local_own) AS local_others,
       max(CASE WHEN is_local_own THEN 1 ELSE 0 END) AS local_own
FROM named GROUP BY home, current, target_id, local_id, anchor
