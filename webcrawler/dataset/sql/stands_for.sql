-- What stands for another page, one step: a redirect for its target, a duplicate for its original. For all together,
-- whose home is '' here, and for what each home knows by itself.
-- Reads   links, documents, duplicates
-- Gives   home, url_id, page_id; no URL of a home twice

SELECT home, url_id, min(page_id) AS page_id
FROM (SELECT '' AS home, source_id AS url_id, target_id AS page_id FROM links
      WHERE current AND rel = 'redirect' AND source_id <> target_id
      UNION ALL SELECT '', url_id, original_id FROM duplicates
      UNION ALL SELECT home, source_id, target_id FROM links WHERE rel = 'redirect' AND source_id <> target_id
      UNION ALL SELECT home, url_id, duplicate_of FROM documents WHERE duplicate_of IS NOT NULL) s
GROUP BY home, url_id
