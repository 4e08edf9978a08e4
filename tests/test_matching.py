"""Which pages satisfy a query: a real index beside a naive reading of the same pages."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_web import Page, Web, make_web

from webcrawler.search.masks import MAX_EXPANSIONS, Matched, match
from webcrawler.text import analysis
from webcrawler.text.query import QueryTerm, parse
from webcrawler.text.query.nodes import AllOf, AnyOf, Node, Not, Phrase, Prefix, Site, Word
from webcrawler.text.query.nodes import Link as Linking


def search(web: Web, text: str, late: Callable[[], bool] = lambda: False, enough: int = 10_000) -> Matched:
    return match(parse(text).root, web.reading, web.linking, late, enough)


def urls(web: Web, found: Matched) -> set[str]:
    return {url for url, number in web.numbers.items() if found.mask[number]}


# A naive reading


def satisfies(node: Node, page: Page, pages: tuple[Page, ...]) -> bool:
    """What each node means, word by word and page by page."""
    match node:
        case Word(term, field):
            return any(term in text for text in _texts(page, field, pages))
        case Prefix(letters, field):
            stem = [term for term, _ in analysis.analysed([letters])]
            words = {term for text in _texts(page, field, pages) for term in text}
            return any(term.startswith(letters) or term in stem for term in words if term)
        case Phrase(terms, field, 0):
            return any(_reads(terms, text) for text in _texts(page, field, pages))
        case Phrase(terms, field, within):
            return any(_are_near(terms, text, within) for text in _texts(page, field, pages))
        case Site(host):
            name = page.url.split("/")[2]
            return name == host or f".{name.partition(':')[0]}".endswith(f".{host}")
        case Linking(url):
            return page.body is not None and any(target == url for target, _ in page.links)
        case AllOf(nodes):
            return all(
                not satisfies(one.node, page, pages) if isinstance(one, Not) else satisfies(one, page, pages)
                for one in nodes
            ) and (page.body is not None or not all(isinstance(one, Not) for one in nodes))
        case AnyOf(nodes):
            return any(satisfies(one, page, pages) for one in nodes)
        case Not(inner):
            return page.body is not None and not satisfies(inner, page, pages)
    return False


def _texts(page: Page, field: str, pages: tuple[Page, ...]) -> list[list[str]]:
    """The terms of all texts of a page that a field stands for."""
    anchors = [anchor for other in pages for target, anchor in other.links if target == page.url]
    own = [page.title, page.body, page.meta, page.url.partition("://")[2]] if page.body is not None else []
    chosen = own[:1] if field == "title" else [*own, *anchors]
    return [[term for term, _ in analysis.analysed(analysis.words(text or ""))] for text in chosen]


def _reads(terms: tuple[str, ...], text: list[str]) -> bool:
    return any(tuple(text[start : start + len(terms)]) == terms for start in range(len(text)))


def _are_near(terms: tuple[str, ...], text: list[str], within: int) -> bool:
    places = [[place for place, term in enumerate(text) if term == wanted] for wanted in terms]
    return any(max(chosen) - min(chosen) <= within for chosen in product(*places))


# Random pages


WORDS = ["ka", "kab", "kabu", "mi", "mino", "tora", "the", "Lenses"]
HOSTS = ["a.test", "sub.a.test", "b.test:8080"]
SEEDS = [1, 2, 3]


def _random_pages(seed: int) -> list[Page]:
    chance = random.Random(seed)

    def text(most: int) -> str:
        return " ".join(chance.choices(WORDS, k=chance.randint(0, most)))

    names = [f"http://{chance.choice(HOSTS)}/{chance.choice(WORDS)}-{n}" for n in range(40)]
    pages = []
    for url in names[:30]:
        others = [other for other in names if other != url]
        links = tuple((target, text(3)) for target in chance.sample(others, chance.randint(0, 3)))
        pages.append(Page(url, text(3), text(10), text(2), links))
    named = {target for page in pages for target, anchor in page.links if analysis.terms(anchor)}
    return pages + [Page(url) for url in names[30:] if url in named]


@pytest.fixture(scope="module", params=SEEDS)
def web(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Web:
    return make_web(tmp_path_factory.mktemp("web"), _random_pages(request.param))


_WORD = st.sampled_from(WORDS)
_SEVERAL = st.lists(_WORD, min_size=1, max_size=3).map(" ".join)
_LEAF = st.one_of(
    _WORD,
    _SEVERAL.map('"{}"'.format),
    st.builds('"{}"~{}'.format, _SEVERAL, st.integers(1, 5)),
    st.builds("{}~{} {}".format, _WORD, st.integers(1, 99), _WORD),
    st.sampled_from(["ka*", "kab*", "lenses*", "the*", "title:mi*"]),
    st.builds("title:{}".format, _WORD),
    st.sampled_from(["a.test", "sub.a.test", "b.test:8080", "b.test", "c.test"]).map("site:{}".format),
    st.integers(0, 40).map("link:a.test/ka-{}".format),
)
QUERIES = st.recursive(
    _LEAF,
    lambda inner: st.one_of(
        *(st.lists(inner, min_size=2, max_size=3).map(sign.join) for sign in (" ", " OR ", " AND ")),
        *(inner.map(form.format) for form in ("+({})", "-({})", "({})")),
    ),
    max_leaves=8,
)


@pytest.mark.slow
@given(text=QUERIES)
def test_pages_found_are_those_that_satisfy_the_query(web: Web, text: str) -> None:
    found, root = search(web, text), parse(text).root

    assert urls(web, found) == {page.url for page in web.pages if satisfies(root, page, web.pages)}
    assert not found.partial and not found.short


@given(text=QUERIES, looks=st.integers(0, 30))
def test_partial_answer_holds_only_pages_of_the_whole(web: Web, text: str, looks: int) -> None:
    left = iter(range(looks))

    found = search(web, text, late=lambda: next(left, None) is None)

    assert urls(web, found) <= urls(web, search(web, text))
    assert found.partial or urls(web, found) == urls(web, search(web, text))


@given(text=QUERIES, enough=st.integers(0, 10))
def test_short_answer_holds_only_pages_of_the_whole(web: Web, text: str, enough: int) -> None:
    found = search(web, text, enough=enough)

    assert urls(web, found) <= urls(web, search(web, text))
    assert found.short or urls(web, found) == urls(web, search(web, text))
    assert not found.short or found.mask.sum() >= enough


# Some pages worked out by hand


PAGES = [
    Page(
        "http://a.test/helix",
        "The double helix",
        "DNA is a double-stranded helix. A guide to DNA repair.",
        links=(("http://b.test/unseen", "yeast"), ("http://a.test/stairs", "spiral stairs")),
    ),
    Page(
        "http://a.test/stairs",
        "Stairs",
        "A helix of stairs, double the price.",
        links=(("http://b.test/unseen", "genome"), ("http://a.test/helix", "biology of the cell")),
    ),
    Page("http://sub.a.test/cooking", "Cooking", "molecular cooking", "steam and sourdough"),
    Page("http://b.test/unseen"),
]
HELIX, STAIRS, COOKING, UNSEEN = (page.url for page in PAGES)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Web:
    return make_web(tmp_path_factory.mktemp("small"), PAGES)


FOUND = [
    # a plain word may stand in title, body, description, URL or the anchor of an in-link
    ("stranded", {HELIX}),
    ("sourdough", {COOKING}),
    ("cell", {HELIX}),
    ("unseen", set()),  # of a page that was never fetched only anchors are known
    ("yeast", {UNSEEN}),
    ("title:helix", {HELIX}),
    ("title:spiral", set()),
    # a phrase stands in one field, and in one anchor
    ('"double helix"', {HELIX}),
    ('"helix dna"', set()),
    ('"guide to DNA"', {HELIX}),
    ('"guide DNA"', set()),  # every word has its place
    ('"biology of the cell"', {HELIX}),
    ('"yeast genome"', set()),
    # in any order
    ('"price stairs"~3', {STAIRS}),
    ("price~2 stairs", set()),
    ("yeast~1000 genome", set()),
    # exclusions
    ("helix -price", {HELIX}),
    ("-helix OR yeast", {COOKING, UNSEEN}),
    ("yeast -genome", set()),
    # places
    ("site:a.test -site:sub.a.test", {HELIX, STAIRS}),
    ("site:b.test", {UNSEEN}),
    ("link:b.test/unseen", {HELIX, STAIRS}),
    ("-link:b.test/unseen site:a.test", {COOKING}),
    ("link:c.test", set()),
    # prefixes
    ("mol*", {COOKING}),
    ("biology*", {HELIX}),  # the index has stems
    ("zz*", set()),
]


@pytest.mark.parametrize(("text", "expected"), FOUND)
def test_query_finds_these_pages(small: Web, text: str, expected: set[str]) -> None:
    assert urls(small, search(small, text)) == expected


def test_nothing_is_read_after_the_deadline(small: Web) -> None:
    found = search(small, "helix OR -helix OR link:b.test/unseen OR mol* OR site:a.test", late=lambda: True)

    assert found.partial and not found.mask.any()


SHORT = [
    ("stairs", 1, {STAIRS}),
    ("helix", 1, {HELIX}),  # it stands in the body of stairs, too
    ("helix -guide", 0, set()),  # what is excluded is looked for in all fields
]


@pytest.mark.parametrize(("text", "enough", "expected"), SHORT)
def test_pages_with_all_words_in_title_or_anchors_are_enough(
    small: Web, text: str, enough: int, expected: set[str]
) -> None:
    found = search(small, text, enough=enough)

    assert found.short and urls(small, found) == expected
    assert not search(small, "helix stairs", enough=1).short


def test_words_that_a_prefix_stands_for_are_weighed_together_as_half_a_word(small: Web) -> None:
    the_most_frequent_first = ("stair", "steam", "strand")
    weighed = tuple(QueryTerm(term, term, 0.5 / 3, added=True) for term in the_most_frequent_first)

    assert search(small, "st*").terms == weighed
    assert not search(small, "helix -st*").terms


def test_prefix_stands_for_a_hundred_terms(tmp_path: Path) -> None:
    pages = [Page(f"http://a.test/{n}", "", f"word{n:03}") for n in range(2 * MAX_EXPANSIONS)]

    found = search(make_web(tmp_path, pages), "word*")

    assert found.mask.sum() == MAX_EXPANSIONS
    assert sum(one.weight for one in found.terms) == pytest.approx(0.5)
