-- URLs that a home knows from links alone, and another home knows to be a redirect, a duplicate, gone or not for searches.
-- Reads   known, stands_for
-- Gives   home, url_id

SELECT k.home, k.url_id FROM known k JOIN known c ON c.url_id = k.url_id AND c.current
LEFT JOIN stands_for s ON s.home = '' AND s.url_id = k.url_id
WHERE k.state = 'uncrawled' AND c.home <> k.home AND (NOT c.findable OR s.page_id IS NOT NULL)
