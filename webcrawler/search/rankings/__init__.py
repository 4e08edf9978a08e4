"""The rankings by name; another one is a file in this package and a row in RANKINGS.

`bm25f`, the default, combines the fields of a page with what the page is called by itself and by others;
`pseudo_relevance` adds to it for queries that are sentences, and `nearness` where words stand together.
`hitlists` counts types of hits, and pairs of near ones (GO); `peculiarity` is WC's.

Commands, search page and evaluation read RANKINGS.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from webcrawler.errors import BadInput
from webcrawler.search.matches import Ranking, adding
from webcrawler.search.rankings.bm25f import BM25F
from webcrawler.search.rankings.hitlists import by_hits
from webcrawler.search.rankings.nearness import nearness
from webcrawler.search.rankings.peculiarity import Peculiarity
from webcrawler.search.rankings.pseudo_relevance import with_feedback
from webcrawler.text import Reference

DEFAULT = "bm25f"


class Row(NamedTuple):
    made_with: Callable[[Callable[[], Reference]], Ranking]
    help: str  # what counts in it


RANKINGS = {
    "bm25f": Row(
        lambda reference: adding(with_feedback(BM25F()), nearness),
        "words, how near they are, what links say and importance",
    ),
    "hitlists": Row(lambda reference: by_hits, "how large words stand, and how near each other"),
    "peculiarity": Row(
        lambda reference: Peculiarity(reference().frequency), "words that are rare in the language"
    ),
}


def make_ranking(name: str, reference: Callable[[], Reference]) -> Ranking:
    """Make a ranking for one answer.

    Args:
        reference: gives how frequent words are in general; called only where a ranking asks for it.
    Raises:
        BadInput: no ranking has this name.
    """
    if name not in RANKINGS:
        raise BadInput(f"no ranking is called {name!r}: choose one of {', '.join(RANKINGS)}")
    return RANKINGS[name].made_with(reference)
