-- The documents that there are.
-- Reads   all_documents: the parts of all homes; urls: as current_urls.sql gives it
-- Gives   rows of all_documents

SELECT r.* FROM all_documents r
JOIN urls u ON u.url_id = r.url_id AND u.home = r.home AND u.epoch = r.epoch AND u.seq = r.seq
