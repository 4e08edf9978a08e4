"""The rankings by name; another one is a file beside this one and a line here."""

from __future__ import annotations

from collections.abc import Callable

from webcrawler.errors import BadInput
from webcrawler.search.matches import Ranking
from webcrawler.search.peculiarity import Peculiarity
from webcrawler.search.reference import Reference

DEFAULT = "peculiarity"

RANKINGS: dict[str, Callable[[Reference], Ranking]] = {
    "peculiarity": lambda reference: Peculiarity(reference.frequency),
}


def make_ranking(name: str, reference: Reference) -> Ranking:
    """Raises BadInput for a name that no ranking has."""
    if name not in RANKINGS:
        raise BadInput(f"no ranking is called {name!r}: choose one of {', '.join(RANKINGS)}")
    return RANKINGS[name](reference)
