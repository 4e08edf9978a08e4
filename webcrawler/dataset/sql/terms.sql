-- In how many documents a term stands, and how often in all: of what can be found, duplicates left out.
-- Reads   all_postings, known, duplicates
-- Gives   language, term, df, cf

SELECT p.language, p.term, count(*) AS df, CAST(sum(p.tf) AS BIGINT) AS cf
FROM all_postings p
JOIN known k ON k.url_id = p.url_id AND k.home = p.home AND k.epoch = p.epoch AND k.seq = p.seq
LEFT JOIN duplicates d ON d.url_id = p.url_id
WHERE k.current AND d.url_id IS NULL GROUP BY p.language, p.term
