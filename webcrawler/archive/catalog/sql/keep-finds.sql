-- Keeps those finds of :job that are in :ids, for all searches.
-- :ids   JSON: an array of URL ids.
-- Keeps  a change for each: links, words and counts of finds were left out so far.

INSERT INTO changes (number, kind)
SELECT d.number, 'update'
FROM finds f JOIN urls u ON u.number = f.number JOIN documents d ON d.number = f.number
WHERE f.job = :job AND u.id IN (SELECT value FROM json_each(:ids));

DELETE FROM finds
WHERE number IN (SELECT f.number FROM finds f JOIN urls u ON u.number = f.number
                 WHERE f.job = :job AND u.id IN (SELECT value FROM json_each(:ids)));
