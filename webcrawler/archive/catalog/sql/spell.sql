-- Keeps how URLs were fetched. Run after checks.sql.
-- Keeps    the spelling that brought a document, when a fetch by another one finds nothing.

UPDATE urls SET spelling = (SELECT b.spelling FROM batch b WHERE b.number = urls.number)
WHERE number IN (
    SELECT b.number FROM batch b JOIN urls u ON u.number = b.number
    WHERE NOT b.fenced AND (b.checked IS NULL OR b.found OR b.same) AND u.spelling IS NOT b.spelling);
