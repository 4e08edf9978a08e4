-- Takes the marks of :job from the pages :numbers, and fills `batch` with them as if they were gone, but for those
-- that other searches found as well.
-- :numbers  JSON: an array of page numbers.

DELETE FROM finds WHERE job = :job AND number IN (SELECT value FROM json_each(:numbers));

INSERT INTO batch (position, number, found, fresh)
SELECT d.number, d.number, 0, 1
FROM json_each(:numbers) n JOIN documents d ON d.number = n.value
WHERE d.number NOT IN (SELECT number FROM finds);
