"""How much is a page about a query, or like example pages?

Apart from the other orderings, as it needs the analysis of texts: who crawls by other modes does without.
Source: a study of our own, November 2026 (docs/explanation/adaptive-crawling.md): the score ranks pages that
are about a topic twice as well as the cosine, which rewards short pages with one word of the query.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import log, log1p, sqrt
from typing import NamedTuple

from webcrawler.errors import BadInput
from webcrawler.records import Text
from webcrawler.text import english, terms, tokens, words
from webcrawler.text.query import parse

QUERY_WORDS = 32  # the first ones count
COMMON = 1e-3  # share of all words; a word weighs ln(COMMON / its share), LEAST or more
SIGNS = frozenset(("AND", "OR", "NOT"))  # words that are signs of the query language
LEAST = 1.0  # the smallest weight of a word, in nats
ALSO = 0.3  # weight of a word of the thesaurus, as a share of the mean weight of the query's words

SIMILAR = 0.5  # from this score on, a document is similar to the query
TITLE = 0.9  # field weight of a title with all words of the query
PHRASE_HALF = 8  # saturation (k1): occurrences of the phrase that count half of the maximum
IN_TITLE = 0.5  # field weight of single words in the title
IN_BODY = 0.8  # field weight of single words in the body
WORD_HALF = 10  # saturation (k1): occurrences of a word that count half of the maximum


class Wanted(NamedTuple):
    """A query, analysed as documents are; `of` makes it."""

    shares: dict[str, float]  # stem of the query -> its share of the whole weight; they sum to 1
    also: dict[str, float]  # stems beside the query -> what each counts, ALSO of a mean stem's share
    phrase: tuple[str, ...]  # the stems in their order, "" for a stop word between two of them
    spelled: tuple[str, ...]  # the words as typed, in lower case, stop words left out
    joined: frozenset[str]  # neighbouring words as one: "fulltextsearch", "fulltext", "textsearch"

    @classmethod
    def of(cls, query: str, also: Sequence[str] = ()) -> Wanted:
        """Reads a query, which may be in the query language, and words to add to it.

        Raises:
            BadInput: there is no word in it, or stop words only.
        """
        plain = asked_for(query)
        found = list(zip([stem for stem, _ in tokens(plain)], words(plain), strict=True))
        places = [place for place, (stem, _) in enumerate(found) if stem]
        if not places:
            raise BadInput(
                f"the query {query[:100]!r} has no word to look for: "
                "give other ones than articles and the like"
            )
        found = found[places[0] : places[-1] + 1][:QUERY_WORDS]  # no stop words at either end
        weights = {stem: weight(stem) for stem, _ in found if stem}
        whole = sum(weights.values())
        extra = dict.fromkeys(stem for word in also for stem in terms(word) if stem not in weights)
        return cls(
            {stem: one / whole for stem, one in weights.items()},
            dict.fromkeys(extra, ALSO / len(weights)),
            tuple(stem for stem, _ in found),
            tuple(word.lower() for stem, word in found if stem),
            _joined([word for _, word in found]),
        )


@lru_cache(maxsize=100_000)
def weight(stem: str) -> float:
    """How rare a stem is in general English: ln(COMMON / its share of all words), LEAST or more."""
    return max(LEAST, log(COMMON / english().frequency(stem)))


def asked_for(query: str) -> str:
    """The words that a query asks for, if its signs leave some words out: `java` of `java -coffee`."""
    typed = " ".join(one.spelled for one in parse(query).terms)
    if SIGNS.isdisjoint(words(query)) and sorted(terms(typed)) == sorted(terms(query)):
        return query
    return typed


def _joined(spelled: Sequence[str]) -> frozenset[str]:
    """Stems of two or three neighbouring words written as one: "virtual host" may be "virtualhost"."""
    runs = [spelled[i : i + length] for length in (2, 3) for i in range(len(spelled) - length + 1)]
    return frozenset(stem for run in runs for stem in terms("".join(run)))


def page_score(wanted: Wanted, text: Text) -> float:
    """0 to 1: 1 - (1 - .9 t)(1 - p / (p + 8))(1 - .5 w²)(1 - .8 s²).

    t: 1 where all words of the query stand in the title, or it joined to one word. p: occurrences of the
    phrase. w: the share of the query in the title. s: that in the body, each word by tf / (tf + 10).
    A page without a title is judged by its first heading.

    Cost: about a millisecond for 5,000 words.
    """
    title = terms(text.title or text.headings.partition("\n")[0])
    body = [stem for stem, _ in tokens(text.body)]
    counts = Counter(body)
    is_titled = wanted.shares.keys() <= set(title) or not wanted.joined.isdisjoint(title)
    stems = [*wanted.shares, *wanted.also]
    phrases = occurrences(wanted, body, counts)
    in_title = share(wanted, dict.fromkeys(title, 1.0))
    in_body = share(wanted, {stem: n / (n + WORD_HALF) for stem in stems if (n := counts[stem])})
    return 1.0 - (
        (1.0 - TITLE * is_titled)
        * (1.0 - phrases / (phrases + PHRASE_HALF))
        * (1.0 - IN_TITLE * in_title**2)
        * (1.0 - IN_BODY * in_body**2)
    )


def stems_of(text: Text) -> list[str]:
    """Of title and body, which holds the headings."""
    return terms(f"{text.title}\n{text.body}")


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


# The mean cosine of two pages of one kind (7 topics and 4 sections of docweb small); of two others: 0.11.
OF_A_KIND = 0.33
SHARE = 0.9  # of the examples' own mean cosine, with which a page counts as similar
LEAST_ALIKE = 0.2  # such a cosine, where the examples have little in common


class Likeness:
    """The mean cosine of a page and each example, set against that of the examples with one another.

    SHARE of the latter gives SIMILAR: examples that differ let pages pass that differ as much. OF_A_KIND
    counts as one more example's, and is all that is known of a single one. Vectors are log(1 + tf) times the
    rarity of the stem in general English. The mean is the product with Rocchio's centroid.

    Weakness: the words of a server's navigation count like others; examples of several servers help.
    """

    def __init__(self) -> None:
        self._sum: dict[str, float] = {}  # of the examples' vectors
        self._number = 0

    def add(self, example: Text) -> None:
        """Learn one more example; one without words says nothing."""
        if found := vector(Counter(stems_of(example))):
            self._number += 1
            for stem, part in found.items():
                self._sum[stem] = self._sum.get(stem, 0.0) + part

    def score(self, text: Text) -> float:
        """0 to 1, SIMILAR and more for pages of the examples' kind; 0 without an example."""
        if not self._number:
            return 0.0
        found = vector(Counter(stems_of(text)))
        mean = sum(part * self._sum.get(stem, 0.0) for stem, part in found.items()) / self._number
        enough = max(LEAST_ALIKE, SHARE * self._among_examples())
        if mean < enough:
            return SIMILAR * mean / enough
        return min(1.0, SIMILAR + (1 - SIMILAR) * (mean - enough) / (1 - enough))

    def _among_examples(self) -> float:
        if self._number == 1:
            return OF_A_KIND
        pairs = sum(part * part for part in self._sum.values()) - self._number  # each has length 1
        return (OF_A_KIND + pairs / (self._number - 1)) / (1 + self._number)


def vector(counts: Mapping[str, int]) -> dict[str, float]:
    """Of length 1, for the stems of a text and how often each occurs; empty without stems."""
    weights = {stem: log1p(number) * weight(stem) for stem, number in counts.items()}
    length = sqrt(sum(part * part for part in weights.values()))
    return {stem: part / length for stem, part in weights.items()}
