-- Fill `batch` with the documents among `touched` that are removed or blocked, as if they were gone.

INSERT INTO batch (position, number, found, fresh)
SELECT d.number, d.number, 0, 1
FROM touched t CROSS JOIN documents d ON d.number = t.number
CROSS JOIN urls u ON u.number = t.number JOIN servers s ON s.number = u.server
WHERE u.removed OR s.blocked;
