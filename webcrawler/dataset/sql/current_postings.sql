-- The terms of the documents that there are.
-- Reads   all_postings: the parts of all homes; urls: as current_urls.sql gives it
-- Gives   rows of all_postings

SELECT r.* FROM all_postings r
JOIN urls u ON u.url_id = r.url_id AND u.home = r.home AND u.epoch = r.epoch AND u.seq = r.seq
