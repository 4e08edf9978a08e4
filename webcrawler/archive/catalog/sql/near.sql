-- What each document of a batch may nearly repeat, and each that was near to one which left or changed.
-- :before  as in apply.sql, after which this runs.
-- Returns  JSON: an array of [number, simhash, near_duplicate_of, [[since, number, simhash], …] of older documents].
-- Keeps    of four bands of 16 bits one at least is the same where at most three bits differ (Manku 2007, 3.1).
-- Cost     four probes a document; in a crowded band only the oldest 100 are looked at.

SELECT json_group_array(json_array(d.number, d.simhash, d.near_duplicate_of, json((
    SELECT json_group_array(json_array(since, number, simhash)) FROM (
        SELECT since, number, simhash, (simhash | d.simhash) - (simhash & d.simhash) AS x FROM (
            SELECT * FROM (SELECT since, number, simhash FROM documents INDEXED BY documents_by_band_0
                   WHERE simhash & 0xFFFF = (d.simhash & 0xFFFF) AND simhash IS NOT NULL AND since < d.since ORDER BY since LIMIT 100)
            UNION ALL SELECT * FROM (SELECT since, number, simhash FROM documents INDEXED BY documents_by_band_1
                   WHERE simhash >> 16 & 0xFFFF = (d.simhash >> 16 & 0xFFFF) AND simhash IS NOT NULL AND since < d.since ORDER BY since LIMIT 100)
            UNION ALL SELECT * FROM (SELECT since, number, simhash FROM documents INDEXED BY documents_by_band_2
                   WHERE simhash >> 32 & 0xFFFF = (d.simhash >> 32 & 0xFFFF) AND simhash IS NOT NULL AND since < d.since ORDER BY since LIMIT 100)
            UNION ALL SELECT * FROM (SELECT since, number, simhash FROM documents INDEXED BY documents_by_band_3
                   WHERE simhash >> 48 & 0xFFFF = (d.simhash >> 48 & 0xFFFF) AND simhash IS NOT NULL AND since < d.since ORDER BY since LIMIT 100)))
    -- x is their exclusive or, and each x & (x - 1) takes a bit from it; not from the sign alone, which overflows
    WHERE d.duplicate_of IS NULL
      AND x & (x - 1) & ((x & (x - 1)) - 1) & ((x & (x - 1) & ((x & (x - 1)) - 1)) - 1)
          IN (0, -9223372036854775808)))))
FROM documents d
WHERE number IN (
    SELECT number FROM changes WHERE seq > :before
    UNION
    SELECT n.number
    FROM batch b LEFT JOIN documents o ON o.number = b.number
    CROSS JOIN documents n -- in this order: all that are near to something would be read otherwise
    WHERE n.near_duplicate_of = b.number AND b.fresh AND (o.since IS NULL OR o.since > :before));
