"""Which pairs of characters are no word where they stand? 京都 in 東京都, which is of 東京 and 都."""

from __future__ import annotations

from functools import cache, lru_cache

from webcrawler.text.analysis import is_unspaced

_LANGUAGES = ("ja", "zh")  # whose words stand side by side; wordfreq lists them


@lru_cache(maxsize=10_000)  # of the terms that visitors ask for there is no end
def overlapping(term: str) -> tuple[str, ...]:
    """Return the words that end with the first character of a word of two, and are more frequent.

    Where one of these stands, the other is hardly meant. () for terms that are no such word.
    """
    share = _shares().get(term) if len(term) == 2 and is_unspaced(term) else None
    if share is None:
        return ()
    return tuple(word for word, often in _shares().items() if word[1] == term[0] and often > share)


@cache
def _shares() -> dict[str, float]:
    """Return how frequent the words of two characters are."""
    import wordfreq  # takes 0.2 s: only a search in these languages has to wait for it

    lists = [wordfreq.get_frequency_dict(language, "small") for language in _LANGUAGES]
    return {word: share for listed in lists for word, share in listed.items() if len(word) == 2}
