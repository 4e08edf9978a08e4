"""A query in place of one that nobody typed: the words that example pages have, and other texts have not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from math import log

from webcrawler.records import Text
from webcrawler.text import english, tokens_of, words

WORDS = 6
CHARACTERS = 20_000  # of each text
HALF = 10  # occurrences that count half of all there is to count


def typical_words(texts: Sequence[Text], limit: int = WORDS) -> str:
    """The words of these texts that say most: frequent there, rare in general English; "" of no text."""
    counts, spelled = Counter[str](), dict[str, Counter[str]]()
    for text in texts:
        found = words(f"{text.title} {text.title} {text.body[:CHARACTERS]}")
        for (stem, _), word in zip(tokens_of(found), found, strict=True):
            if stem and not stem.isdecimal():
                counts[stem] += 1
                spelled.setdefault(stem, Counter())[word] += 1
    reference = english()
    weights = {stem: n / (n + HALF) * max(0.0, -log(reference.frequency(stem))) for stem, n in counts.items()}
    best = sorted(weights, key=lambda stem: (-weights[stem], stem))[:limit]
    return " ".join(spelled[stem].most_common(1)[0][0] for stem in best)
