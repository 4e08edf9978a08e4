"""Searching a real catalog through a real index: what is found, in which order, and how it is shown."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import searched
from conftest import Run
from hypothesis import given
from hypothesis import strategies as st
from inprocess import PROJECT
from scrapy.cmdline import execute
from searched import FETCHED, Row
from test_commands import assert_told_off

from webcrawler.archive.catalog import Catalog
from webcrawler.background import hold_crawl
from webcrawler.errors import BadInput
from webcrawler.index.follower import Follower
from webcrawler.records import Entry
from webcrawler.search import Searcher
from webcrawler.search.rankings import DEFAULT, RANKINGS
from webcrawler.search.snippets import MAX_CHARACTERS, WORDS, Snippets
from webcrawler.text.reference import Reference

REFERENCE = Reference([("molecular", 0.001), ("biology", 0.002), ("yeast", 0.0001)])

PAGES: list[Row] = [
    # the three documents that test_peculiarity.py weighs by hand, for "molecular biology"
    ("http://a.test/1", "Molecular biology", "Genes and proteins"),
    ("http://a.test/2", "Biology", "biology of the garden"),
    ("http://b.test/3", "Cooking", "molecular cooking with steam"),
    # phrases, titles, sites
    ("http://sub.b.test/helix", "The double helix", "DNA is a double-stranded helix. A guide to DNA repair."),
    ("http://sub.b.test/stairs", "Stairs", "A helix of stairs, double the price. DNA guide."),
    ("http://c.test:8080/twin-1", "Twin", "yeast genome"),
    ("http://c.test:8080/twin-2", "Twin", "yeast genome"),
    ("http://c.test:8080/untitled", "", "Sourdough rises"),
]


def entry(row: Row, fetched: float = FETCHED) -> tuple[Entry, None]:
    made = searched.entry(row, fetched=fetched)
    headings = "" if row[1] else "Rising dough\nSecond"
    return replace(made, text=made.text._replace(headings=headings)), None


def publish(crawl_dir: Path, rows: Iterable[Row], fetched: float = FETCHED) -> None:
    """Write documents to the catalog and let the follower catch up."""
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.write([entry(row, fetched) for row in rows])
    with closing(Follower(crawl_dir)) as follower:
        follower.catch_up()


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("crawl")
    publish(folder, PAGES[:4])
    publish(folder, PAGES[4:])  # a segment of its own
    return folder


@pytest.fixture(scope="module")
def searcher(crawl_dir: Path) -> Searcher:
    return Searcher(crawl_dir, REFERENCE, deadline_seconds=60)


def found(searcher: Searcher, query: str, ranking: str = DEFAULT) -> list[str]:
    return [hit.url.removeprefix("http://") for hit in searcher.search(query, ranking=ranking).hits]


def test_best_hit_has_relevance_1000_and_the_others_are_in_proportion(searcher: Searcher) -> None:
    results = searcher.search("molecular biology", ranking="peculiarity")

    # as in test_peculiarity.py, but these texts have function words, which make them longer
    assert [(hit.url, hit.relevance) for hit in results.hits] == [
        ("http://a.test/1", 1000),
        ("http://b.test/3", 800),
        ("http://a.test/2", 400),
    ]
    assert results.total == 3


@pytest.mark.parametrize("ranking", RANKINGS)
def test_the_parts_of_an_explanation_make_up_the_order(searcher: Searcher, ranking: str) -> None:
    results = searcher.search("molecular biology", ranking=ranking, explain=True)

    sums = [sum(part.contribution for part in parts) for parts in results.explanations]
    assert len(sums) == 3 and sums == sorted(sums, reverse=True)
    assert [hit.relevance for hit in results.hits] == [round(1000 * score / sums[0]) for score in sums]


def test_a_page_is_explained_alone_as_among_the_others(searcher: Searcher) -> None:
    results = searcher.search("molecular biology", explain=True)

    alone = [searcher.explain("molecular biology", hit.number) for hit in results.hits]
    assert alone == results.explanations
    assert searcher.explain("sourdough", results.hits[0].number) == []


def test_nothing_is_explained_that_nobody_asked_for(searcher: Searcher) -> None:
    assert searcher.search("molecular biology").explanations == []


FOUND = [
    # plain words: some or all
    ("gardens", {"a.test/2"}),
    ("molecular garden", {"a.test/1", "b.test/3", "a.test/2"}),
    # demanded and excluded
    ("+molecular biology", {"a.test/1", "b.test/3"}),
    ("+molecular +biology", {"a.test/1"}),
    ("biology -molecular", {"a.test/2"}),
    ("molecular OR garden -cooking", {"a.test/1", "a.test/2"}),
    ("+dna +stairs OR stranded", {"sub.b.test/helix", "sub.b.test/stairs"}),
    # phrases stand in one field; a stop word keeps its place
    ('"double helix"', {"sub.b.test/helix"}),
    ('"helix double"', set()),
    ('"guide to DNA"', {"sub.b.test/helix"}),
    ('"DNA guide"', {"sub.b.test/stairs"}),
    ('helix -"double helix"', {"sub.b.test/stairs"}),
    ('"cooking molecular"', set()),  # last word of the title, first of the body
    # fields
    ("title:helix", {"sub.b.test/helix"}),
    ('title:"double helix" garden', {"sub.b.test/helix"}),
    ("helix -title:helix", {"sub.b.test/stairs"}),
    ("molecular site:b.test", {"b.test/3"}),
    ("helix molecular site:b.test", {"b.test/3", "sub.b.test/helix", "sub.b.test/stairs"}),  # and below it
    ("helix site:test", {"sub.b.test/helix", "sub.b.test/stairs"}),
    ("helix site:st", set()),  # only whole labels
    ("yeast site:c.test:8080", {"c.test:8080/twin-1", "c.test:8080/twin-2"}),
    ("yeast site:c.test", {"c.test:8080/twin-1", "c.test:8080/twin-2"}),
    ("yeast site:c.test:80", set()),
    ("molecular -site:b.test", {"a.test/1"}),
    ("molecular site:nowhere.test", set()),
    # words that stand nowhere
    ("unheardof", set()),
    ("yeast unheardof", {"c.test:8080/twin-1", "c.test:8080/twin-2"}),
    ("+yeast +unheardof", set()),
]


@pytest.mark.parametrize(("query", "urls"), FOUND)
def test_query_finds_these_documents(searcher: Searcher, query: str, urls: set[str]) -> None:
    assert set(found(searcher, query)) == urls
    assert searcher.search(query).total == len(urls)


def test_tie_is_decided_by_page_number_also_after_the_older_page_was_fetched_again(tmp_path: Path) -> None:
    publish(tmp_path, PAGES[5:7])
    publish(tmp_path, PAGES[5:6], fetched=FETCHED + 1)  # now the last document of the index
    searcher = Searcher(tmp_path, REFERENCE)

    assert found(searcher, "yeast") == ["c.test:8080/twin-1", "c.test:8080/twin-2"]
    assert [hit.url for hit in searcher.search("yeast", limit=1).hits] == ["http://c.test:8080/twin-1"]


def test_limit_bounds_the_hits_and_not_the_total(searcher: Searcher) -> None:
    results = searcher.search("molecular biology", limit=2)

    assert (len(results.hits), results.total) == (2, 3)


@pytest.mark.parametrize("limit", [0, -1, 10**9])
def test_limit_out_of_range_is_bad_input(searcher: Searcher, limit: int) -> None:
    with pytest.raises(BadInput, match="1 to 1000"):
        searcher.search("yeast", limit=limit)


@pytest.mark.parametrize(
    ("title", "shown"),
    [
        ("word " * 39 + "words", "word " * 39 + "words"),  # of 200 characters
        ("word " * 2_000, "word " * 39 + "word…"),
        ("x" * 5_000, "x" * 199 + "…"),
        ("a " + "x" * 5_000, "a " + "x" * 197 + "…"),  # no word ends in the second half
    ],
)
def test_a_long_title_is_cut_where_it_is_shown(tmp_path: Path, title: str, shown: str) -> None:
    publish(tmp_path, [("http://a.test/", title, "quokka")])

    (hit,) = Searcher(tmp_path, REFERENCE).search("quokka").hits

    assert hit.title == shown


def test_a_long_title_is_searched_as_a_whole(tmp_path: Path) -> None:
    publish(tmp_path, [("http://a.test/", "word " * 2_000 + "quokka", "")])

    assert found(Searcher(tmp_path, REFERENCE), "title:quokka") == ["a.test/"]


def test_missing_or_empty_index_gives_no_hits_and_one_line_why(tmp_path: Path) -> None:
    missing = Searcher(tmp_path, REFERENCE).search("yeast")
    publish(tmp_path, [])
    empty = Searcher(tmp_path, REFERENCE).search("yeast")

    for results in (missing, empty):
        assert (results.total, results.hits) == (0, [])
        assert "nothing is indexed" in results.note


def test_open_searcher_sees_what_the_follower_commits_changes_and_deletes(tmp_path: Path) -> None:
    publish(tmp_path, PAGES[:1])
    searcher = Searcher(tmp_path, REFERENCE)
    assert searcher.search("biology").total == 1

    publish(tmp_path, PAGES[1:])
    assert searcher.search("biology").total == 2

    publish(tmp_path, [("http://a.test/2", "Garden", "flowers")], fetched=FETCHED + 1)
    assert found(searcher, "biology") == ["a.test/1"]


def test_deadline_gives_a_partial_answer_that_says_so(crawl_dir: Path) -> None:
    results = Searcher(crawl_dir, REFERENCE, deadline_seconds=0).search("yeast -genome")

    assert "stopped after 0 s" in results.note
    assert results.hits == []


_QUERIES = st.lists(
    st.sampled_from(
        ['"', "+", "-", " OR ", "site:", "title:", "test", "the", "helix", "double", " ", "*", "\0"]
    )
    | st.text(max_size=5)
)


@given(_QUERIES.map("".join))
def test_any_text_is_answered_or_refused_as_bad_input(searcher: Searcher, text: str) -> None:
    try:
        results = searcher.search(text)
    except BadInput as error:
        assert "\n" not in str(error).strip()
        return

    assert results.total >= len(results.hits)
    assert all(0 <= hit.relevance <= 1000 for hit in results.hits)


# Near-duplicates and blocked servers

MIRRORS = [(f"http://mirror-{n}.test/", "Yeast", f"yeast genome, copy {n}") for n in range(30)]
OTHERS = [(f"http://other-{n}.test/", "Other", "yeast " + "and flour " * (n + 9)) for n in range(3)]


def publish_mirrors(folder: Path) -> Searcher:
    """Thirty near-duplicates that all rank before three other pages."""
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        for number, row in enumerate(MIRRORS + OTHERS):
            written, _ = entry(row)
            simhash = 0x0F0F if row in MIRRORS else 0x1234_5678_9ABC_DEF0 >> number
            catalog.write([(replace(written, simhash=simhash), None)])
    publish(folder, [])
    return Searcher(folder, REFERENCE, deadline_seconds=60)


def test_near_duplicates_are_folded_into_the_first_and_give_their_places_to_others(tmp_path: Path) -> None:
    results = publish_mirrors(tmp_path).search("yeast", limit=3)

    assert [hit.url for hit in results.hits] == [MIRRORS[0][0], OTHERS[0][0], OTHERS[1][0]]
    assert [hit.near_duplicates for hit in results.hits] == [29, 0, 0]
    assert results.total == 33


def test_near_duplicates_are_documents_that_a_query_of_their_own_finds(tmp_path: Path) -> None:
    results = publish_mirrors(tmp_path).search("site:mirror-7.test yeast")

    assert [hit.url for hit in results.hits] == ["http://mirror-7.test/"]
    assert [hit.near_duplicates for hit in results.hits] == [0]


def test_a_blocked_server_is_no_longer_found_once_the_follower_has_followed(tmp_path: Path) -> None:
    publish(tmp_path, PAGES)
    searcher = Searcher(tmp_path, REFERENCE)
    assert found(searcher, "molecular") == ["a.test/1", "b.test/3"]

    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        assert catalog.block("http://a.test") == 2
    publish(tmp_path, [])

    assert found(searcher, "molecular") == ["b.test/3"]
    publish(tmp_path, PAGES[:1], fetched=FETCHED + 1)
    assert found(searcher, "molecular") == ["b.test/3"]


# Snippets


def test_snippet_is_the_window_with_most_different_words_of_the_query() -> None:
    text = "yeast yeast yeast " + "filler " * 100 + "here molecular biology meets yeast " + "filler " * 100

    snippet = Snippets(("molecular", "biolog", "yeast")).cut(text)

    assert "molecular biology meets yeast" in snippet
    assert snippet.startswith("… filler") and snippet.endswith("filler …")
    assert len(snippet.split()) == WORDS + 2


def test_words_that_were_typed_choose_the_snippet_before_those_that_were_added() -> None:
    text = "yeast " + "filler " * 100 + "leaven starter dough"

    assert Snippets(["yeast"], ["leaven", "starter", "dough"]).cut(text).startswith("yeast filler")


def test_snippet_of_a_text_without_the_words_is_its_start() -> None:
    text = " ".join(str(n) for n in range(100))

    assert Snippets(("yeast",)).cut(text) == " ".join(str(n) for n in range(WORDS)) + " …"


@pytest.mark.parametrize("text", ["", " \n", "yeast\n\n  and\tbread"])
def test_short_text_is_its_own_snippet_with_plain_spaces(text: str) -> None:
    assert Snippets(("yeast",)).cut(text) == " ".join(text.split())


def test_text_without_spaces_is_cut() -> None:
    assert len(Snippets(("yeast",)).cut("x" * 1_000_000)) <= MAX_CHARACTERS + 4


def test_words_of_the_query_are_marked_in_any_form() -> None:
    pieces = list(Snippets(("biolog",)).mark("Biology, the biologies' journal"))

    assert pieces == [
        ("", False),
        ("Biology", True),
        (", the ", False),
        ("biologies", True),
        ("' journal", False),
    ]


# The command


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three words are known in general, the rest of what is said are others."""
    shares = [("molecular", 0.001), ("biology", 0.002), ("yeast", 0.0001)]
    monkeypatch.setattr("webcrawler.search.engine.general", lambda language: Reference(shares))


def test_command_prints_figure_3(crawl_dir: Path, reference: None, run: Run) -> None:
    options = ("-n", "2", "--ranking", "peculiarity")
    ended = run("search", "molecular biology", *options, folder=crawl_dir)

    lines = ended.out.splitlines()
    assert ended.status == 0
    assert lines[0] == 'Search results for the query "molecular biology":'
    assert lines[1].startswith("3 pages in 0.")
    assert lines[3:6] == ["1000 Molecular biology", "     http://a.test/1", "     Genes and proteins"]
    assert lines[6].startswith("     checked on 14 Nov 2023")
    assert lines[8:10] == ["0800 Cooking", "     http://b.test/3"]


def test_command_explains_each_hit(crawl_dir: Path, reference: None, run: Run) -> None:
    options = ("--ranking", "peculiarity", "--explain")
    ended = run("search", "molecular biology", *options, folder=crawl_dir)

    lines = [" ".join(line.split()) for line in ended.out.splitlines()]
    assert ended.status == 0
    assert [line for line in lines if line.startswith("1.25e+04 biolog")]
    assert "6.25e+04 in all" in lines


def test_command_counts_what_is_folded(tmp_path: Path, run: Run) -> None:
    publish_mirrors(tmp_path)

    status, shown, _ = run("search", "yeast", "-n", "2", folder=tmp_path)

    assert status == 0
    assert shown.splitlines()[3:8] == [
        "1000 Yeast",
        "     http://mirror-0.test/",
        "     yeast genome, copy 0",
        "     checked on 14 Nov 2023",
        "     and 29 near-duplicates",
    ]
    assert shown.count("near-duplicate") == 1


def test_command_gives_programs_json(crawl_dir: Path, run: Run) -> None:
    ended = run("search", "--json", "sourdough", folder=crawl_dir)

    answer = json.loads(ended.out)
    assert ended.status == 0
    assert answer.pop("seconds") >= 0
    hits = answer.pop("hits")
    assert answer == {
        "query": "sourdough",
        "total": 1,
        "at_least": False,
        "partial": False,
        "start": 0,
        "more": False,
        "note": "",
        "did_you_mean": "",
        "corrected": "",
        "other_reading": "",
        "counts": {},
        "added": [],
        "related": [],
    }
    assert hits[0].pop("number") > 0
    assert hits == [
        {
            "url": "http://c.test:8080/untitled",
            "title": "Rising dough",
            "relevance": 1000,
            "server": "http://c.test:8080",
            "fetched": "2023-11-14T22:13:20+00:00",
            "checked": "2023-11-14T22:13:20+00:00",
            "changed": "2023-11-14T22:13:20+00:00",
            "missing_since": None,
            "language": "",
            "sections": [],
            "href": "http://c.test:8080/untitled",
            "snippet": "Sourdough rises",
            "near_duplicates": 0,
            "from_server": 0,
            "cached": False,
        }
    ]


def test_command_without_a_hit_has_done_its_work(tmp_path: Path, run: Run) -> None:
    ended = run("search", "yeast", folder=tmp_path)

    assert ended.status == 0
    assert "0 pages" in ended.out
    assert "nothing is indexed" in ended.err


def test_after_a_crawl_a_search_waits_for_the_first_index_and_later_says_how_far_it_is_behind(
    tmp_path: Path, run: Run
) -> None:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        catalog.write([entry(row) for row in PAGES[:3]])
    with hold_crawl(tmp_path):
        during = run("search", "yeast", folder=tmp_path)
    assert "the index is still being made, 3 changes to go" in during.err

    first = run("search", "cooking", "--json", folder=tmp_path)
    assert first.err == ""
    assert [hit["url"] for hit in json.loads(first.out)["hits"]] == ["http://b.test/3"]

    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        catalog.write([entry(row) for row in PAGES[4:6]])
    later = run("search", "yeast", "--json", folder=tmp_path)
    assert "the index is behind the crawl, 2 changes to go" in later.err
    assert json.loads(later.out)["note"] == ""
    assert (during.status, first.status, later.status) == (0, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "query"),
    [
        (["--onto"], "--onto"),  # alone it can only be a query
        (["--", "--onto"], "--onto"),
        (["-n", "3", "--", "rebase", "--onto"], "rebase --onto"),
        (["rebase", "--", "--explain", "-std=c++17"], "rebase --explain -std=c++17"),
        (["rebase --onto"], "rebase --onto"),
        (["--", "a", "--", "b"], "a -- b"),
    ],
)
def test_options_of_other_programs_can_be_searched_for(
    crawl_dir: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    query: str,
) -> None:
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "webcrawler.settings")  # Scrapy would leave it behind
    monkeypatch.chdir(PROJECT)

    with pytest.raises(SystemExit, match="0"):  # nothing may stand behind the query
        execute(["scrapy", "search", "-s", f"CRAWL_DIR={crawl_dir}", "--json", *arguments])

    assert json.loads(capsys.readouterr().out)["query"] == query


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "the query is empty"),
        (["x" * 1_000_000], "a query of 1,000,000 characters is too long: at most 2,000"),
        (["+-!?"], "no word to look for"),
        (["yeast", "--ranking", "magic"], "choose one of bm25f, "),
        (["yeast", "-n", "many"], "-n=many is not a whole number"),
        (["yeast", "-n", "0"], "1 to 1000"),
        (
            ["yeast", "--colour"],
            "unknown option --colour: --help lists all options; what is searched for stands behind --",
        ),
    ],
)
def test_command_asked_wrongly_says_so_in_one_line_and_exits_with_2(
    crawl_dir: Path, run: Run, arguments: list[str], line: str
) -> None:
    assert_told_off(run("search", *arguments, folder=crawl_dir), f"^error: .*{line}")


def test_what_a_page_says_does_not_command_the_terminal(tmp_path: Path, run: Run) -> None:
    publish(
        tmp_path, [("http://a.test/", "yeast\x1b]0;owned\x07\u202e", "yeast\x1b[2J\x9b1m\nsecond\r line")]
    )

    status, shown, _ = run("search", "yeast", folder=tmp_path)

    assert status == 0
    assert not [c for c in shown if c != "\n" and not c.isprintable()]
    assert "second line" in shown


@pytest.mark.parametrize("is_damaged", [False, True])
def test_reindex_builds_the_same_index_anew(tmp_path: Path, run: Run, is_damaged: bool) -> None:
    publish(tmp_path, PAGES)
    searcher = Searcher(tmp_path, REFERENCE)
    before = searcher.search("molecular biology").hits
    for toc in (tmp_path / "index").glob("*.toc") if is_damaged else ():
        toc.write_bytes(b"")

    ended = run("reindex", folder=tmp_path)

    assert (ended.status, "have been rebuilt" in ended.out) == (0, True)
    assert searcher.search("molecular biology").hits == before
    assert Searcher(tmp_path, REFERENCE).search("molecular biology").hits == before


@pytest.mark.parametrize("arguments", [[], ["everything"], ["--force"]])
def test_reindex_asked_wrongly_says_so_in_one_line_and_exits_with_2(
    tmp_path: Path, run: Run, arguments: list[str]
) -> None:
    """Without a catalog there is nothing to follow."""
    assert_told_off(run("reindex", *arguments, folder=tmp_path), "^error: ")
