"""The rankings by name; another one is a file beside this one and a row here.

Commands, search page and evaluation read this table.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from webcrawler.errors import BadInput
from webcrawler.search.matches import Ranking
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.search.rankings.feedback import Feedback
from webcrawler.search.rankings.hitlists import HitLists
from webcrawler.search.rankings.peculiarity import Peculiarity
from webcrawler.text import Reference

DEFAULT = "bm25f"


class Row(NamedTuple):
    """A ranking that can be chosen by its name."""

    made_with: Callable[[Reference], Ranking]
    help: str  # what counts in it


RANKINGS = {
    "bm25f": Row(lambda reference: Feedback(BM25F()), "words, what links say and importance"),
    "hitlists": Row(lambda reference: HitLists(), "how large words stand, and how near each other"),
    "peculiarity": Row(lambda reference: Peculiarity(reference.frequency), "words that are rare in English"),
}


def make_ranking(name: str, reference: Reference) -> Ranking:
    """
    Args:
        reference: how common words are elsewhere.
    Raises:
        BadInput: no ranking has this name.
    """
    if name not in RANKINGS:
        raise BadInput(f"no ranking is called {name!r}: choose one of {', '.join(RANKINGS)}")
    return RANKINGS[name].made_with(reference)
