"""The rankings by name; another one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Callable

from webcrawler.errors import BadInput
from webcrawler.search.matches import Ranking
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.search.rankings.feedback import Feedback
from webcrawler.search.rankings.hitlists import HitLists
from webcrawler.search.rankings.peculiarity import Peculiarity
from webcrawler.text import Reference

DEFAULT = "bm25f"

RANKINGS: dict[str, Callable[[Reference], Ranking]] = {
    "bm25f": lambda reference: Feedback(BM25F()),
    "hitlists": lambda reference: HitLists(),
    "peculiarity": lambda reference: Peculiarity(reference.frequency),
}


def make_ranking(name: str, reference: Reference) -> Ranking:
    """Raises BadInput for a name that no ranking has."""
    if name not in RANKINGS:
        raise BadInput(f"no ranking is called {name!r}: choose one of {', '.join(RANKINGS)}")
    return RANKINGS[name](reference)
