-- The documents that each home has; in force where its row of the URL is.
-- Reads   all_documents, known
-- Gives   url_id, home, content_digest, simhash, canonical_id, duplicate_of, since, current

SELECT d.url_id, d.home, d.content_digest, d.simhash, d.canonical_id, d.duplicate_of,
       coalesce(d.changed, d.fetch_time) AS since, k.current
FROM all_documents d
JOIN known k ON k.url_id = d.url_id AND k.home = d.home AND k.epoch = d.epoch AND k.seq = d.seq
