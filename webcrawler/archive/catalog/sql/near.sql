-- What each document of a batch may nearly repeat, and each that was near to one which left or changed.
-- :before  as in apply.sql, after which this runs.
-- Returns  JSON: an array of [number, simhash, near_duplicate_of, [[[since, number, simhash], …] of older documents, …]].
-- Keeps    of four bands of 16 bits one at least is the same where at most three bits differ (Manku 2007, 3.1).
-- Cost     twelve probes a document; in a crowded band only the oldest 100 of a level are looked at.

SELECT json_group_array(json_array(d.number, d.simhash, d.near_duplicate_of, json((
    SELECT json_group_array(json((
        SELECT json_group_array(json_array(since, number, simhash)) FROM (
            SELECT since, number, simhash, (simhash | d.simhash) - (simhash & d.simhash) AS x
            FROM leveled_bands
            WHERE level = l.level AND band = b.band AND since < d.since ORDER BY since LIMIT 100)
        -- x is their exclusive or, and each x & (x - 1) takes a bit from it; not from the sign alone, which overflows
        WHERE x & (x - 1) & ((x & (x - 1)) - 1) & ((x & (x - 1) & ((x & (x - 1)) - 1)) - 1)
              IN (0, -9223372036854775808))))
    FROM document_bands b CROSS JOIN (SELECT 0 AS level UNION ALL VALUES (1), (2)) l
    WHERE b.number = d.number AND d.duplicate_of IS NULL))))
FROM documents d
WHERE number IN (
    SELECT number FROM changes WHERE seq > :before
    UNION
    SELECT n.number
    FROM batch b LEFT JOIN documents o ON o.number = b.number
    CROSS JOIN documents n -- in this order: all that are near to something would be read otherwise
    WHERE n.near_duplicate_of = b.number AND b.fresh AND (o.since IS NULL OR o.since > :before));
