-- Which documents of `batch` repeat others, and what its checks told. Run after apply.sql and near.sql.
-- Returns  JSON arrays of positions: duplicates (of what was there before, also where they have become the original), near-duplicates, checks that found nothing new, and checks that found
--          nothing or failed while the document stays.

SELECT json_group_array(b.position) FILTER (WHERE b.found AND EXISTS (
           SELECT 1 FROM documents o WHERE o.digest = d.digest AND o.since < d.since)),
       json_group_array(b.position) FILTER (WHERE b.found AND d.near_duplicate_of IS NOT NULL),
       json_group_array(b.position) FILTER (WHERE b.same),
       json_group_array(b.position) FILTER (WHERE b.held)
FROM batch b LEFT JOIN documents d ON d.number = b.number;
