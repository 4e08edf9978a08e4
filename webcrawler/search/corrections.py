"""Other words for a query: better spellings, and words that go with its own.

What is better is told by the collection itself: a correction is good where pages have it together with the
other words, and words go together by the thesaurus of the crawl's vocabulary.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from math import log
from typing import NamedTuple

from webcrawler.search.results import Related
from webcrawler.search.vocabulary import Correction, Vocabulary
from webcrawler.text import Lexicon, parts
from webcrawler.text.query import Query, QueryTerm, nodes

MAX_CORRECTED = 3  # words of a query; of more, it is not known what language they are
RARER = 100  # how many times as many pages a correction has to find as a word that some page has
CLEARER = 10.0  # how many times as likely as the next one
EDITS_COST = 7.5  # one edit, at the first letter too; more in long words only
LONG, SHORT = 8, 6  # characters
OFTEN = 10  # pages that have the correction of a short word: many names are near to a short one
WEIGHT = 0.3  # of an added word; a word that was typed has 1
_EACH = 3  # related words for a word of the query
_SHOWN = 8
_ALL = 20
_CHARACTERS = 200  # of a text of words to add


class Corrected(NamedTuple):
    text: str  # "" where no better spelling is known
    certain: bool = False  # may be answered without asking


def corrected(query: Query, vocabulary: Vocabulary | None, found: Callable[[str], int]) -> Corrected:
    """Return the query in better spellings.

    It is certain only where each word was typed by itself (no quotes, sign or field), its correction finds
    far more pages together with the query's other words than the word does, and no other comes near.

    Args:
        found: tells how many pages have all words of a query, but for those that no page has.
    """
    if vocabulary is None:
        return Corrected("")
    typed = dict.fromkeys(one.spelled for one in query.terms if not one.added)
    choices = {word: some for word in typed if (some := vocabulary.corrections(word))}
    choices = {word: some for word, some in choices.items() if _places(word).search(query.text)}
    chosen = {word: some[0].word for word, some in choices.items()}
    certain = 0 < len(choices) <= MAX_CORRECTED
    for word, some in choices.items() if certain else ():
        texts = [_replaced(query.text, chosen | {word: one.word}) for one in some]
        # The vocabulary may be older than the index: a word that no page has any more would not count.
        counts = [found(text) if found(one.word) else 0 for text, one in zip(texts, some, strict=True)]
        before = found(_replaced(query.text, chosen | {word: word})) if found(word) else 0
        best, is_clear = _best(some, counts, before)
        chosen[word] = some[best].word
        certain = certain and is_clear and len(_places(word).findall(query.text)) == query.plain.count(word)
    return Corrected(_replaced(query.text, chosen) if chosen else "", certain)


def _best(choices: Sequence[Correction], found: Sequence[int], before: int) -> tuple[int, bool]:
    """Return the place of the likeliest, and whether it is beyond doubt."""
    if not any(found):
        return 0, False
    likely = [log(pages or 0.1) - one.cost for one, pages in zip(choices, found, strict=True)]
    first, *others = sorted(range(len(choices)), key=lambda place: -likely[place])
    best, pages = choices[first], found[first]
    near = best.cost <= EDITS_COST or len(best.word) >= LONG
    clear = all(likely[first] - likely[other] >= log(CLEARER) for other in others)
    enough = pages > RARER * before and (pages >= OFTEN or len(best.word) >= SHORT)
    return first, near and clear and enough


def _replaced(text: str, chosen: Mapping[str, str]) -> str:
    for word, better in chosen.items():
        text = _places(word).sub(better, text)
    return text


def _places(word: str) -> re.Pattern[str]:
    """Where a word stands by itself: not in a name in code, a URL or a field, not excluded."""
    return re.compile(rf"(?<![\w.:/-]){re.escape(word)}(?![\w:/]|[.]\w)", re.IGNORECASE)


def added_terms(texts: Sequence[str], lexicon: Lexicon) -> list[QueryTerm]:
    """Return the terms of words to add to a query, of the first 20 words; function words add nothing."""
    found = [one for text in texts for one in lexicon.read(text[:_CHARACTERS])][:_ALL]
    return [QueryTerm(term, word, WEIGHT, added=True) for term, word in found if lexicon.telling(word)]


def may_widen(node: nodes.Node) -> bool:
    """Tell whether words may be added to this query: not to one that says exactly what it wants."""
    match node:
        case nodes.AllOf(parts) | nodes.AnyOf(parts):
            return all(map(may_widen, parts))
        case nodes.Word(_, field):
            return not field
        case _:
            return isinstance(node, nodes.Site | nodes.Changed | nodes.Lang | nodes.Is | nodes.Not)


def related(query: Query, vocabulary: Vocabulary | None) -> list[Related]:
    """Return words that the crawl uses as it uses those of the query, strongest first (WC, "expansion")."""
    if vocabulary is None:
        return []
    known = {bare for one in query.terms for _, bare in parts(one.term)}
    typed = {one.term.partition("|")[0]: one.spelled for one in query.terms if not one.added}
    found = {
        stem: (strength, spelled, word)
        for term, word in typed.items()
        for stem, spelled, strength in vocabulary.related(term, _EACH)
        if stem not in known
    }
    best = sorted(found.values(), key=lambda one: -one[0])[:_SHOWN]
    return [Related(spelled, word, WEIGHT) for _, spelled, word in best]
