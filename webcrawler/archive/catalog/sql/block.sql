-- Blocks and unblocks a server: five statements, each about the server :name.

-- Block it. Changes a row unless it is blocked.
INSERT INTO servers (name, blocked) VALUES (:name, 1)
ON CONFLICT (name) DO UPDATE SET blocked = 1 WHERE NOT blocked;

-- Unblock it. Changes a row if it is blocked.
UPDATE servers SET blocked = 0 WHERE name = :name AND blocked;

-- Fill `batch` with its documents as if they were gone.
INSERT INTO batch (position, number, found, fresh)
SELECT d.number, d.number, 0, 1
FROM documents d JOIN urls u ON u.number = d.number JOIN servers s ON s.number = u.server
WHERE s.name = :name;

-- Add a change where no document of it changed: links of other pages may still name its pages.
INSERT INTO changes (number, kind)
SELECT u.number, 'links' FROM urls u JOIN servers s ON s.number = u.server WHERE s.name = :name LIMIT 1;

-- Note that the anchor texts of all its pages may have changed, with the newest change.
INSERT INTO unlinked (seq, target)
SELECT (SELECT max(seq) FROM changes), u.number
FROM urls u JOIN servers s ON s.number = u.server WHERE s.name = :name;
