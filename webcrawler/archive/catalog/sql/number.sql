-- Gives the URLs in `batch_urls`, which are new, page numbers, in the order of their discovery.

INSERT OR IGNORE INTO servers (name) SELECT DISTINCT server FROM batch_urls ORDER BY position;

INSERT INTO urls (id, server, path, removed, spelling)
SELECT b.id, s.number, b.path, b.removed, b.spelling FROM batch_urls b JOIN servers s ON s.name = b.server ORDER BY b.position;
