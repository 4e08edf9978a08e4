"""What a search does beside finding and weighing: result pages, searches within results, pages that are only
linked to, words of the thesaurus, better spellings."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from crawled import crawled, fetched, link

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, Unavailable
from webcrawler.index.follower import Follower
from webcrawler.records import Entry
from webcrawler.search import Searcher
from webcrawler.search.vocabulary import build
from webcrawler.search.vocabulary.stored import store
from webcrawler.text.reference import Reference

REFERENCE = Reference([("yeast", 0.001), ("genome", 0.001)])


def page(url: str, title: str, body: str, *links: tuple[str, str]) -> Entry:
    entry = fetched(url, *(link(target, anchor) for target, anchor in links), title=title)
    assert entry.text
    return replace(entry, text=entry.text._replace(body=body))


def searcher(folder: Path, *entries: Entry) -> Searcher:
    crawled(folder, *entries)
    with closing(Follower(folder)) as follower:
        follower.catch_up()
    return Searcher(folder, REFERENCE, deadline_seconds=60)


def named(folder: Path, **pages: str) -> Searcher:
    """Over one page for each of these servers, with that text."""
    return searcher(folder, *(page(f"http://{name}.test/", "Page", body) for name, body in pages.items()))


def urls(searcher: Searcher, query: str, **arguments: object) -> list[str]:
    return [hit.url for hit in searcher.search(query, **arguments).hits]  # type: ignore[arg-type]


# Result pages


def many(servers: Sequence[str]) -> list[Entry]:
    """One page each, all about yeast, the first the most."""
    return [
        page(f"http://{server}.test/{n}", "Page", "yeast " * (50 - n) + f"word{n} " * (n + 9))
        for n, server in enumerate(servers)
    ]


def test_result_pages_go_through_all_hits_without_repeating_one(tmp_path: Path) -> None:
    found = searcher(tmp_path, *many("abcdeabcdeabc"))

    pages = [urls(found, "yeast", limit=4, start=start) for start in (0, 4, 8, 12)]
    assert [len(page) for page in pages] == [4, 4, 4, 1]
    assert len({url for page in pages for url in page}) == 13
    assert [found.search("yeast", limit=4, start=start).more for start in (0, 8, 12)] == [True, True, False]


def test_relevance_is_in_proportion_to_the_best_hit_of_all_on_every_result_page(tmp_path: Path) -> None:
    found = searcher(tmp_path, *many("abcdef"))

    first, second = found.search("yeast", limit=3), found.search("yeast", limit=3, start=3)
    relevances = [hit.relevance for hit in first.hits + second.hits]
    assert relevances[0] == 1000 and relevances == sorted(relevances, reverse=True)


def test_a_third_hit_of_a_server_stands_behind_other_servers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webcrawler.search.display.FEW_SERVERS", 1)
    results = searcher(tmp_path, *many("aaaabc")).search("yeast", limit=4)

    assert [hit.url[7] for hit in results.hits] == ["a", "a", "b", "c"]
    assert [hit.from_server for hit in results.hits] == [0, 2, 0, 0]


@pytest.mark.parametrize("start", [-1, 1000, 10**9])
def test_a_start_out_of_range_is_bad_input(tmp_path: Path, start: int) -> None:
    with pytest.raises(BadInput, match="ask for 1 to 1000"):
        Searcher(tmp_path, REFERENCE).search("yeast", start=start)


# Searching within the results of a search (SV)


def test_a_search_within_results_finds_what_both_queries_find(tmp_path: Path) -> None:
    found = named(tmp_path, both="yeast genome bread", one="yeast bread", other="genome bread")

    assert urls(found, "genome", within=["yeast"]) == ["http://both.test/"]
    assert urls(found, "bread", within=["yeast", "genome"]) == ["http://both.test/"]


# Anchors belong to the page they point to (GO 2.2)


def test_a_page_that_was_never_fetched_is_found_by_what_links_to_it_say(tmp_path: Path) -> None:
    found = searcher(
        tmp_path,
        page("http://a.test/", "Home", "text", ("http://b.test/never", "sourdough starters")),
        page("http://c.test/", "Home", "text", ("http://b.test/never", "sourdough starters")),
        page("http://d.test/", "Home", "text", ("http://b.test/never", "see this on sourdough")),
    )

    (hit,) = found.search("sourdough", expand=False).hits[:1]
    assert (hit.url, hit.title) == ("http://b.test/never", "sourdough starters")
    assert (hit.fetched, hit.cached) == (0.0, False)
    assert hit.snippet == "sourdough starters · see this on sourdough"


def test_anchors_find_a_page_that_does_not_name_itself(tmp_path: Path) -> None:
    found = searcher(
        tmp_path,
        page("http://b.test/", "Welcome", "we make the best search engine"),
        page("http://a.test/", "Links", "text", ("http://b.test/", "Webcrawler")),
    )

    assert urls(found, "webcrawler")[0] == "http://b.test/"


@pytest.mark.parametrize(
    "gone",
    [
        fetched("http://b.test/", reason="not-found"),
        fetched("http://b.test/", reason="redirect", target="http://b.test/elsewhere"),
        replace(page("http://b.test/", "Secret", "sourdough"), noindex=True, text=None),
    ],
    ids=["not found", "redirect", "noindex"],
)
def test_what_is_no_document_to_show_is_not_shown_however_it_is_linked(tmp_path: Path, gone: Entry) -> None:
    links = page("http://a.test/", "Links", "text", ("http://b.test/", "sourdough starters"))

    assert "http://b.test/" not in urls(searcher(tmp_path, links, gone), "sourdough")


def test_link_finds_the_pages_that_link_to_a_url(tmp_path: Path) -> None:
    found = searcher(
        tmp_path,
        page("http://a.test/", "A", "text", ("http://c.test/x", "there")),
        page("http://b.test/", "B", "text", ("http://c.test/", "there")),
    )

    assert urls(found, "link:http://c.test/x") == ["http://a.test/"]
    assert urls(found, "link:c.test/x") == ["http://a.test/"]
    assert urls(found, "link:http://nowhere.test/") == []


# Words of the thesaurus, and spelling


@pytest.fixture
def bakery(tmp_path: Path) -> Searcher:
    """Where there is sourdough there is leaven; nobody but the last page says leaven alone."""
    recipes = [
        page(f"http://{n % 7}.test/{n}", f"Sourdough leaven {n}", f"sourdough leaven oven crust bread{n}")
        for n in range(40)
    ]
    others = [page(f"http://x{n % 7}.test/{n}", f"Stones {n}", f"granite basalt{n}") for n in range(40)]
    lonely = page("http://lonely.test/", "Leaven", "leaven alone")
    found = searcher(tmp_path, *recipes, *others, lonely)
    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:
        seq = catalog.last_seq()
        store(tmp_path / "vocabulary", build(catalog, seq), seq, catalog.identity)
    return found


def test_words_may_be_added(bakery: Searcher) -> None:
    assert "http://lonely.test/" not in urls(bakery, "sourdough", limit=100)
    assert urls(bakery, "sourdough", limit=100, add=["leaven"])[-1] == "http://lonely.test/"


def test_only_to_few_hits_the_thesaurus_adds_words_or_offers_them_where_it_may_not(bakery: Searcher) -> None:
    many, few = bakery.search("sourdough"), bakery.search("sourdough site:3.test")
    alone = bakery.search("sourdough site:3.test", expand=False)

    assert many.added == many.related == []
    assert few.added and few.related == []
    assert alone.added == [] and "leaven" in [word.spelled for word in alone.related]


@pytest.mark.parametrize(
    "query", ['"sourdough starter"', "title:sourdough site:3.test", "sourd* site:3.test"]
)
def test_the_thesaurus_widens_no_query_that_says_exactly_what_it_wants(bakery: Searcher, query: str) -> None:
    results = bakery.search(query)

    assert results.total < 10 and results.added == []


def test_however_many_words_are_to_be_added_only_some_are(bakery: Searcher) -> None:
    assert bakery.search("sourdough", add=["leaven " * 100_000] * 100).total == 41


def test_a_query_misspelled_beyond_doubt_is_answered_in_better_spellings(bakery: Searcher) -> None:
    results, meant = bakery.search("Sourdogh leaven"), bakery.search("sourdough leaven")

    assert (results.query, results.corrected) == ("Sourdogh leaven", "sourdough leaven")
    assert results.hits == meant.hits and results.total == meant.total
    assert results.did_you_mean == "" and meant.corrected == meant.did_you_mean == ""


def test_a_query_is_answered_as_typed_where_that_is_asked_for(bakery: Searcher) -> None:
    results = bakery.search("sourdogh leaven", exact=True, limit=100)

    assert (results.corrected, results.did_you_mean) == ("", "sourdough leaven")
    assert [hit.url for hit in results.hits] == urls(bakery, "leaven", limit=100)


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("+sourdogh leaven", "+sourdough leaven"),
        ("sourdogh basalt1", "sourdough basalt1"),
        # only of words that are looked for
        ("leaven site:sourdogh.test", ""),
        ("leaven link:http://x.test/sourdogh", ""),
        ("leaven -sourdogh", ""),
    ],
)
def test_better_spellings_that_are_in_doubt_are_only_offered(
    bakery: Searcher, typed: str, offered: str
) -> None:
    results = bakery.search(typed)

    assert (results.corrected, results.did_you_mean) == ("", offered)


@pytest.mark.parametrize(
    ("query", "found", "other"),
    [
        ("gcc -Wall", {"gcc", "wall"}, "gcc NOT Wall"),  # an option: some page has it
        ("-Wall", {"wall"}, "NOT Wall"),
        ("gcc -brick", {"wall"}, 'gcc "-brick"'),
        ("gcc NOT Wall", {"gcc"}, ""),
        ("gcc", {"gcc", "wall"}, ""),
        ("-brick", set(), '"-brick"'),
    ],
)
def test_a_word_with_a_dash_is_read_as_the_collection_has_it_and_the_other_reading_is_offered(
    tmp_path: Path, query: str, found: set[str], other: str
) -> None:
    pages = {"gcc": "gcc without flags on brick", "wall": "gcc -Wall flags", "make": "a wall of brick"}

    results = named(tmp_path, **pages).search(query, expand=False)

    assert {hit.url[7:-6] for hit in results.hits} == found
    assert results.other_reading == other
    assert ("was read as" in results.note) == bool(other)


CAPITALS = "in this query of capitals, AND, OR and NOT were read as words"


@pytest.mark.parametrize(
    ("query", "found", "note"),
    [
        # read as it stands where it finds something so
        ("BREAD OR SALMON", {"bread", "salmon"}, ""),
        ("SALMON AND RIVER", {"salmon"}, ""),
        ("FISH NOT RIVER", {"trout"}, ""),
        # else with the operators as words
        ("SALMON AND BREAD", {"bread", "salmon"}, CAPITALS),
        ("THE TREATMENT AND PRACTICAL USES OF BREAD AND SALMON", {"bread", "salmon"}, CAPITALS),
        ("SALMON NOT RIVER", {"salmon"}, CAPITALS),
        ("-TROUT SALMON AND BREAD", {"bread", "salmon"}, CAPITALS),
        # not all in capitals: somebody wrote an operator
        ("salmon AND bread", set(), ""),
        ("Salmon AND BREAD", set(), ""),
        # and nothing is found either way, or there is nothing to look for
        ("QUARTZ AND GRANITE", set(), "no page has QUARTZ, GRANITE"),
        ("+QUARTZ", set(), ""),
        ("NOT SALMON", set(), "the query only says what to leave out: add a word to look for"),
    ],
)
def test_operators_of_a_query_all_in_capitals_are_words_where_it_finds_nothing_else(
    tmp_path: Path, query: str, found: set[str], note: str
) -> None:
    shop = named(tmp_path, bread="bread yeast flour", salmon="salmon fish river", trout="trout fish lake")

    results = shop.search(query, expand=False)

    assert {hit.url[7:-6] for hit in results.hits} == found
    assert results.query == query
    assert (results.note == note) if note != CAPITALS else results.note.startswith(CAPITALS)
    assert len(shop.rank(query)) == len(found)
    for hit in results.hits:
        assert shop.explain(query, hit.number), "explained as it was read"


def test_words_that_no_page_has_are_named_where_others_are_found(bakery: Searcher) -> None:
    assert bakery.search("sourdough zzz qqq").note == "no page has zzz, qqq"
    assert bakery.search("zzz").note == ""  # no hits say so


def test_a_path_behind_site_is_said_to_be_left_out(bakery: Searcher) -> None:
    note = bakery.search("leaven site:http://3.test/a/b").note

    assert note == "site: looks at hosts only: a/b was left out"


def test_suggestions_are_whole_queries_that_begin_so(bakery: Searcher) -> None:
    suggested = bakery.suggest("sour")

    assert suggested and all("sour" in query.lower() for query in suggested)


# What is broken


def test_a_catalog_that_breaks_while_it_is_open_is_unavailable(tmp_path: Path) -> None:
    found = searcher(tmp_path, *many("abc"))
    assert found.search("yeast").total == 3

    with closing(sqlite3.connect(tmp_path / "catalog.sqlite")) as catalog:
        catalog.execute("DROP TABLE texts")
    with pytest.raises(Unavailable):
        found.search("yeast")


@pytest.mark.parametrize("damage", [b"", b"no catalog at all" * 100])
def test_a_catalog_that_cannot_be_opened_is_unavailable(tmp_path: Path, damage: bytes) -> None:
    searcher(tmp_path, *many("abc"))
    for path in tmp_path.glob("catalog.sqlite*"):
        path.unlink()
    (tmp_path / "catalog.sqlite").write_bytes(damage)

    with pytest.raises(Unavailable):
        Searcher(tmp_path, REFERENCE).search("yeast")


# Many searches, few moments


def test_the_generation_differs_after_each_commit_and_only_then(tmp_path: Path) -> None:
    found = searcher(tmp_path, page("http://a.test/", "A", "yeast"))
    before = found.generation
    assert found.generation == before

    searcher(tmp_path, page("http://b.test/", "B", "yeast"))
    assert found.generation != before


def test_a_ranking_for_evaluation_folds_and_hides_nothing(tmp_path: Path) -> None:
    found = searcher(tmp_path, *many("aaaaaa"))

    ranked = found.rank("yeast", limit=5)
    assert len(ranked) == 5
    assert [score for _, score in ranked] == sorted((score for _, score in ranked), reverse=True)


def test_what_is_served_for_evaluation_is_all_result_pages_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("webcrawler.search.display.FEW_SERVERS", 1)
    found = searcher(tmp_path, *many("aaaabcaaadeaafaa"))

    shown = [hit.number for start in range(0, 16, 3) for hit in found.search("yeast", 3, start=start).hits]

    assert found.served("yeast", limit=3) == shown
    assert shown != [number for number, _ in found.rank("yeast")], "servers are spread"


def test_what_is_served_for_evaluation_has_the_words_that_the_thesaurus_adds(bakery: Searcher) -> None:
    shown = bakery.search("sourdough site:3.test")

    assert shown.added
    assert bakery.served("sourdough site:3.test") == [hit.number for hit in shown.hits]
