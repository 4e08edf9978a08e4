"""Pages that try to come first: marked by rules, with a reason, and ranked lower; none is left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches, typed
from webcrawler.text.query import QueryTerm

FEWEST_WORDS = 100  # of a text that can be stuffed: short ones name their subject often
# Share of a text that the MOST words of the query which it has most make up, from which on it is stuffed. On
# docweb, no three words make up more than .64 of a page: explanation/ranking.md.
STUFFED, MOST = 2 / 3, 3
SPAM = 0.5  # by which the score of a stuffed page is multiplied: none is left out, as marks can be wrong


def stuffed(terms: Sequence[QueryTerm], matches: Matches) -> NDArray[np.float64]:
    """Return which share of each matching page's text words of the query are; 0 below STUFFED.

    What a page repeats is told at the query, so that nothing has to be stored; words that only fill a page do
    no harm until they are asked for. Words of general language count as little as they say.

    Source: Ntoulas, Najork, Manasse, Fetterly 2006, "Detecting Spam Web Pages through Content Analysis", 4;
    there it is the share of words that are frequent everywhere, here of those of the query.
    Weakness: a text of copied sentences with the words put in between is below the share.
    """
    says = {one.term: one.telling for one in terms}
    lengths = np.maximum(matches.lengths("body").astype(np.float64), 1)
    words = list(dict.fromkeys(typed(terms)))
    if not words:
        return np.zeros(len(lengths))
    each = np.sort([says[word] * matches.counts("body", word) / lengths for word in words], axis=0)
    shares = each[-MOST:].sum(axis=0)
    return np.where((lengths >= FEWEST_WORDS) & (shares >= STUFFED), np.minimum(shares, 1.0), 0.0)
