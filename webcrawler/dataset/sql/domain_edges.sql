-- Which domain links to which, and how often.
-- Reads   links
-- Gives   source_id, target_id (names), links

SELECT source_domain AS source_id, target_domain AS target_id, count(*) AS links FROM links
WHERE current AND rel <> 'nofollow' AND source_domain <> target_domain GROUP BY source_domain, target_domain
