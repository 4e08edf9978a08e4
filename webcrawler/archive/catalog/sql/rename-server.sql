-- Note that the anchor texts of all pages of the server :server may have changed, with the newest change.

INSERT INTO unlinked (seq, target)
SELECT (SELECT max(seq) FROM changes), u.number
FROM urls u JOIN servers s ON s.number = u.server WHERE s.name = :server;
