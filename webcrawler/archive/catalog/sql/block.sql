-- Block the server :server. Changes a row unless it is blocked.

INSERT INTO servers (name, blocked) VALUES (:server, 1)
ON CONFLICT (name) DO UPDATE SET blocked = 1 WHERE NOT blocked;
