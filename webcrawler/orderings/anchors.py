"""Which of a document's links is it? A small full-text index of its anchors, and the query run on it.

Source: Pinkerton 1994, "Real-time search mode"; weights as "The Database" and "The Query Server" have them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from webcrawler.orderings.topic import ALSO, Wanted, stems_of
from webcrawler.records import Link, Text
from webcrawler.text import english, terms


class Peculiar:
    """A query by peculiarity weighting, on a scale where a text of its most peculiar word alone has 1.

    Relevance = Σ over the words of the query of document weight times query weight, by the number of words,
    where a weight is a frequency over that in general English. So query and word decide what an occurrence
    counts, and the rest is its share of the text. Words of the thesaurus count ALSO of that, and never more
    than ALSO of the best word of the query.
    Weakness: the reference frequency divides twice, so the rarest word outweighs all others.

    Raises:
        BadInput: there is no word in the query, or stop words only.
    """

    def __init__(self, query: str, also: Sequence[str] = ()) -> None:
        wanted = Wanted.of(query, also)
        rarity = {stem: english().frequency(stem) ** -2 for stem in (*wanted.shares, *wanted.also)}
        values = {stem: times * rarity[stem] for stem, times in Counter(filter(None, wanted.phrase)).items()}
        best = max(values.values())
        self.values = {stem: ALSO * min(1.0, rarity[stem] / best) for stem in wanted.also}
        self.values |= {stem: value / best for stem, value in values.items()}

    def relevance(self, text: Text) -> float:
        """Of a page by the words of title and body: 0 to 1."""
        stems = stems_of(text)
        counts = Counter(stems)
        return sum(value * counts[stem] for stem, value in self.values.items()) / max(1, len(stems))


def search_anchors(links: Iterable[Link], query: Peculiar) -> dict[int, float]:
    """The links whose anchors have a word that is looked for, by URL id: relevance above 0, up to 1."""
    postings: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for link in links:
        stems = terms(link.anchor)
        for stem, times in Counter(stems).items():
            postings[stem].append((link.id, times / len(stems)))
    found: defaultdict[int, float] = defaultdict(float)
    for stem, value in query.values.items():
        for id, share in postings.get(stem, ()):
            found[id] += value * share
    return dict(found)
