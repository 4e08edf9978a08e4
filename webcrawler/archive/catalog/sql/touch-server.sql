-- Add a change where no document of the server :server changed: other pages may still name its pages.

INSERT INTO changes (number, kind)
SELECT u.number, 'links' FROM urls u JOIN servers s ON s.number = u.server WHERE s.name = :server LIMIT 1;
