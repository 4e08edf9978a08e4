-- Pages whose texts differ in at most three of 64 bits from an older one's: of four bands of 16 bits one is the same
-- (Manku 2007, 3.1). In a crowded band only the oldest :most are looked at, so pairs grow with pages, not their square.
-- Reads   documents, duplicates (left out)
-- Gives   url_id, original_id: the oldest that is near

WITH texts AS (
    SELECT d.url_id, d.simhash, d.since FROM documents d LEFT JOIN duplicates x ON x.url_id = d.url_id
    WHERE d.current AND d.simhash IS NOT NULL AND x.url_id IS NULL),
bands AS (
    SELECT 0 AS band, simhash & 65535 AS bits, url_id, simhash, since FROM texts
    UNION ALL SELECT 1, (simhash >> 16) & 65535, url_id, simhash, since FROM texts
    UNION ALL SELECT 2, (simhash >> 32) & 65535, url_id, simhash, since FROM texts
    UNION ALL SELECT 3, (simhash >> 48) & 65535, url_id, simhash, since FROM texts),
placed AS (
    SELECT band, bits, url_id, simhash, since,
           row_number() OVER (PARTITION BY band, bits ORDER BY since NULLS LAST, url_id) AS age
    FROM bands),
near AS (
    SELECT n.url_id, o.url_id AS original_id,
           row_number() OVER (PARTITION BY n.url_id ORDER BY o.since NULLS LAST, o.url_id) AS place
    FROM placed n JOIN placed o ON o.band = n.band AND o.bits = n.bits AND o.age < n.age AND o.age <= :most
    -- a | b less a & b is a xor b, whose operator differs between engines
    WHERE bit_count((n.simhash | o.simhash) - (n.simhash & o.simhash)) <= 3)
SELECT url_id, original_id FROM near WHERE place = 1
