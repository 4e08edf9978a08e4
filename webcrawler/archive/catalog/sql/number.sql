-- Gives the URLs in `batch_urls` page numbers, in the order of their discovery. Known ones keep theirs.
-- Returns  JSON: an object, the page number by URL id.

INSERT OR IGNORE INTO servers (name) SELECT DISTINCT server FROM batch_urls ORDER BY position;

INSERT OR IGNORE INTO urls (id, server, path, removed, spelling)
SELECT b.id, s.number, b.path, b.removed, b.spelling FROM batch_urls b JOIN servers s ON s.name = b.server ORDER BY b.position;

SELECT json_group_object(CAST(u.id AS TEXT), u.number) FROM batch_urls b JOIN urls u ON u.id = b.id;
