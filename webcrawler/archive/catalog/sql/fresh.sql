-- Lists the entries of `batch` that say something new of their URL, and drops the old links of these pages.
-- Run after checks.sql and before the new links are inserted.
-- Returns  JSON: an array of the positions of fresh entries.
-- Keeps    the dropped links are in `dropped`, for unlinked.sql.

UPDATE batch SET linked = 1
WHERE fresh AND NOT found AND EXISTS (SELECT 1 FROM links l WHERE l.source = batch.number);

INSERT INTO dropped SELECT source, target FROM links WHERE source IN (SELECT number FROM batch WHERE fresh);

INSERT INTO inlinks (inlinks, rowid, targets)
SELECT 'delete', source, group_concat(target, ' ') FROM dropped GROUP BY source ORDER BY source;

DELETE FROM links WHERE source IN (SELECT number FROM batch WHERE fresh);

SELECT json_group_array(position) FROM batch WHERE fresh;
