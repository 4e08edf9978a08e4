-- What others call a page that can be found: votes, and those of other servers alone (cited). Both taper off,
-- floor(log2(n)) + 1, which is the number of n's binary digits (exact; a logarithm is not).
-- Reads   anchor_totals, known
-- Gives   target_id, anchor, votes, cited

SELECT t.target_id, t.anchor, CAST(length(bin(t.others + t.own)) AS INT) AS votes,
       CAST(CASE WHEN t.others = 0 THEN 0 ELSE length(bin(t.others)) END AS INT) AS cited
FROM anchor_totals t JOIN known k ON k.url_id = t.target_id
WHERE k.current AND k.findable
