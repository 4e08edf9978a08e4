"""Words that may stand for the words of a query (WC, Future Work: "expansion" by a thesaurus)."""

from __future__ import annotations

from collections.abc import Sequence

from webcrawler.search.results import Related
from webcrawler.search.vocabulary import Vocabulary
from webcrawler.text import tokens_of, words
from webcrawler.text.query import AllOf, AnyOf, Node, Not, Query, QueryTerm, Site, Word

WEIGHT = 0.3  # of an added word, beside 1 for one that was typed
_EACH = 3  # related words for a word of the query
_SHOWN = 8
_ALL = 20
_CHARACTERS = 200  # of a text of words to add


def asked_for(spelled: Sequence[str]) -> list[QueryTerm]:
    """Words to add to a query, from how they are spelled, the first 20; stop words add nothing."""
    found = [word for text in spelled for word in words(text[:_CHARACTERS])][:_ALL]
    terms = zip(tokens_of(found), found, strict=True)
    return [QueryTerm(term, word, WEIGHT, added=True) for (term, _), word in terms if term]


def may_widen(node: Node) -> bool:
    """Whether further words serve this query: not one that says exactly what it wants."""
    match node:
        case AllOf(nodes) | AnyOf(nodes):
            return all(map(may_widen, nodes))
        case Word(_, field):
            return not field
        case _:
            return isinstance(node, Site | Not)


def related(query: Query, vocabulary: Vocabulary | None) -> list[Related]:
    """Words that the crawl uses like those of the query, strongest first; none that the query has."""
    if vocabulary is None:
        return []
    has = {one.term for one in query.terms}
    typed = {one.term: one.spelled for one in query.terms if not one.added}
    found = {
        stem: (strength, spelled, word)
        for term, word in typed.items()
        for stem, spelled, strength in vocabulary.related(term, _EACH)
        if stem not in has
    }
    best = sorted(found.values(), key=lambda one: -one[0])[:_SHOWN]
    return [Related(spelled, word, WEIGHT) for _, spelled, word in best]
