"""Recorded graphs: what is read from which file, what counts of it, and what is said of bad ones."""

from __future__ import annotations

import gzip
import lzma
import os
import random
import sqlite3
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import testdata
from crawled import crawled, fetched, link
from hypothesis import given
from hypothesis import strategies as st

from webcrawler.errors import BadInput
from webcrawler.evaluation import read
from webcrawler.evaluation.recorded import Recorded, numbers

A, B, C, D, E = (f"http://{name}.test/" for name in "abcde")


def links_of(recorded: Recorded) -> list[tuple[int, int]]:
    """By the numbers of the file."""
    graph, labels = recorded.graph, recorded.labels
    return list(zip(labels[graph.sources].tolist(), labels[graph.targets].tolist(), strict=True))


def by_url(recorded: Recorded) -> set[tuple[str, str]]:
    graph, urls = recorded.graph, recorded.urls
    return {(urls[s], urls[t]) for s, t in zip(graph.sources.tolist(), graph.targets.tolist(), strict=True)}


def written(folder: Path, name: str, text: str | bytes) -> Path:
    file = folder / name
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


# ---- what is read


@pytest.mark.parametrize(
    ("name", "text", "links"),
    [
        # lists of the pages that each page links to: pages are numbered from zero
        ("g.graph-txt", "4\n1 2\n\n0 3\n2\n", [(0, 1), (0, 2), (2, 0), (2, 3), (3, 2)]),
        ("g.graph-txt", "2\n1\n0", [(0, 1), (1, 0)]),  # the last line is unfinished
        ("g.graph-txt", "2\n0 1 1\n1 0\n", [(0, 1), (1, 0)]),  # no self-link, and each link once
        # lists of links, with comments, any blanks and any numbers
        ("g.txt", "# From\tTo\n% too\r\n7\t900\r\n\n900   8 \n  8 7 1\n", [(7, 900), (8, 7), (900, 8)]),
        ("g.txt", "1 2\n2 1", [(1, 2), (2, 1)]),
        ("g.txt", "5 5\n5 6\n5 6\n6 5\n", [(5, 6), (6, 5)]),
        ("g.txt", "1 2 77\n2 1 78 1999\n", [(1, 2), (2, 1)]),  # further columns do not count
        ("g.txt", "source target\n1 2\n", [(1, 2)]),  # a header is told by the numbers below it
    ],
)
def test_links_are_those_of_the_file_once_each(
    tmp_path: Path, name: str, text: str, links: list[tuple[int, int]]
) -> None:
    recorded = read(written(tmp_path, name, text))

    assert links_of(recorded) == links
    assert list(recorded.urls) == [f"http://graph.example/{n}" for n in recorded.labels]


@pytest.mark.parametrize(
    ("name", "text", "links"),
    [
        ("g.tsv", "a b\tc\t0.5\nc\ta b\t1e3\n", 2),  # further columns do not count
        ("g.txt", "source target\na b\n", 2),  # above names, a header is a link
        ("g.txt", "# source target\na b\n", 1),
    ],
)
def test_links_between_names_are_counted(tmp_path: Path, name: str, text: str, links: int) -> None:
    assert read(written(tmp_path, name, text)).graph.links == links


@pytest.mark.parametrize("name", ["g.txt", "g.graph-txt", "g.tsv"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_byte_order_mark_and_line_ends_of_other_systems_are_understood(
    tmp_path: Path, name: str, end: str
) -> None:
    text = {"g.txt": "0 1\n1 0\n", "g.graph-txt": "2\n1\n0\n", "g.tsv": "a\tb\nb\ta\n"}[name]

    recorded = read(written(tmp_path, name, "\ufeff" + text.replace("\n", end)))

    assert links_of(recorded) == [(0, 1), (1, 0)]
    assert recorded.urls[0].endswith("/a" if name == "g.tsv" else "/0")


def test_pages_may_be_called_by_names_which_become_urls(tmp_path: Path) -> None:
    file = written(tmp_path, "links.tsv", "# articles\n\nÁedán\tGreat Britain\nGreat Britain\tBede\n")

    recorded = read(file)

    assert by_url(recorded) == {
        ("http://graph.example/%C3%81ed%C3%A1n", "http://graph.example/Great%20Britain"),
        ("http://graph.example/Great%20Britain", "http://graph.example/Bede"),
    }
    assert recorded.urls[recorded.page("Great Britain")] == "http://graph.example/Great%20Britain"


def test_a_number_is_the_name_of_a_page_before_it_is_its_number(tmp_path: Path) -> None:
    recorded = read(written(tmp_path, "g.tsv", "Bede\t1984\n1984\tBede\n2 BC\tBede\n"))  # 1984, 2 BC, Bede

    assert recorded.urls[recorded.page("1984")] == "http://graph.example/1984"
    assert recorded.urls[recorded.page("2")] == "http://graph.example/Bede"


def test_no_two_pages_share_a_url(tmp_path: Path) -> None:
    recorded = read(written(tmp_path, "g.tsv", "b/../a\ta\na\t1\n1\tb/../a\n%61\t3\n"))

    assert recorded.graph.pages == len(recorded.urls) == len(set(recorded.urls)) == 5


def test_a_list_of_urls_beside_a_list_of_links_names_the_pages(tmp_path: Path) -> None:
    written(tmp_path, "site.dat", "start end\n1 2\n2 1\n2 4\n")
    written(tmp_path, "links.dat", f"link url\n1 {A}index.html \n2 {B}\n3 {C}\n4 {A}\n")

    recorded = read(tmp_path)

    assert list(recorded.urls) == [A, B, C, "http://graph.example/4"]  # 4 is the page 1 by another spelling
    assert links_of(recorded) == [(1, 2), (2, 1), (2, 4)]
    assert recorded.page("b.test") == recorded.page(B) == recorded.page("2") == 1


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bytes])
def test_files_may_be_packed(tmp_path: Path, pack: object) -> None:
    file = written(tmp_path, "g.graph-txt.packed", pack(b"2\n1\n0\n"))  # type: ignore[operator]

    assert links_of(read(file)) == [(0, 1), (1, 0)]


@given(st.lists(st.lists(st.integers(0, 10**17), max_size=5), max_size=30), st.sampled_from(["\n", "\r\n"]))
def test_numbers_are_found_by_line(lines: list[list[int]], end: str) -> None:
    text = "".join(" \t".join(map(str, line)) + end for line in lines)

    values, counts = numbers(text.encode(), Path("some"))

    assert values.tolist() == [value for line in lines for value in line]
    assert counts.tolist() == [len(line) for line in lines]


# ---- a crawl of one's own


def test_of_a_crawl_the_documents_count_and_redirects_are_followed(tmp_path: Path) -> None:
    folder = crawled(
        tmp_path,
        fetched(A, link(B, "to b"), link(C, "to c"), link(D, "never fetched"), link(E, "failed")),
        fetched(B, reason="redirect", target=C),
        fetched(C, link(A, "home"), link(A + "x", "quiet", rel="nofollow")),
        fetched(A + "x", link(C)),
        fetched(E, reason="not-found"),
    )

    recorded = read(folder)

    assert by_url(recorded) == {(A, C), (C, A), (A + "x", C)}
    assert set(recorded.urls) == {A, C, A + "x"}


def test_of_a_crawl_anchors_and_texts_are_known(tmp_path: Path) -> None:
    folder = crawled(tmp_path, fetched(A, link(B, "to b")), fetched(B, link(A, "home")))

    recorded = read(folder / "catalog.sqlite")

    assert dict(zip(links_of(recorded), recorded.anchors, strict=True)) == {(1, 2): "to b", (2, 1): "home"}
    assert recorded.texts is not None
    assert recorded.texts([1])[1].title == f"Title of {A}"


# ---- what counts


def reached(edges: Sequence[tuple[int, int]], start: str, folder: Path) -> Recorded:
    recorded = read(written(folder, "g.txt", "".join(f"{s} {t}\n" for s, t in edges)))
    return recorded.reachable(recorded.page(start))


def test_only_what_can_be_reached_from_the_start_counts(tmp_path: Path) -> None:
    """Cho 1998, section 6: 46,000 of 225,000 pages were unreachable and are left out."""
    edges = [(1, 2), (2, 3), (4, 2), (4, 5), (5, 4)]

    recorded = reached(edges, "1", tmp_path)

    assert links_of(recorded) == [(1, 2), (2, 3)]
    assert list(recorded.urls) == [f"http://graph.example/{n}" for n in (1, 2, 3)]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
def test_reachable_pages_are_those_that_a_walk_finds(edges: list[tuple[int, int]]) -> None:
    found, before = {0}, set[int]()
    while found != before:
        before, found = found, found | {t for s, t in edges if s in found}
    with tempfile.TemporaryDirectory() as folder:
        if len(found) < 2:
            with pytest.raises(BadInput):
                reached(edges, "0", Path(folder))
        else:
            recorded = reached(edges, "0", Path(folder))
            assert set(recorded.labels.tolist()) == found
            assert set(links_of(recorded)) == {(s, t) for s, t in edges if s in found and s != t}


def test_anchors_stay_with_their_links(tmp_path: Path) -> None:
    folder = crawled(
        tmp_path,
        fetched(A, link(C, "a to c")),
        fetched(B, link(A, "b to a"), link(C, "b to c")),
        fetched(C, link(D, "c to d")),
        fetched(D, link(A, "d to a")),
    )
    recorded = read(folder)

    part = recorded.reachable(recorded.page(A))

    a, c, d = (recorded.labels[recorded.page(url)] for url in (A, C, D))
    anchors = {(a, c): "a to c", (c, d): "c to d", (d, a): "d to a"}
    assert dict(zip(links_of(part), part.anchors, strict=True)) == anchors


def test_without_a_start_page_it_is_the_first_that_links_to_others(tmp_path: Path) -> None:
    assert read(written(tmp_path, "g.graph-txt", "3\n\n2\n1\n")).page() == 1


# ---- bad files: one line that names file, line and what is wrong

BAD = [
    ("g.graph-txt", b"", "line 1: the number of pages"),
    ("g.graph-txt", b"3\n1 2\n3\n0\n", "line 3: there is no page 3; the last of 3 is 2"),
    ("g.graph-txt", b"3\n1 -2\n\n0\n", "line 2: '-2' is not a page number"),
    ("g.graph-txt", b"3\n1 2.5\n\n0\n", "line 2: '2.5' is not a page number"),
    ("g.graph-txt", b"3\n1 99999999999999999999\n\n0\n", "line 2: '9{20}' is not a page number"),
    ("g.graph-txt", b"3\n1 2\n", "has 1 lines of links for 3 pages"),
    ("g.graph-txt", b"1\n0\n0\n", "has 2 lines of links for 1 pages"),
    ("g.graph-txt", b"2\n\n\n", "holds no link"),
    ("g.graph-txt", b"two\n1\n0\n", "line 1: 'two' is not a page number"),
    ("g.graph-txt", gzip.compress(b"2\n1\n0\n")[:-9], "damaged or incomplete"),
    ("g.graph-txt", gzip.compress(b"2\n1\n0\n" * 50)[:15] + b"rubbish", "damaged or incomplete"),
    ("g.txt", lzma.compress(b"1 2\n" * 50)[:-20], "damaged or incomplete"),
    ("g.txt", b"", "holds no link"),
    ("g.txt", b"# a comment alone\n", "holds no link"),
    ("g.txt", b"1 2\n3\n", "line 2: two page numbers"),
    ("g.txt", b"1 2\n\n3 -4\n", "line 3: '-4' is not a page number"),
    ("g.txt", b"1 2\n2 three\n", "line 2: 'three' is not a page number"),
    ("g.txt", b"a b\nc d e\n", "line 2: two pages"),
    ("g.tsv", b"a\tb\na\t\tc\n", "line 2: two pages"),
    ("g.txt", b"words\0and\0zeros\n", "is not text"),
    ("g.txt", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "is not text"),
    ("catalog.sqlite", b"SQLite format 3\0 but no more", "catalog"),
]


@pytest.mark.parametrize(("name", "text", "line"), BAD, ids=[f"{n}-{row[0]}" for n, row in enumerate(BAD)])
def test_a_bad_file_gets_one_clear_line(tmp_path: Path, name: str, text: bytes, line: str) -> None:
    file = written(tmp_path, name, text)

    with pytest.raises(BadInput, match=line) as told:
        read(file)

    assert "\n" not in str(told.value)
    assert str(file) in str(told.value)


@pytest.mark.parametrize("seed", range(20))
def test_rubbish_is_never_more_than_bad_input(tmp_path: Path, seed: int) -> None:
    rubbish = random.Random(seed).randbytes(3000)
    for name in ("g.txt", "g.graph-txt", "g.dat", "catalog.sqlite"):
        with pytest.raises(BadInput):
            read(written(tmp_path, name, rubbish))


def test_a_file_or_folder_that_is_no_graph(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="there is no graph at"):
        read(tmp_path / "missing")
    with pytest.raises(BadInput, match="holds no graph"):
        read(tmp_path / "empty")
    written(tmp_path, "one.txt", "1 2\n")
    written(tmp_path, "two.txt", "1 2\n")
    with pytest.raises(BadInput, match=r"several graphs; name one: .*one.txt, .*two.txt"):
        read(tmp_path)


def test_another_sqlite_file_is_no_catalog(tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "g.sqlite").execute("CREATE TABLE t (x)").connection.close()

    with pytest.raises(BadInput, match="catalog"):
        read(tmp_path / "g.sqlite")


def test_a_crawl_without_links_between_documents(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no link between two documents"):
        read(crawled(tmp_path, fetched(A, link(B))))


def test_bad_lists_of_urls(tmp_path: Path) -> None:
    written(tmp_path, "site.dat", "1 2\n")
    written(tmp_path, "links.dat", "link url\n1 http://a.test/\ntwo http://b.test/\n")

    with pytest.raises(BadInput, match=r"links.dat, line 3: a page number and its URL"):
        read(tmp_path)


def test_a_start_page_that_is_none_or_leads_nowhere(tmp_path: Path) -> None:
    recorded = read(written(tmp_path, "g.txt", "1 2\n1 3\n"))

    for start in ("9", "http://nowhere.test/", "no such name", "-1", "9" * 30):
        with pytest.raises(BadInput, match="the graph has no page"):
            recorded.page(start)
    with pytest.raises(BadInput, match="page 2 links to no other page"):
        recorded.reachable(recorded.page("2"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_rights(tmp_path: Path) -> None:
    written(tmp_path, "g.txt", "1 2\n").chmod(0)

    with pytest.raises(BadInput, match=r"cannot read .*Permission"):
        read(tmp_path / "g.txt")


# ---- the graphs of the test data


@pytest.mark.slow
def test_the_recorded_crawls_have_the_sizes_that_are_known() -> None:
    cnr = read(testdata.data("webgraph-cnr-2000"))
    hollins = read(testdata.data("webgraph-hollins"))
    wikispeedia = read(testdata.data("wikispeedia"))

    assert (cnr.graph.pages, cnr.graph.links) == (325_557, 3_128_710)
    assert (hollins.graph.pages, hollins.graph.links) == (6_012, 23_875)
    assert wikispeedia.graph.links == 119_882 - 110  # so many link to themselves
    for start in ("286670", "0"):
        assert cnr.reachable(cnr.page(start)).graph.pages == 325_557
    assert hollins.reachable(hollins.page("www.hollins.edu")).graph.pages == 5_551
