"""The reference domain: how often a word occurs in general English (WC, The Database)."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path

from webcrawler.errors import BadInput
from webcrawler.text.analysis import terms


class Reference:
    """Frequencies of stems: those of all words with that stem, summed.

    A stem that is not listed counts as often as the rarest word that is: the floor.
    """

    def __init__(
        self, words: Iterable[tuple[str, float]], unlisted: Callable[[str], float] = lambda stem: 0.0
    ) -> None:
        """Sum (word, frequency) pairs; `unlisted` gives the frequency of a stem that is not among them."""
        sums: defaultdict[str, float] = defaultdict(float)
        self.floor = math.inf
        for word, frequency in words:
            self.floor = min(self.floor, frequency)
            for stem in terms(word):
                sums[stem] += frequency
        self._sums = dict(sums)
        self._unlisted = unlisted

    def frequency(self, stem: str) -> float:
        """Return how often a stem occurs, more than 0: a share of all words where the source gives shares."""
        return self._sums.get(stem) or max(self._unlisted(stem), self.floor)


@cache
def english() -> Reference:
    """Return general English by wordfreq's small list: 29,000 words, each one in a million or more.

    Its large list goes down to one in a hundred million: 11 times as many words to analyse.
    Numbers are not listed one by one: wordfreq computes them.
    """
    import wordfreq  # takes 0.2 s: only a search has to wait for it

    listed: dict[str, float] = wordfreq.get_frequency_dict("en", "small")
    return Reference(listed.items(), lambda stem: float(wordfreq.word_frequency(stem, "en", "small")))


def load(path: Path) -> Reference:
    """Read lines of `word frequency`; shares or counts, as only their proportions matter.

    Raises:
        BadInput: the file is missing, empty, or a line is something else.
    """
    try:
        lines = path.read_text("utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"cannot read SEARCH_REFERENCE {path}: {error}") from None
    words = list[tuple[str, float]]()
    for number, line in enumerate(lines, 1):
        with suppress(ValueError):
            word, frequency = line.split()
            if 0 < float(frequency) < math.inf:
                words.append((word, float(frequency)))
                continue
        if line.strip():
            where = f"SEARCH_REFERENCE {path}, line {number}"
            raise BadInput(f"{where}: expected `word frequency`, got {line[:60]!r}")
    if not words:
        raise BadInput(f"SEARCH_REFERENCE {path} is empty: expected lines of `word frequency`")
    return Reference(words)
