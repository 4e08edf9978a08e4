-- Unblock the server :server. Changes a row if it is blocked.

UPDATE servers SET blocked = 0 WHERE name = :server AND blocked;
