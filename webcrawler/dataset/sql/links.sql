-- The links that each home has; in force where its row of the source is.
-- Reads   all_links, known
-- Gives   source_id, target_id, source_domain, target_domain, source_server, same_server, anchor, rel, home, current

SELECT l.source_id, l.target_id, l.source_domain, l.target_domain, l.source_server,
       l.source_server = l.target_server AS same_server, l.anchor, l.rel, l.home, k.current
FROM all_links l
JOIN known k ON k.url_id = l.source_id AND k.home = l.home AND k.epoch = l.epoch AND k.seq = l.seq
