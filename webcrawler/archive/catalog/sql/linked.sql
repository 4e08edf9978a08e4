-- Adds the links of the fresh pages of `batch` to the in-links, and keeps `gone`. Run after fresh.sql, when the new links
-- are inserted, and before unlinked.sql.
-- Cost     a sorted run; in ascending order, else it would be one for each page.

INSERT INTO inlinks (rowid, targets)
SELECT source, group_concat(target, ' ') FROM links WHERE source IN (SELECT number FROM batch WHERE fresh)
GROUP BY source ORDER BY source;

-- What is to be asked for a few times more.
UPDATE gone SET tries = tries + 1, since = min(since, (SELECT max(fetched) FROM batch)) -- not in the future
WHERE number IN (SELECT number FROM batch WHERE (NOT fenced OR reason IN ('removed', 'scope')) AND NOT retry AND found IS NOT 1);

INSERT OR REPLACE INTO gone (number, since, tries)
SELECT number, fetched, 0 FROM batch WHERE fresh AND NOT found AND checked IS NOT NULL;

-- What has failed for now; sitemaps have times of their own.
INSERT OR IGNORE INTO gone (number, since, tries)
SELECT number, fetched, 0 FROM batch
WHERE NOT fenced AND NOT retry AND state = 'failed' AND checked IS NULL AND NOT probe
  AND number NOT IN (SELECT number FROM sitemaps)
  AND (reason IN ('unreachable', 'timeout', 'server-error', 'not-found') OR reason GLOB 'robots-*' OR reason GLOB 'certificate-*');

DELETE FROM gone WHERE number IN (SELECT number FROM batch WHERE fresh AND (found OR state = 'done' AND checked IS NULL));

-- No page links to it any more, and no sitemap names it: 99 tries are none left.
UPDATE gone SET tries = 99
WHERE number IN (SELECT target FROM dropped) AND number NOT IN (SELECT number FROM signs)
  AND NOT EXISTS (SELECT 1 FROM inlinks WHERE inlinks MATCH gone.number);

-- A changed page links to it anew, or any page does where none did: it is due at once.
UPDATE gone SET since = 0, tries = 0
WHERE number IN (
    SELECT l.target
    FROM (SELECT 1 FROM gone LIMIT 1) CROSS JOIN batch b CROSS JOIN links l ON l.source = b.number
    CROSS JOIN gone g ON g.number = l.target -- not the one that is updated: all of it would be read for each
    WHERE b.fresh AND b.found AND (b.checked IS NOT NULL OR g.tries = 99) AND l.rel <> 'nofollow'
      AND NOT EXISTS (SELECT 1 FROM dropped d WHERE d.source = l.source AND d.target = l.target));
