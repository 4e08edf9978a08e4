"""From a query's tree to what the cluster is asked: exactly the pages that our own index would find.

A term may be several, joined by "|", as `text.lexicon` makes them: `news|fr:new` is one in any page, the
other in French ones. The cluster has our terms at our positions, so nothing is analysed, and spans are exact.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import inf
from typing import Any

from webcrawler import clock
from webcrawler.index import ANCHOR_POSITIONS, ENGLISH_FIELDS
from webcrawler.opensearch.documents import hexadecimal
from webcrawler.search import FIELDS, PART
from webcrawler.text import analysed, parts
from webcrawler.text.query import nodes
from webcrawler.urls import url_id

Dsl = dict[str, Any]
NONE: Dsl = {"match_none": {}}
CRAWLED: Dsl = {"term": {"crawled": True}}


def pages(node: nodes.Node, wanted: bool = True) -> Dsl:
    """Return the filter of the pages that satisfy a node; `wanted` is False within a Not."""
    match node:
        case nodes.AllOf(some):
            return _all(some, wanted)
        case nodes.AnyOf(some):
            return _any(some, wanted)
        case nodes.Not(inner):
            return {"bool": {"filter": [CRAWLED], "must_not": [pages(inner, not wanted)]}}
        case nodes.Word(term, field):
            return having([term], _in(field, wanted))
        case nodes.Phrase(terms, field, within):
            fields = [one for one in _in(field, wanted) if one != PART]
            return either(_phrase(one, terms, within) for one in fields)
        case nodes.Prefix(letters, field):
            return _prefix(letters, _in(field, wanted))
        case nodes.Site(host):
            return {"term": {"site": host}}
        case nodes.Link(url):
            return {"term": {"links": hexadecimal(url_id(url))}}
        case nodes.Changed():
            return changed(*node.times(clock.now()))
        case nodes.Lang(code):
            return {"term": {"language": code}}
        case nodes.Is(state):
            return {"term": {"crawled": state == "crawled"}}


def either(filters: Iterable[Dsl]) -> Dsl:
    """Return a filter of the pages that satisfy any of these."""
    some = [one for one in filters if one != NONE]
    return some[0] if len(some) == 1 else {"bool": {"should": some}} if some else NONE


def both(*filters: Dsl) -> Dsl:
    """Return a filter of the pages that satisfy all of these."""
    return {"bool": {"filter": list(filters)}}


def having(terms: Iterable[str], fields: Sequence[str]) -> Dsl:
    """Return the filter of the pages with any of some terms in any of some fields."""
    bare = defaultdict[str, list[str]](list)  # by language, "" is any
    for term in terms:
        for language, one in parts(term):
            bare[language].append(one)
    return either(_spoken(language, some, fields) for language, some in bare.items())


def _spoken(language: str, terms: list[str], fields: Sequence[str]) -> Dsl:
    """Return the filter of the pages that have any of these terms, if of a language, then in that one."""
    if not language:
        return either({"terms": {field: terms}} for field in fields)
    in_language = [field for field in fields if field not in ENGLISH_FIELDS]
    found = either({"terms": {field: terms}} for field in in_language)
    return found if found == NONE else both({"term": {"language": language}}, found)


def _in(field: str, wanted: bool) -> Sequence[str]:
    return (field,) if field else (*FIELDS, PART) if wanted else FIELDS


def _all(some: Sequence[nodes.Node], wanted: bool) -> Dsl:
    demanded = [pages(one, wanted) for one in some if not isinstance(one, nodes.Not)]
    excluded = [pages(one.node, not wanted) for one in some if isinstance(one, nodes.Not)]
    return {"bool": {"filter": demanded or [CRAWLED], "must_not": excluded}}


def _any(some: Sequence[nodes.Node], wanted: bool) -> Dsl:
    """Words that stand in the same fields are one list of terms: a cluster bounds the number of clauses."""
    words = defaultdict[str, list[str]](list)
    for one in some:
        if isinstance(one, nodes.Word):
            words[one.field].append(one.term)
    others = (pages(one, wanted) for one in some if not isinstance(one, nodes.Word))
    return either([*(having(terms, _in(field, wanted)) for field, terms in words.items()), *others])


def _phrase(field: str, terms: Sequence[str], within: int) -> Dsl:
    """In a page of a language, a word may be that of the language, too."""
    spoken = {language for term in terms for language, _ in parts(term) if language}
    languages = sorted(spoken) if field not in ENGLISH_FIELDS else []
    plain = near(field, terms, within, "")
    return either(
        [
            plain,
            *(both({"term": {"language": one}}, near(field, terms, within, one)) for one in languages),
        ]
    )


def near(field: str, terms: Sequence[str], within: int, language: str) -> Dsl:
    """Return the spans of terms, as a page of a language has them, next to or near each other."""
    clauses = [_span(field, [bare for of, bare in parts(term) if of in ("", language)]) for term in terms]
    if not all(clauses):
        return NONE
    if not within:
        return {"span_near": {"clauses": clauses, "slop": 0, "in_order": True}}
    # Words further apart than this are of two anchors.
    widest = min(within, ANCHOR_POSITIONS // 2) if field == "anchor" else within
    return {"span_near": {"clauses": clauses, "slop": widest + 1 - len(terms), "in_order": False}}


def _span(field: str, terms: Sequence[str]) -> Dsl:
    spans = [{"span_term": {field: term}} for term in terms]
    return spans[0] if len(spans) == 1 else {"span_or": {"clauses": spans}} if spans else {}


def _prefix(letters: str, fields: Sequence[str]) -> Dsl:
    """All terms that begin so, however many, and the stem of the letters."""
    stems = [term for term, _ in analysed([letters]) if not term.startswith(letters)]
    return either([*({"prefix": {field: letters}} for field in fields), having(stems, fields)])


def changed(since: float, until: float) -> Dsl:
    """Return the filter of the pages that changed then; one of which it is not known has 0."""
    bounds: Dsl = {"gte": since} if since > 0 else {"gt": 0}
    return {"range": {"changed": bounds if until == inf else bounds | {"lt": until}}}
