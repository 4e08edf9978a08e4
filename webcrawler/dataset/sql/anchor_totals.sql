-- What all homes together call a page: the :most texts with the most votes. All links of a page's own server are one.
-- Reads   anchor_counts
-- Gives   target_id, anchor, others, own

WITH counted AS (
    SELECT target_id, anchor, CAST(sum(others) AS BIGINT) AS others, max(own) AS own
    FROM anchor_counts WHERE current GROUP BY target_id, anchor),
placed AS (
    SELECT target_id, anchor, others, own,
           row_number() OVER (PARTITION BY target_id ORDER BY others + own DESC, anchor) AS place
    FROM counted)
SELECT target_id, anchor, others, own FROM placed WHERE place <= :most
