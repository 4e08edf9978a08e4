-- The ranks of the last run, which has them once for each home that knows a page.
-- Reads   all_ranks
-- Gives   url_id, pagerank

SELECT url_id, max(pagerank) AS pagerank FROM all_ranks GROUP BY url_id
