"""What raises or lowers pages whatever ranking is asked: their language, spam, never having been fetched.

No page is left out by any of these.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from webcrawler.index import Reading
from webcrawler.search.matches import Factor, Floats, Matches, typed
from webcrawler.text.query import QueryTerm

FOREIGN = 0.7  # by which the score of a page is multiplied that is in another language than the asker's,
PERHAPS_FOREIGN = 0.85  # and where the asker's is not known, in another than most pages
SPAM = 0.5  # by which the score of a stuffed page is multiplied: marks can be wrong
FEWEST_WORDS = 100  # of a text that can be stuffed: short ones name their subject often
# Share of a text that the MOST words of the query which it has most make up, from which on it is stuffed. On
# docweb, no three words make up more than .64 of a page: explanation/ranking.md.
STUFFED, MOST = 2 / 3, 3

Flags = NDArray[np.bool_]


def foreign(scores: Floats, matches: Matches, reading: Reading, language: str) -> Factor:
    """Lower pages in another language than the asker's, ISO 639, or, where it is "", than that of most."""
    spoken, factor = language or reading.main_language, FOREIGN if language else PERHAPS_FOREIGN
    worth = np.where(reading.foreign(spoken)[matches.pages], (factor - 1) * scores, 0.0)
    return Factor("language", f"another one than {spoken}: × {factor}", worth)


def spam(scores: Floats, matches: Matches, terms: Sequence[QueryTerm]) -> Factor:
    """Lower stuffed pages."""
    shares = stuffed(terms, matches)

    def why(place: int) -> str:
        return f"{shares[place]:.0%} of its words are of the query: × {SPAM:g}"

    return Factor("stuffed", why, np.where(shares > 0, (SPAM - 1) * scores, 0.0))


def stuffed(terms: Sequence[QueryTerm], matches: Matches) -> Floats:
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


def never_fetched(scores: Floats, crawled: Flags) -> Factor:
    """Lower pages that were never fetched below all others."""
    return Factor("never fetched", "ranks below pages that were", below(scores, crawled) - scores)


def below(scores: Floats, crawled: Flags) -> Floats:
    """Return the scores with those of uncrawled pages at most half of that of any crawled one."""
    if crawled.all() or not crawled.any():
        return scores
    most = max(float(scores[~crawled].max()), 0.0)
    floor = max(float(scores[crawled].min()), 0.0) / 2
    return np.where(crawled, scores, scores * floor / most) if most > floor else scores
