-- Let the URLs in `touched` be removed that were not, and the others no more.

UPDATE urls SET removed = NOT removed WHERE number IN (SELECT number FROM touched);
