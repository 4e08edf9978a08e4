-- Keeps out of `batch` the documents of removed URLs and blocked servers. Run before fresh.sql.

UPDATE batch SET found = 0, packed = NULL
WHERE number IN (SELECT u.number FROM batch b CROSS JOIN urls u ON u.number = b.number JOIN servers s ON s.number = u.server
                 WHERE u.removed OR s.blocked);
