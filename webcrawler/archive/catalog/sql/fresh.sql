-- Finds the entries of `batch` that say what is at their URL now, and drops the old links of these pages.
-- Run after `batch` is filled and before the new links are inserted.
-- Returns  JSON: an array of the positions of fresh entries.
-- Keeps    the dropped links are in `dropped`, for unlinked.sql.

-- A later lease fences off an earlier one, whatever either has found and whatever the workers' clocks say.
UPDATE batch SET fresh = 0
WHERE EXISTS (SELECT 1 FROM fetches f
              WHERE f.number = batch.number
                AND (f.token > batch.token
                     OR coalesce(f.token, batch.token) = batch.token
                        AND f.fetched >= batch.fetched AND f.found IS NOT NULL))
   OR EXISTS (SELECT 1 FROM urls u JOIN servers s ON s.number = u.server
              WHERE u.number = batch.number AND s.blocked);

UPDATE batch SET linked = 1
WHERE fresh AND NOT found AND EXISTS (SELECT 1 FROM links l WHERE l.source = batch.number);

INSERT INTO dropped SELECT source, target FROM links WHERE source IN (SELECT number FROM batch WHERE fresh);

DELETE FROM links WHERE source IN (SELECT number FROM batch WHERE fresh);

SELECT json_group_array(position) FROM batch WHERE fresh;
