-- Delete what the pages in `touched` said: their links, and what their fetches tell of their content.

INSERT INTO changes (number, kind)
SELECT DISTINCT source, 'links' FROM links WHERE source IN (SELECT number FROM touched);

INSERT INTO unlinked (seq, target)
SELECT (SELECT max(seq) FROM changes), target FROM links WHERE source IN (SELECT number FROM touched);

INSERT INTO inlinks (inlinks, rowid, targets)
SELECT 'delete', source, group_concat(target, ' ') FROM links WHERE source IN (SELECT number FROM touched)
GROUP BY source ORDER BY source;

DELETE FROM links WHERE source IN (SELECT number FROM touched);

UPDATE fetches SET digest = NULL, error = NULL WHERE number IN (SELECT number FROM touched);
