"""Words that go with those of a query, by the thesaurus of the crawl's vocabulary."""

from __future__ import annotations

from collections.abc import Sequence

from webcrawler.search.results import Related
from webcrawler.search.vocabulary import Vocabulary
from webcrawler.text import Lexicon, parts
from webcrawler.text.query import AllOf, AnyOf, Changed, Is, Lang, Node, Not, Query, QueryTerm, Site, Word

WEIGHT = 0.3  # of an added word; a word that was typed has 1
_EACH = 3  # related words for a word of the query
_SHOWN = 8
_ALL = 20
_CHARACTERS = 200  # of a text of words to add


def added_terms(texts: Sequence[str], lexicon: Lexicon) -> list[QueryTerm]:
    """Return the terms of words to add to a query, of the first 20 words; function words add nothing."""
    found = [one for text in texts for one in lexicon.read(text[:_CHARACTERS])][:_ALL]
    return [QueryTerm(term, word, WEIGHT, added=True) for term, word in found if lexicon.telling(word)]


def may_widen(node: Node) -> bool:
    """Tell whether words may be added to this query: not to one that says exactly what it wants."""
    match node:
        case AllOf(nodes) | AnyOf(nodes):
            return all(map(may_widen, nodes))
        case Word(_, field):
            return not field
        case _:
            return isinstance(node, Site | Changed | Lang | Is | Not)


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
