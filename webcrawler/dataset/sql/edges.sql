-- The links that count for ranks: a redirect is its page's only link.
-- Reads   links
-- Gives   source_id, target_id; none twice

SELECT DISTINCT source_id, target_id FROM links WHERE current AND rel <> 'nofollow' AND source_id <> target_id
