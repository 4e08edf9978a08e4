-- Moves the bands from :first to :last on from :level. Half the time of an UPDATE.

INSERT INTO leveled_bands
SELECT :level + 1, band, since, number, simhash FROM leveled_bands WHERE level = :level AND band BETWEEN :first AND :last;

DELETE FROM leveled_bands WHERE level = :level AND band BETWEEN :first AND :last;
