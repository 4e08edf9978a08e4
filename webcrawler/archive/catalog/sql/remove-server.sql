-- Fill `batch` with the documents of the server :server as if they were gone.

INSERT INTO batch (position, number, found, fresh)
SELECT d.number, d.number, 0, 1
FROM documents d JOIN urls u ON u.number = d.number JOIN servers s ON s.number = u.server
WHERE s.name = :server;
