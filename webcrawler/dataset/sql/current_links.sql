-- The links of the pages that there are.
-- Reads   all_links: the parts of all homes; urls: as current_urls.sql gives it
-- Gives   rows of all_links

SELECT r.* FROM all_links r
JOIN urls u ON u.url_id = r.source_id AND u.home = r.home AND u.epoch = r.epoch AND u.seq = r.seq
