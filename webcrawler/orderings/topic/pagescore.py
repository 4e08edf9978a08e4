"""How much is a page about a query?

Source: a study of our own, November 2026 (docs/explanation/adaptive-crawling.md): it ranks pages that are
about a topic twice as well as the cosine, which rewards short pages with one word of the query.
"""

from __future__ import annotations

from collections import Counter

from webcrawler.orderings.topic.wanted import Wanted
from webcrawler.records import Text
from webcrawler.text import terms, tokens

SIMILAR = 0.5  # from this score on, a document is similar to the query
TITLE = 0.9  # what a title with all words of the query counts
PHRASE_HALF = 8  # occurrences of the phrase that count half of what any number does
IN_TITLE = 0.5  # what some words in the title count
IN_BODY = 0.8  # what words in the body count
WORD_HALF = 10  # occurrences of a word that count half


def similarity(wanted: Wanted, text: Text) -> float:
    """0 to 1: 1 - (1 - .9 t)(1 - p / (p + 8))(1 - .5 w²)(1 - .8 s²).

    t: 1 where all words of the query stand in the title, or it joined to one word. p: occurrences of the
    phrase. w: the share of the query in the title. s: that in the body, each word by tf / (tf + 10).
    A page without a title is judged by its first heading.

    Cost: about a millisecond for 5,000 words.
    """
    title = terms(title_of(text))
    body = [stem for stem, _ in tokens(text.body)]
    counts = Counter(body)
    is_titled = wanted.shares.keys() <= set(title) or not wanted.joined.isdisjoint(title)
    phrases = occurrences(wanted, body, counts)
    in_title = share(wanted, dict.fromkeys(title, 1.0))
    in_body = share(wanted, {stem: n / (n + WORD_HALF) for stem in _all(wanted) if (n := counts[stem])})
    return 1.0 - (
        (1.0 - TITLE * is_titled)
        * (1.0 - phrases / (phrases + PHRASE_HALF))
        * (1.0 - IN_TITLE * in_title**2)
        * (1.0 - IN_BODY * in_body**2)
    )


def stems_of(text: Text) -> list[str]:
    """Of title and body, which holds the headings."""
    return terms(f"{text.title}\n{text.body}")


def title_of(text: Text) -> str:
    return text.title or text.headings.partition("\n")[0]


def share(wanted: Wanted, strengths: dict[str, float]) -> float:
    """How much of the query is there, 0 to 1; `strengths` says how much of each stem is, 0 to 1."""
    own = sum(part * strengths.get(stem, 0.0) for stem, part in wanted.shares.items())
    return min(1.0, own + sum(part * strengths.get(stem, 0.0) for stem, part in wanted.also.items()))


def occurrences(wanted: Wanted, body: list[str], counts: Counter[str]) -> int:
    """How often the words of the query stand together in their order, or joined to one word."""
    phrase = list(wanted.phrase)
    found, at = sum(counts[stem] for stem in wanted.joined), -1
    for _ in range(counts[phrase[0]]):
        at = body.index(phrase[0], at + 1)
        found += body[at : at + len(phrase)] == phrase
    return found


def _all(wanted: Wanted) -> list[str]:
    return [*wanted.shares, *wanted.also]
