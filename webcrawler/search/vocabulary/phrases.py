"""What a query may be: phrases of titles and headings, titles, anchor texts. No files in here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from webcrawler.text import analysis

WORDS = 8  # of a completion
CHARACTERS = 80
REPEATED = 0.1  # a part of so large a share of a server's titles is the server's name, or a section's

# "re — Regular expression operations — Python 3.11 documentation", "Vector | Docs", "Home: FAQ"
_PARTS = re.compile(r"\s+[-–—|·•»:/]+\s+|:\s+|\s*[·•»]\s*")
_BREAKS = re.compile(rf"{_PARTS.pattern}|[,;.!?()]+(?:\s|$)|\s[(]")  # no phrase spans one
_SYNTAX = re.compile(r'["“”„«»()\[\]{}*~]|(?<!\S)[-+]+|[:;,.!?]+(?=\s|$)')


def phrases_of(lines: Iterable[str]) -> Iterator[str]:
    """Runs of two and three words that begin and end with a word that says something; lower case."""
    for line in (part for whole in lines for part in _BREAKS.split(whole)):
        words = analysis.words(line.lower())
        says = [bool(term) and len(term) > 1 for term, _ in analysis.tokens_of(words)]
        for start, says_something in enumerate(says):
            for end in (start + 2, start + 3):
                if says_something and end <= len(says) and says[end - 1]:
                    yield " ".join(words[start:end])


def distinct_titles(titles: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """The titles of a server's pages without the parts that many of them have; those left empty are not."""
    parts = [(number, _PARTS.split(title)) for number, title in titles]
    often = Counter(part for _, some in parts for part in set(some))
    limit = max(2, REPEATED * len(titles))
    kept = [(number, " ".join(part for part in some if often[part] <= limit)) for number, some in parts]
    return [(number, title) for number, title in kept if title.strip()]


def as_query(text: str) -> str:
    """The text as somebody may ask for it: nothing that the query language obeys; "" where that is none."""
    query = " ".join(_SYNTAX.sub(" ", text).split())
    if len(query) > CHARACTERS or "/" in query.strip("/") or "_" in query:
        return ""
    words = analysis.words(query)
    return query if len(words) <= WORDS and any(map(_says_something, words)) else ""


def _says_something(word: str) -> bool:
    term, _ = next(iter(analysis.tokens_of([word])))
    return len(term) > 1 and not term.isdecimal()
