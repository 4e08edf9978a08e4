"""What every search engine gives: the same pages for the same query, whatever holds the index."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple

import failpoints
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, Unavailable
from webcrawler.index import follower
from webcrawler.index.changes import Follower
from webcrawler.index.engine import ENGINES, engine_type
from webcrawler.index.whoosh.folder import indexed_documents
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.search.engines import Answer, SearchEngine
from webcrawler.search.engines.registry import make_engine
from webcrawler.search.opened import Opened
from webcrawler.search.rankings.registry import DEFAULT
from webcrawler.text.query import parse
from webcrawler.text.reference import Reference
from webcrawler.urls import server, url_id


@pytest.fixture(params=ENGINES, scope="module")
def engine(request: pytest.FixtureRequest) -> str:
    if request.param == "tantivy":
        pytest.importorskip("tantivy", reason="the extra [tantivy] is not installed")
    return str(request.param)


@pytest.fixture
def tantivy() -> str:
    pytest.importorskip("tantivy", reason="the extra [tantivy] is not installed")
    return "tantivy"


class Page(NamedTuple):
    url: str
    title: str
    body: str
    links: tuple[tuple[str, str], ...] = ()  # target, anchor text
    description: str = ""


HOME, HELIX, STAIRS = "http://a.test/", "http://a.test/helix", "http://b.test/stairs"
ART, COOK = "http://sub.b.test/art", "http://b.test/cook"
TWIN, SAME = "http://c.test:8080/1", "http://c.test:8080/2"
NEVER, ALSO = "http://z.test/never", "http://z.test/also"  # only linked to

PAGES = [
    Page(
        HOME,
        "Molecular biology",
        "Genes, proteins",
        ((HELIX, "the helix explained"), (NEVER, "zebra handbook")),
    ),
    Page(HELIX, "The double helix", "DNA is a double-stranded helix. A guide to DNA repair."),
    Page(
        STAIRS,
        "Stairs",
        "A helix of steps, double the price. DNA guide.",
        ((HELIX, "spiral"), (NEVER, "zebra")),
    ),
    Page(ART, "State of the art", "State of the art genetics", ((ALSO, "giraffe atlas"),)),
    Page(COOK, "Cooking", "molecular cooking with steam", (), "kitchen chemistry"),
    Page(TWIN, "Brewer", "yeast genome"),
    Page(SAME, "Brewer", "yeast genome"),
]


def entry(page: Page, fetched: float = 1.0, status: int = 200) -> tuple[Entry, None]:
    lease = Lease(url_id(page.url), page.url, page.url, server(page.url), token=1)
    outcome = ("done", "document") if status == 200 else ("failed", "not-found")
    fetch = Fetch(lease, *outcome, fetched, status=status, headers=(("Content-Type", "text/html"),))
    links = tuple(Link(url, url_id(url), url, anchor) for url, anchor in page.links)
    text = Text(page.title, "", page.description, "", page.body) if status == 200 else None
    return Entry(fetch, sha1(page.url.encode() + page.body.encode()).digest(), links=links, text=text), None


def write(crawl_dir: Path, *pages: Page, fetched: float = 1.0, status: int = 200) -> None:
    with closing(Catalog(crawl_dir / "catalog.sqlite")) as catalog:
        catalog.write([entry(page, fetched, status) for page in pages])


def follow(crawl_dir: Path, engine: str) -> None:
    with Follower(crawl_dir, engine) as following:
        following.catch_up()


def searching(crawl_dir: Path, engine: str) -> SearchEngine:
    return make_engine(engine, crawl_dir, Opened(crawl_dir), Reference([("word", 0.1)]))


def ask(search: SearchEngine, text: str, within: Iterable[str] = ()) -> Answer:
    assert search.generation is not None
    return search.answer(parse(text), DEFAULT, lambda: False, [parse(other) for other in within])


def urls(crawl_dir: Path, pages: Iterable[int]) -> list[str]:
    with closing(Catalog(crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
        known = catalog.urls.of(list(map(int, pages)))
    return [known[int(page)] for page in pages]


def found(crawl_dir: Path, engine: str, text: str) -> list[str]:
    """Best first."""
    answer = ask(searching(crawl_dir, engine), text)
    assert answer.total == len(answer.pages)
    return urls(crawl_dir, answer.pages)


@pytest.fixture(scope="module")
def crawl_dir(tmp_path_factory: pytest.TempPathFactory, engine: str) -> Path:
    folder = tmp_path_factory.mktemp(engine)
    write(folder, *PAGES)
    follow(folder, engine)
    return folder


# Which pages


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("molecular", {HOME, COOK}),
        ("molecular yeast", {HOME, COOK, TWIN, SAME}),  # some of the words will do
        ("nosuchword", set()),
        ("", set()),
        ("the of", set()),  # stop words
        ("kitchen", {COOK}),  # in the description
        ("stairs", {STAIRS}),
        ("never", set()),  # words of a URL are those of documents
        ("+helix +dna", {HELIX, STAIRS}),
        ("+double +explained", {HELIX}),  # the one in the text, the other in an anchor
        ("+zebra +molecular", set()),
        ("dna -stairs", {HELIX}),
        ("dna -spiral", {STAIRS}),  # excluded by an anchor
        ("helix -title:helix", {STAIRS}),
        ("zebra", {NEVER}),  # never fetched, found by its anchors
        ("zebra -handbook", set()),
        ("giraffe OR genome", {ALSO, TWIN, SAME}),
        ("(genome OR zebra) -brewer", {NEVER}),
        ("+(dna OR zebra) +(guide OR handbook)", {HELIX, STAIRS, NEVER}),
        ('"double helix"', {HELIX}),
        ('"helix double"', set()),
        ('"state of the art"', {ART}),
        ('"state art"', set()),  # stop words keep their places
        ('"helix explained"', {HELIX}),  # in an anchor
        ('"explained spiral"', set()),  # no phrase spans two anchors
        ('"explained spiral"~1000', set()),
        ('"helix double"~3', {HELIX, STAIRS}),
        ('"helix double"~2', {HELIX}),
        ('"guide dna"~1', {STAIRS}),  # in any order
        ("title:helix", {HELIX}),
        ("title:zebra", set()),
        ('title:"state of the art"', {ART}),
        ("gen*", {HOME, ART, TWIN, SAME}),
        ("title:brew*", {TWIN, SAME}),
        ("zeb*", {NEVER}),
        ("genetics*", {ART}),  # also by its stem
        ("site:b.test", {STAIRS, ART, COOK}),
        ("site:c.test:8080", {TWIN, SAME}),
        ("site:z.test", {NEVER, ALSO}),
        ("zebra site:z.test", {NEVER}),
        ("dna -site:a.test", {STAIRS}),
        (f"link:{HELIX}", {HOME, STAIRS}),
        (f"link:{NEVER} molecular", {HOME}),
        ("link:http://nowhere.test/", set()),
    ],
)
def test_pages_that_answer(crawl_dir: Path, engine: str, query: str, expected: set[str]) -> None:
    assert set(found(crawl_dir, engine, query)) == expected


def test_a_search_within_the_results_of_another(crawl_dir: Path, engine: str) -> None:
    answer = ask(searching(crawl_dir, engine), "dna", within=["double", "guide -explained"])

    assert urls(crawl_dir, answer.pages) == [STAIRS]


WORDS = st.sampled_from(["dna", "helix", "double", "guide", "zebra", "yeast", "explained", "art", "spiral"])
UNITS = st.one_of(
    WORDS,
    st.builds('"{} {}"'.format, WORDS, WORDS),
    st.builds('"{} {}"~{}'.format, WORDS, WORDS, st.integers(1, 9)),
    st.builds("title:{}".format, WORDS),
    st.builds("{:.3}*".format, WORDS),
    st.sampled_from(["site:a.test", "site:b.test", f"link:{HELIX}"]),
)
CLAUSES = st.builds(
    str.__add__, st.sampled_from(["", "+", "-"]), UNITS | st.builds("({} OR {})".format, UNITS, UNITS)
)


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> list[SearchEngine]:
    pytest.importorskip("tantivy", reason="the extra [tantivy] is not installed")
    folders = [(name, tmp_path_factory.mktemp(f"both-{name}")) for name in ENGINES]
    for name, folder in folders:
        write(folder, *PAGES)
        follow(folder, name)
    return [searching(folder, name) for name, folder in folders]


@settings(max_examples=150, deadline=None)
@given(st.lists(CLAUSES, min_size=1, max_size=4).map(" ".join))
def test_engines_agree_on_the_pages_of_any_query(engines: list[SearchEngine], query: str) -> None:
    first, second = (ask(engine, query) for engine in engines)

    assert sorted(first.pages) == sorted(second.pages)
    assert first.total == second.total


def test_a_prefix_stands_for_a_hundred_terms(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *(Page(f"http://a.test/{n}", "", f"zz{n:03}") for n in range(150)))
    follow(tmp_path, engine)

    assert len(found(tmp_path, engine, "zz*")) == 100


def test_what_an_excluded_prefix_stands_for_is_left_out_whole(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *(Page(f"http://a.test/{n}", "", f"yeast zz{n:03}") for n in range(150)))
    write(tmp_path, Page("http://b.test/", "", "yeast alone"))
    follow(tmp_path, engine)

    assert found(tmp_path, engine, "yeast -zz*") == ["http://b.test/"]


def test_a_ligature_of_many_words_is_one_term(tmp_path: Path, engine: str) -> None:
    write(tmp_path, Page("http://a.test/", "", "before ﷺ after"))  # NFKC makes four words of it
    follow(tmp_path, engine)

    assert found(tmp_path, engine, "ﷺ") == ["http://a.test/"]
    assert found(tmp_path, engine, '"before ﷺ after"') == ["http://a.test/"]


# In which order, and why


def test_of_equal_scores_the_older_page_comes_first(crawl_dir: Path, engine: str) -> None:
    assert found(crawl_dir, engine, "yeast") == [TWIN, SAME]


def test_best_comes_first_and_scores_descend(crawl_dir: Path, engine: str) -> None:
    answer = ask(searching(crawl_dir, engine), "double helix dna explained zebra")

    assert urls(crawl_dir, answer.pages)[0] == HELIX
    assert (np.diff(answer.scores) <= 0).all()


@pytest.mark.parametrize("query", ["double helix", "molecular zebra", "gen* biology", '"dna guide" -art'])
def test_parts_of_an_explanation_sum_up_to_the_score(crawl_dir: Path, engine: str, query: str) -> None:
    answer = ask(searching(crawl_dir, engine), query)

    assert answer.total
    for page, score in zip(answer.pages.tolist(), answer.scores.tolist(), strict=True):
        assert sum(part.contribution for part in answer.explain(page)) == pytest.approx(score, rel=1e-5)


def test_what_is_late_is_partial(crawl_dir: Path, engine: str) -> None:
    search = searching(crawl_dir, engine)
    assert search.generation

    answer = search.answer(parse("dna -spiral"), DEFAULT, lambda: True)

    assert answer.partial
    assert HELIX not in urls(crawl_dir, answer.pages)


def test_tantivy_refuses_the_rankings_it_does_not_have(crawl_dir: Path, tantivy: str) -> None:
    search = searching(crawl_dir, tantivy)

    with pytest.raises(BadInput, match="INDEX_ENGINE=whoosh"):
        search.answer(parse("dna"), "peculiarity", lambda: False)


# Following


def test_a_page_fetched_again_is_found_by_its_new_words_only(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES)
    follow(tmp_path, engine)

    write(tmp_path, Page(COOK, "Baking", "bread"), fetched=2.0)
    follow(tmp_path, engine)

    assert found(tmp_path, engine, "bread") == [COOK]
    assert found(tmp_path, engine, "steam") == []
    assert indexed_documents(tmp_path / "index") == len(PAGES)


def test_a_page_that_is_gone_is_not_found(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES)
    follow(tmp_path, engine)

    write(tmp_path, Page(COOK, "", ""), fetched=2.0, status=404)
    follow(tmp_path, engine)

    assert found(tmp_path, engine, "steam") == []
    assert indexed_documents(tmp_path / "index") == len(PAGES) - 1


def test_anchors_go_with_the_page_that_had_them(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES)
    follow(tmp_path, engine)

    write(tmp_path, Page(HOME, "Home", "no links any more"), fetched=2.0)
    follow(tmp_path, engine)

    assert found(tmp_path, engine, "explained") == []
    assert found(tmp_path, engine, "zebra") == [NEVER]  # another page calls it so, too


def test_following_goes_on_where_it_ended(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES[:3])
    follow(tmp_path, engine)
    write(tmp_path, *PAGES[3:])

    with Follower(tmp_path, engine) as following:
        assert following.applied > 0
        following.catch_up()

    assert set(found(tmp_path, engine, "molecular yeast")) == {HOME, COOK, TWIN, SAME}
    assert follower.lag(tmp_path, engine) == 0


def test_a_generation_is_of_one_commit(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES[:3])
    search = searching(tmp_path, engine)
    generations = [search.generation]
    follow(tmp_path, engine)
    generations += [search.generation, search.generation]
    write(tmp_path, *PAGES[3:])
    follow(tmp_path, engine)

    generations.append(search.generation)

    assert generations[0] is None
    assert generations[1] == generations[2] != generations[3]
    assert urls(tmp_path, ask(search, "steam").pages) == [COOK]


def test_a_commit_of_anchors_is_a_generation_too(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES)
    with Follower(tmp_path, engine) as following:
        while following.step():
            pass
        search = searching(tmp_path, engine)
        first = search.generation
        following.catch_up()

    assert search.generation != first
    assert urls(tmp_path, ask(search, "zebra").pages) == [NEVER]


def test_reindex_puts_a_new_index_in_the_place_of_the_old(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES)
    follow(tmp_path, engine)
    search = searching(tmp_path, engine)
    first = search.generation

    follower.reindex(tmp_path, engine=engine)

    assert search.generation != first
    assert urls(tmp_path, ask(search, "zebra").pages) == [NEVER]
    assert sorted(path.name for path in tmp_path.glob("index*") if path.is_dir()) == ["index"]


def overwritten(folder: Path, pattern: str) -> None:
    for path in folder.glob(pattern):
        path.write_bytes(b"torn")


DAMAGES: dict[str, Callable[[Path], None]] = {
    "whoosh": lambda folder: overwritten(folder, "*.toc"),
    "tantivy": lambda folder: overwritten(folder, "meta.json"),
}


def test_a_damaged_index_is_made_anew(tmp_path: Path, engine: str, caplog: pytest.LogCaptureFixture) -> None:
    write(tmp_path, *PAGES)
    follow(tmp_path, engine)
    DAMAGES[engine](tmp_path / "index")
    with pytest.raises(Unavailable, match="scrapy reindex"):
        _ = searching(tmp_path, engine).generation

    with caplog.at_level(logging.WARNING):
        follow(tmp_path, engine)

    assert "made anew" in caplog.text
    assert found(tmp_path, engine, "steam") == [COOK]


def test_an_index_of_another_catalog_is_made_anew(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES)
    follow(tmp_path, engine)
    for path in tmp_path.glob("catalog.sqlite*"):
        path.unlink()
    write(tmp_path, *PAGES[5:])

    follow(tmp_path, engine)

    assert indexed_documents(tmp_path / "index") == 2
    assert found(tmp_path, engine, "steam zebra") == []


@pytest.mark.parametrize("other", ENGINES)
def test_an_index_of_the_other_engine_is_made_anew(
    tmp_path: Path, engine: str, other: str, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("tantivy", reason="the extra [tantivy] is not installed")
    write(tmp_path, *PAGES)
    follow(tmp_path, other)
    assert engine_type(engine).applied_in(tmp_path)[0] == (0 if engine != other else len(PAGES))
    if engine != other:
        with pytest.raises(Unavailable, match=f"set INDEX_ENGINE={other}, or `scrapy reindex`"):
            ask(searching(tmp_path, engine), "steam")

    with caplog.at_level(logging.WARNING):
        follow(tmp_path, engine)

    assert ("made anew" in caplog.text) == (engine != other)
    assert set(found(tmp_path, engine, "steam zebra")) == {COOK, NEVER}


@pytest.mark.parametrize("failpoint", ["index.read", "index.applied", "anchors.read"])
def test_a_killed_follower_is_followed_by_one_that_ends_the_work(
    tmp_path: Path, engine: str, failpoint: str
) -> None:
    write(tmp_path, *PAGES)
    command = [sys.executable, "-m", "webcrawler.index.follower", str(tmp_path), "--once", "--engine", engine]
    killed = subprocess.run(
        command, env=os.environ | failpoints.environment(f"{failpoint}:kill"), check=False
    )
    assert killed.returncode == -signal.SIGKILL

    follow(tmp_path, engine)

    assert indexed_documents(tmp_path / "index") == len(PAGES)
    assert set(found(tmp_path, engine, "steam zebra")) == {COOK, NEVER}


def test_an_index_of_another_catalog_does_not_answer(tmp_path: Path, engine: str) -> None:
    write(tmp_path, *PAGES)
    follow(tmp_path, engine)
    for path in tmp_path.glob("catalog.sqlite*"):
        path.unlink()
    write(tmp_path, *reversed(PAGES))

    with pytest.raises(Unavailable, match="of another catalog: `scrapy reindex`"):
        _ = searching(tmp_path, engine).generation


# tantivy alone


@pytest.mark.parametrize("view", ["index", "anchors"])
@pytest.mark.parametrize("part", ["idx", "pos", "term", "fast", "fieldnorm", "store"])
@pytest.mark.parametrize("tear", ["zeroed", "gone"])
def test_a_torn_file_of_tantivys_never_raises_anything_else_and_is_made_anew(
    tmp_path: Path, tantivy: str, view: str, part: str, tear: str
) -> None:
    write(tmp_path, *PAGES)
    follow(tmp_path, tantivy)
    for path in (tmp_path / view).glob(f"*.{part}"):
        path.write_bytes(b"\0" * path.stat().st_size) if tear == "zeroed" else path.unlink()
    search = searching(tmp_path, tantivy)
    for query in ("dna -stairs", '"double helix"', "gen*", "site:b.test", "zebra"):
        with suppress(Unavailable):
            answer = ask(search, query)
            [answer.explain(page) for page in answer.pages.tolist()]

    follow(tmp_path, tantivy)

    assert set(found(tmp_path, tantivy, "steam zebra")) == {COOK, NEVER}


def test_a_crash_before_the_commit_is_remembered_changes_nothing(tmp_path: Path, tantivy: str) -> None:
    write(tmp_path, *PAGES[:3])
    follow(tmp_path, tantivy)
    remembered = {path: path.read_bytes() for path in tmp_path.glob("*/followed.json")}
    assert len(remembered) == 2
    write(tmp_path, *PAGES[3:])
    follow(tmp_path, tantivy)
    for path, content in remembered.items():  # as it stands after a crash between the two
        path.write_bytes(content)

    follow(tmp_path, tantivy)

    assert indexed_documents(tmp_path / "index") == len(PAGES)
    assert found(tmp_path, tantivy, "yeast") == [TWIN, SAME]
    assert follower.lag(tmp_path, tantivy) == 0


def test_tantivy_puts_a_thousand_pages_in_order_and_counts_all(tmp_path: Path, tantivy: str) -> None:
    write(tmp_path, *(Page(f"http://a.test/{n}", "", "gene " * (n % 7 + 1) + f"w{n}") for n in range(1_050)))
    follow(tmp_path, tantivy)

    answer = ask(searching(tmp_path, tantivy), "gene")

    assert (answer.total, len(answer.pages)) == (1_050, 1_000)


@pytest.fixture
def without_tantivy() -> Iterator[Callable[[str], str]]:
    def run(code: str) -> str:
        blocked = f"import sys; sys.modules['tantivy'] = None\n{code}"
        done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, check=False)
        return done.stderr.strip().splitlines()[-1]

    yield run


@pytest.mark.parametrize(
    "code",
    [
        "from webcrawler.index.engine import engine_type; engine_type('tantivy')",
        "from webcrawler.search.engines.registry import make_engine as make; make('tantivy', 0, 0, 0)",
    ],
)
def test_without_the_package_one_line_says_what_to_do(
    without_tantivy: Callable[[str], str], code: str
) -> None:
    said = without_tantivy(code)

    assert said.endswith("INDEX_ENGINE=tantivy wants tantivy: run `make dev`, or pip install tantivy")
    assert "BadInput" in said
