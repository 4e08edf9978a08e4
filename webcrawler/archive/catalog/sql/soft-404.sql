-- Stores what probes have brought, and finds checks that may have brought the same: a page that says 200 and means 404.
-- Run after `batch` is filled, before checks.sql.
-- Returns  JSON: an array of [position, has it the same words?, its simhash, that of the document so far, the probe's]. A document that has always
--          looked so is none of them.

UPDATE servers SET (probed, missing_words, missing_simhash) = (
    SELECT b.fetched, b.words_digest, b.simhash
    FROM batch b JOIN urls u ON u.number = b.number WHERE b.probe AND NOT b.retry AND u.server = servers.number)
WHERE number IN (SELECT u.server FROM batch b JOIN urls u ON u.number = b.number WHERE b.probe AND NOT b.retry);

SELECT json_group_array(json_array(b.position, b.words_digest IS s.missing_words, b.simhash, d.simhash, s.missing_simhash))
FROM batch b JOIN urls u ON u.number = b.number JOIN servers s ON s.number = u.server
JOIN documents d ON d.number = b.number
WHERE u.path <> '/' -- what a server shows in place of all that is missing is mostly its home page
  AND b.found AND b.words_digest IS NOT NULL AND s.missing_words IS NOT NULL
  AND d.digest IS NOT b.digest AND d.text_digest IS NOT b.text_digest;
