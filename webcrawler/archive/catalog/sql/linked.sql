-- Adds the links of the fresh pages of `batch` to the in-links. Run after fresh.sql, when the new links are inserted.
-- Cost     a sorted run; in ascending order, else it would be one for each page.

INSERT INTO inlinks (rowid, targets)
SELECT source, group_concat(target, ' ') FROM links WHERE source IN (SELECT number FROM batch WHERE fresh)
GROUP BY source ORDER BY source;
