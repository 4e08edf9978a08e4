-- Fill `touched` with all URLs of the server :server.

DELETE FROM touched;

INSERT INTO touched SELECT u.number FROM urls u JOIN servers s ON s.number = u.server WHERE s.name = :server;
