-- Which documents of `batch` repeat others. Run after apply.sql and near.sql.
-- Returns  two JSON arrays of positions: duplicates and near-duplicates.

SELECT json_group_array(b.position) FILTER (WHERE d.duplicate_of IS NOT NULL),
       json_group_array(b.position) FILTER (WHERE d.near_duplicate_of IS NOT NULL)
FROM batch b JOIN documents d ON d.number = b.number
WHERE b.found;
