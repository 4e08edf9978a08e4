-- Moves the URL ids from :first to :last on from :level. Half the time of an UPDATE.

INSERT INTO leveled_ids
SELECT :level + 1, id, number FROM leveled_ids WHERE level = :level AND id BETWEEN :first AND :last;

DELETE FROM leveled_ids WHERE level = :level AND id BETWEEN :first AND :last;
