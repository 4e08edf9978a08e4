-- The links that count for ranks: a redirect is its page's only link. A target may be told of later than its source.
-- Reads   links, pages (url_id)
-- Gives   source_id, target_id; none twice

SELECT DISTINCT l.source_id, l.target_id FROM links l JOIN pages p ON p.url_id = l.target_id
WHERE l.current AND l.rel <> 'nofollow' AND l.source_id <> l.target_id
