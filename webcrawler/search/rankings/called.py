"""What a page is called, by itself and by others, tells of it beside all its text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from webcrawler.search.matches import Matches
from webcrawler.search.rankings.occurrences import normalised
from webcrawler.search.rankings.words import idf, idf_of

Floats = NDArray[np.float64]


class Name(NamedTuple):
    """A field that calls the page something."""

    called: str  # in an explanation
    weight: float  # idfs that a word of it can be worth at most
    b: float  # how far a word in a long name counts less
    most: float  # occurrences that count


# From the even half of the known items, and 201 navigational queries: explanation/ranking.md has the figures.
# A title that says its site twice calls the page by it once.
NAMES: Mapping[str, Name] = {
    "title": Name("what it calls itself", 1.0, 1.0, 1),
    "cited": Name("links of other servers", 1.5, 0.5, np.inf),
}


def called(name: str, words: Mapping[str, float], matches: Matches, of: Name) -> dict[str, Floats]:
    """What each of the weighted words adds by standing in a name.

    It is weight · coverage · query weight · idf · c / (1 + c), where idf is that in the names of all pages: a
    word of every text may be the name of one page only. c are its occurrences in a name of mean length.
    Coverage is the share of the query, by query weight · idf in texts, that the name holds: one word of it
    answers no sentence.
    """
    found = {word: normalised(name, word, of.b, matches, of.most) for word in words}
    shares = {word: weight * idf_of(word, matches) for word, weight in words.items()}
    held = np.zeros(len(matches.pages))
    for word, occurrences in found.items():
        held += shares[word] * (occurrences > 0)
    coverage = held / (sum(shares.values()) or 1)
    return {
        word: of.weight * coverage * words[word] * idf_in(name, word, matches) * c / (1 + c)
        for word, c in found.items()
    }


def idf_in(name: str, word: str, matches: Matches) -> float:
    return idf(matches.having(name, word), matches.documents)
