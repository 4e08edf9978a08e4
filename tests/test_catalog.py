"""The catalog: one truth, whatever is written twice, late, or by several processes."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import examples
from hypothesis import given, settings
from hypothesis import strategies as st

from webcrawler import clock
from webcrawler.archive.catalog import OTHERS, Catalog, Verdict, _database
from webcrawler.archive.catalog._rows import pack, unpack_beginning
from webcrawler.errors import BadInput, Unavailable
from webcrawler.records import Change, Document, Entry, Fetch, Lease, Link, Original, Place, Section, Text
from webcrawler.urls import server, url_id

A, B, C, D = "http://a.test/", "http://b.test/x?q=1", "https://c.test:8080/", "http://a.test/d"
VIEWS = ("documents", "links", "texts", "fetches")


def link(url: str, anchor: str = "", rel: str = "") -> Link:
    return Link(url, url_id(url), url, anchor, rel=rel)


def digest(body: str) -> bytes:
    return hashlib.sha1(body.encode()).digest()


def text(body: str) -> Text:
    return Text("Title", "Heading\nOther", "description", "key words", body, ((0, 2, 1), (3, 4, 6)))


def fetch(url: str, time: float, reason: str, **fields: object) -> Fetch:
    lease = Lease(url_id(url), url, url, server(url), 1)
    state = "done" if reason in {"document", "duplicate", "noindex", "redirect", "not-modified"} else "failed"
    return Fetch(lease, state, reason, time, 0.25, **fields)  # type: ignore[arg-type]


def page(
    url: str, time: float, body: str = "", links: Sequence[Link] = (), reason: str = "document"
) -> Entry:
    headers = (("content-type", "Text/HTML; charset=utf-8"), ("ETag", '"1"'))
    answer = fetch(url, time, reason, status=200, headers=headers, body=body.encode())
    words = None if reason == "noindex" else text(body)
    return Entry(answer, digest(body), links=tuple(links), text=words, noindex=reason == "noindex")


def failure(url: str, time: float, reason: str, **fields: object) -> Entry:
    status = 410 if reason == "not-found" else 0  # gone for good: a 404 has tests of its own
    return Entry(fetch(url, time, reason, **{"status": status, **fields}))


def redirect(url: str, time: float, target: str) -> Entry:
    return Entry(fetch(url, time, "redirect", status=301, target=link(target)))


def write(catalog: Catalog, *entries: Entry) -> Verdict:
    return catalog.write([(entry, None) for entry in entries])


def number_of(catalog: Catalog, url: str) -> int:
    return {known: number for number, known in catalog.urls.all()}[url]


def edges(catalog: Catalog) -> set[tuple[str, str, str, str]]:
    urls = dict(catalog.urls.all())
    return {(urls[source], urls[target], anchor, rel) for source, target, anchor, rel in catalog.links.all()}


def twins(catalog: Catalog) -> dict[str, str]:
    """Each document's original, "" for the originals."""
    urls = {0: "", **dict(catalog.urls.all())}
    return {d.url: urls[d.duplicate_of] for d in catalog.documents(list(urls)).values()}


def kinds(catalog: Catalog, after: int = 0) -> list[tuple[str, str]]:
    urls = dict(catalog.urls.all())
    return [(urls[change.number], change.kind) for change in catalog.changes(after, 1000)]


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "crawl" / "catalog.sqlite")) as catalog:
        yield catalog


# What is kept


def test_document_is_found_by_its_canonical_url_with_all_that_is_known_of_it(catalog: Catalog) -> None:
    place = Place("f.warc.gz", 123)
    catalog.write([(page(B, 7.5, "two words"), place)])

    document = catalog.find(B)

    fetched = (1, url_id(B), B, "http://b.test", 7.5, 200, "text/html", digest("two words"))
    assert document == (*fetched, 2, 0, False, place)
    assert catalog.documents([1, 99]) == {1: document}
    assert catalog.find(A) is None


def test_text_comes_back_as_it_was(catalog: Catalog) -> None:
    words = text("naïve \x00 😀\n" * 1000)
    words = words._replace(language="fr", around=((0, 1), (2, 3)), sections=(Section(1, "s", "S"),))

    write(catalog, replace(page(A, 1), text=words))

    assert catalog.texts([1, 2]) == {1: words}


def test_every_url_that_is_linked_to_gets_a_dense_number_in_order_of_discovery(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(C), link(B), link(C)]))
    write(catalog, page(D, 2, "d", [link(B)]))

    assert list(catalog.urls.all()) == [(1, A), (2, C), (3, B), (4, D)]


def test_links_keep_anchor_and_rel_and_links_to_oneself(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B, "an anchor"), link(C, rel="nofollow"), link(A)]))

    assert edges(catalog) == {(A, B, "an anchor", ""), (A, C, "", "nofollow"), (A, A, "", "")}


def test_redirect_leaves_an_edge_and_no_document(catalog: Catalog) -> None:
    write(catalog, redirect(A, 1, B))

    assert edges(catalog) == {(A, B, "", "redirect")}
    assert catalog.find(A) is None
    assert catalog.stats() == {"servers": 0, "documents": 0, "duplicates": 0, "links": 0}


def test_noindex_page_is_a_document_with_links_and_without_text(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B)], reason="noindex"))

    document = catalog.find(A)
    assert document is not None and document.noindex
    assert catalog.texts([1]) == {}
    assert edges(catalog) == {(A, B, "", "")}


def test_newest_fetch_is_told_also_of_a_failure(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"), failure(B, 1, "timeout", error="30 s", retry=True))
    write(catalog, failure(A, 2, "server-error", status=503, error="busy"))

    assert catalog.fetches.last(A) == (2, 503, "failed", "server-error", False, 0, None, 0.25, "busy", None)
    assert catalog.fetches.last(B) == (1, 0, "failed", "timeout", True, 0, None, 0.25, "30 s", None)
    assert catalog.fetches.last(D) is None


def test_many_links_are_written_whatever_sqlite_takes_in_one_statement(catalog: Catalog) -> None:
    targets = [link(f"http://h{n % 50}.test/{n}", f"anchor {n}") for n in range(10_001)]

    write(catalog, page(A, 1, "a", targets))

    assert catalog.stats()["links"] == 10_001
    assert edges(catalog) == {(A, target.url, target.anchor, "") for target in targets}


def test_empty_batch_changes_nothing(catalog: Catalog) -> None:
    assert write(catalog) == Verdict()
    assert catalog.last_seq() == 0


# Refetches


SAYS_NOTHING = ("not-modified", "server-error", "timeout", "unreachable", "robots-unreachable")
NOT_AT_ONCE = ("address-refused", "budget", "not-indexable", "too-large", "unparsable", "redirect-loop")


@pytest.mark.parametrize("reason", [*SAYS_NOTHING, *NOT_AT_ONCE, "robots-disallowed", "not-found"])
def test_document_leaves_when_the_server_says_that_it_is_gone(catalog: Catalog, reason: str) -> None:
    stays = reason in (*SAYS_NOTHING, *NOT_AT_ONCE)
    write(catalog, page(A, 1, "a", [link(B)]))
    seq = catalog.last_seq()

    write(catalog, failure(A, 2, reason))

    assert (catalog.find(A) is not None) is stays
    assert bool(catalog.texts([1])) is stays
    assert bool(edges(catalog)) is stays
    assert kinds(catalog, seq) == ([] if stays else [(A, "delete")])


def test_refetch_replaces_document_text_and_links(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "old", [link(B), link(C)]))
    write(catalog, page(A, 2, "new", [link(C, "now"), link(D)]))

    assert catalog.texts([1])[1].body == "new"
    assert edges(catalog) == {(A, C, "now", ""), (A, D, "", "")}
    assert kinds(catalog) == [(A, "insert"), (A, "update")]


def test_page_that_became_a_redirect_keeps_only_that_edge(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B)]))
    write(catalog, redirect(A, 2, C))

    assert edges(catalog) == {(A, C, "", "redirect")}
    assert kinds(catalog) == [(A, "insert"), (A, "delete")]


def test_older_fetch_that_comes_late_is_history_only(catalog: Catalog) -> None:
    write(catalog, page(A, 5, "new", [link(B)]))
    seq = catalog.last_seq()

    write(catalog, page(A, 4, "old", [link(C)]), failure(A, 3, "not-found"))

    assert catalog.texts([1])[1].body == "new"
    assert edges(catalog) == {(A, B, "", "")}
    assert catalog.changes(seq, 10) == []


def test_document_that_comes_after_a_later_timeout_of_another_worker_is_not_lost(catalog: Catalog) -> None:
    write(catalog, failure(A, 5, "timeout"))
    write(catalog, page(A, 4, "a"))

    assert catalog.find(A) is not None


def test_failure_and_document_of_one_url_fit_into_one_batch(catalog: Catalog) -> None:
    write(catalog, failure(A, 1, "timeout"), page(A, 2, "one"), page(B, 3, "b"), page(A, 4, "two"))

    assert catalog.texts([1])[1].body == "two"
    assert kinds(catalog) == [(A, "insert"), (B, "insert"), (A, "update")]


# Duplicates


def test_first_document_with_a_digest_is_the_original_of_all_later_ones(catalog: Catalog) -> None:
    verdict = write(catalog, page(A, 1, "same"), page(B, 2, "same"), page(C, 3, "other"))
    assert verdict.duplicates == {url_id(B)}
    assert write(catalog, page(D, 0.5, "same")).duplicates == {url_id(D)}

    assert twins(catalog) == {A: "", B: A, C: "", D: A}
    assert catalog.stats()["duplicates"] == 2


def test_a_document_is_never_its_own_duplicate(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "same"))

    verdict = write(catalog, page(A, 2, "same"))

    assert not verdict.duplicates
    assert twins(catalog) == {A: ""}


def test_hint_of_the_pipeline_is_no_verdict_and_history_keeps_the_verdict(catalog: Catalog) -> None:
    hinted, unhinted = page(A, 1, "same", reason="duplicate"), page(B, 2, "same")

    write(catalog, replace(hinted, original=Original(D, 0.5)), unhinted)

    assert twins(catalog) == {A: "", B: A}
    assert [catalog.fetches.last(url).reason for url in (A, B)] == ["document", "duplicate"]  # type: ignore[union-attr]


@pytest.mark.parametrize("event", [page(A, 9, "changed"), failure(A, 9, "not-found")])
def test_when_an_original_leaves_its_digest_the_next_oldest_takes_its_part(
    catalog: Catalog, event: Entry
) -> None:
    write(catalog, page(A, 1, "same"), page(B, 2, "same"), page(C, 3, "same"))
    seq = catalog.last_seq()

    write(catalog, event)

    assert {url: twin for url, twin in twins(catalog).items() if url != A} == {B: "", C: B}
    assert kinds(catalog, seq)[0][0] == A
    assert set(kinds(catalog, seq)[1:]) == {(B, "update"), (C, "update")}


def test_changed_document_comes_after_those_that_had_its_new_digest_before(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "first"), page(B, 2, "second"))

    assert write(catalog, page(A, 3, "second")).duplicates == {url_id(A)}
    assert twins(catalog) == {A: B, B: ""}


def test_pages_without_a_digest_are_no_duplicates(catalog: Catalog) -> None:
    one, other = replace(page(A, 1), digest=b""), replace(page(B, 2), digest=b"")

    assert write(catalog, one, other) == Verdict()


def test_digests_name_the_originals_newest_first(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"), page(B, 2, "b"), page(C, 3, "b"), page(D, 4, "d"))

    assert catalog.digests(2) == {digest("d"): Original(D, 4), digest("b"): Original(B, 2)}
    assert len(catalog.digests(10)) == 3


# All or nothing, once, in any process


def test_batch_that_finds_the_disk_full_leaves_nothing_and_may_be_written_again(catalog: Catalog) -> None:
    limit = "PRAGMA max_page_count = "
    long = page(A, 1, " ".join(str(n * n) for n in range(50_000)), [link(B)])
    catalog._db.execute(f"{limit} 20")

    with pytest.raises(Unavailable, match="disk is full"):
        write(catalog, long)
    assert list(catalog.urls.all()) == [] and catalog.last_seq() == 0

    catalog._db.execute(f"{limit} 1000000")
    write(catalog, page(C, 1, "c", [link(B)]), long)
    assert edges(catalog) == {(A, B, "", ""), (C, B, "", "")}


def test_a_writer_that_waits_says_so(
    catalog: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    other = sqlite3.connect(tmp_path / "crawl" / "catalog.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    def go_on(message: str, *arguments: object) -> None:
        said.append(message % arguments)
        other.execute("ROLLBACK")

    monkeypatch.setattr(_database.logger, "warning", go_on)
    catalog._db.execute("PRAGMA busy_timeout = 10")  # ms; ten seconds else

    write(catalog, page(A, 1))

    assert catalog.find(A) is not None
    assert said == ["waiting for the catalog: another process is writing it"]
    other.close()


def test_changes_follow_each_other_and_are_read_in_pieces(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"), page(B, 1, "b"))
    write(catalog, failure(A, 2, "not-found"))

    assert catalog.changes(0, 2) == [Change(1, 1, "insert"), Change(2, 2, "insert")]
    assert catalog.changes(2, 2) == [Change(3, 1, "delete")]
    assert catalog.last_seq() == 3


def test_pieces_of_changes_are_counted_in_documents(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a"))
    write(catalog, *(redirect(f"http://a.test/{number}", 2, A) for number in range(OTHERS)))
    write(catalog, page(B, 3, "b"), page(C, 3, "c"))

    first = [change.kind for change in catalog.changes(0, 2)]
    assert first == ["insert", *["links"] * OTHERS, "insert"]
    assert [change.kind for change in catalog.changes(len(first), 2)] == ["insert"]
    assert [change.kind for change in catalog.changes(1, 1)] == ["links"] * OTHERS  # so many at most


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ([redirect(A, 1, C)], [(A, "links")]),  # it has no document
        ([failure(A, 1, "not-found")], []),  # it links nowhere, and never did
        ([redirect(A, 1, C), failure(A, 2, "timeout")], [(A, "links")]),  # the second tells nothing
        ([redirect(A, 1, C), failure(A, 2, "not-found")], [(A, "links"), (A, "links")]),
        ([redirect(A, 1, C), *(failure(A, n, "not-found") for n in (2, 3))], [(A, "links"), (A, "links")]),
        ([page(A, 1), redirect(A, 2, C), page(A, 3)], [(A, "insert"), (A, "delete"), (A, "insert")]),
    ],
)
def test_links_that_come_or_go_without_a_document_are_a_change(
    catalog: Catalog, written: list[Entry], told: list[tuple[str, str]]
) -> None:
    for entry in written:
        write(catalog, entry)

    assert kinds(catalog) == told


def test_outlinks_of_many_pages_leave_out_nofollow_and_keep_redirects(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B), link(C, rel="nofollow"), link(D)]))
    write(catalog, redirect(B, 1, C), page(D, 1, "d", [link(A)]))
    urls = dict(catalog.urls.all())

    ends = catalog.links.outlinks([number_of(catalog, A), number_of(catalog, B), 99])

    pairs = {(urls[source], urls[target]) for source, target in zip(*ends, strict=True)}
    assert pairs == {(A, B), (A, D), (B, C)}
    assert [len(column) for column in catalog.links.outlinks([])] == [0, 0]


def test_url_ids_stand_in_the_order_of_page_numbers(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B), link(C)]))
    urls = dict(catalog.urls.all())

    assert list(catalog.urls.ids()) == [url_id(urls[number]) for number in (1, 2, 3)]
    assert list(catalog.urls.ids(2)) == [url_id(urls[3])]
    assert list(catalog.urls.ids(3)) == []
    assert catalog.urls.of([3, 1, 99]) == {1: urls[1], 3: urls[3]}


def test_reader_sees_what_another_connection_committed(catalog: Catalog, tmp_path: Path) -> None:
    with closing(Catalog(tmp_path / "crawl" / "catalog.sqlite", readonly=True)) as reader:
        write(catalog, page(A, 1, "a"))

        assert reader.find(A) == catalog.find(A)
        assert reader.identity == catalog.identity


def test_reader_opens_a_catalog_that_nobody_has_open(tmp_path: Path) -> None:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as writer:
        write(writer, page(A, 1, "a"))

    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as reader:
        assert reader.stats()["documents"] == 1


WRITER = """
import sys
from pathlib import Path
from test_catalog import page, write, link
from webcrawler.archive.catalog import Catalog
name, folder = sys.argv[1:]
catalog = Catalog(Path(folder) / "catalog.sqlite")
for n in range(10):
    write(catalog, page(f"http://{name}.test/{n}", n, f"same {n}", [link(f"http://all.test/{n}")]))
"""


@pytest.mark.slow
def test_several_processes_write_at_once_and_agree(tmp_path: Path) -> None:
    commands = [[sys.executable, "-c", WRITER, name, str(tmp_path)] for name in "wxyz"]
    here = str(Path(__file__).parent)
    processes = [subprocess.Popen(command, cwd=here) for command in commands]

    assert [process.wait(timeout=60) for process in processes] == [0, 0, 0, 0]

    with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:
        assert catalog.stats() == {"servers": 4, "documents": 40, "duplicates": 30, "links": 40}
        assert [change.seq for change in catalog.changes(0, 100)] == list(range(1, 41))
        assert sorted(number for number, _ in catalog.urls.all()) == list(range(1, 51))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_catalog_at_rest_can_be_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    Catalog(tmp_path / "catalog.sqlite").close()
    tmp_path.chmod(0o555)
    try:
        with closing(Catalog(tmp_path / "catalog.sqlite", readonly=True)) as catalog:
            assert catalog.count_documents() == 0
    finally:
        tmp_path.chmod(0o755)


@pytest.mark.parametrize("readonly", [False, True])
def test_what_is_no_catalog_is_refused_in_one_line(tmp_path: Path, readonly: bool) -> None:
    (tmp_path / "catalog.sqlite").write_bytes(b"something else, and long enough to be looked at" * 100)

    with pytest.raises(BadInput, match=r"^[^\n]*catalog\.sqlite[^\n]*$"):
        Catalog(tmp_path / "catalog.sqlite", readonly)


def test_folder_that_cannot_be_made_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(BadInput, match="cannot be written"):
        Catalog(tmp_path / "file" / "catalog.sqlite")


def test_reading_where_nothing_was_crawled_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="crawl something first"):
        Catalog(tmp_path / "catalog.sqlite", readonly=True)


# The link graph


def test_graph_has_all_urls_and_all_edges(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B, "to b"), link(C)]), redirect(B, 2, D))

    graph = catalog.links.to_networkx()

    assert {number: graph.nodes[number]["url"] for number in graph} == {1: A, 2: B, 3: C, 4: D}
    assert set(graph.edges) == {(1, 2), (1, 3), (2, 4)}
    assert graph.edges[1, 2] == {"anchor": "to b", "rel": ""}
    assert graph.edges[2, 4]["rel"] == "redirect"


def test_top_linked_counts_in_links(catalog: Catalog) -> None:
    write(catalog, page(A, 1, "a", [link(B), link(C)]), page(D, 2, "d", [link(C)]))
    write(catalog, page(B, 3, "b", [link(C)]))

    assert catalog.links.most_linked(2) == [(C, 3), (B, 1)]


# What must always hold

urls_of_tests = st.sampled_from([A, B, C, D])
bodies = st.sampled_from(["same", "other", "third"])
outlinks = st.lists(urls_of_tests.map(link), max_size=3, unique_by=lambda target: target.url)
reasons = st.sampled_from(["timeout", "not-found", "not-modified", "server-error", "robots-unreachable"])
times = st.integers(1, 1000)
entries_of_tests = st.one_of(
    st.builds(page, urls_of_tests, times, bodies, outlinks),
    st.builds(failure, urls_of_tests, times, reasons),
    st.builds(redirect, urls_of_tests, times, urls_of_tests),
)
histories = st.lists(
    entries_of_tests, max_size=12, unique_by=lambda e: (e.fetch.lease.id, e.fetch.fetched)
).map(lambda history: sorted(history, key=lambda entry: entry.fetch.fetched))


@contextmanager
def new_catalog() -> Iterator[Catalog]:
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Catalog(Path(folder) / "catalog.sqlite")) as catalog,
    ):
        yield catalog


def tables(catalog: Catalog) -> dict[str, list[object]]:
    names = (*VIEWS, "changes", "urls")
    return {name: catalog._db.execute(f"SELECT * FROM {name}").fetchall() for name in names}


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(histories, st.data())
def test_replayed_batches_change_nothing(history: list[Entry], data: st.DataObject) -> None:
    with new_catalog() as catalog:
        written = 0
        while written < len(history):
            end = data.draw(st.integers(written + 1, len(history)))
            write(catalog, *history[written:end])
            before = tables(catalog)

            again = data.draw(st.lists(st.sampled_from(history[:end]), max_size=5))
            write(catalog, *history[data.draw(st.integers(0, end)) : end], *again)

            assert tables(catalog) == before
            written = end


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(histories, st.data())
def test_cutting_into_batches_and_restarts_make_no_difference(
    history: list[Entry], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as many:
        with closing(Catalog(Path(one) / "catalog.sqlite")) as catalog:
            write(catalog, *history)
        written = 0
        while written < len(history):
            end = data.draw(st.integers(written + 1, len(history)))
            with closing(Catalog(Path(many) / "catalog.sqlite")) as catalog:
                write(catalog, *history[written:end])
            written = end

        if history:
            assert logical(one) == logical(many)


def logical(folder: str) -> tuple[object, ...]:
    """What a reader sees. Numbers of changes differ where a follower is repointed within a batch, and
    which of equal pages is the original depends on what was known when they were compared.
    """
    catalog = Catalog(Path(folder) / "catalog.sqlite", readonly=True)
    documents = {d.url: d._replace(number=0, duplicate_of=0) for d in catalog.documents(range(1, 9)).values()}
    urls = sorted(url for _, url in catalog.urls.all())
    bodies_by_url = {url: catalog.texts([number]).get(number) for number, url in catalog.urls.all()}
    equal = Counter(original or url for url, original in twins(catalog).items()).values()
    seen = (documents, sorted(equal), edges(catalog), urls, bodies_by_url)
    catalog.close()
    return seen


def shown(catalog: Catalog, numbers: Sequence[int]) -> dict[int, Document]:
    """Whether they are duplicates, not of which page."""
    documents = catalog.documents(numbers).items()
    return {number: one._replace(duplicate_of=bool(one.duplicate_of)) for number, one in documents}


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(histories)
def test_following_the_changes_gives_the_documents_and_the_links(history: list[Entry]) -> None:
    with new_catalog() as catalog:
        documents: dict[int, object] = {}
        links: dict[int, set[tuple[int, int]]] = {}
        seq = 0
        for start in range(0, len(history), 3):
            write(catalog, *history[start : start + 3])
            for change in catalog.changes(seq, 100):
                seq = change.seq
                documents.pop(change.number, None)
                documents.update(shown(catalog, [change.number]))
                links[change.number] = set(zip(*catalog.links.outlinks([change.number]), strict=True))

            assert documents == shown(catalog, range(1, 9))
            assert set().union(*links.values()) == {(a, b) for a, b, *_ in catalog.links.all()}


@pytest.mark.slow
@settings(max_examples=examples(40), deadline=None)
@given(histories, st.integers(1, 8))
def test_the_in_links_are_the_links_turned_round(history: list[Entry], at_once: int) -> None:
    with new_catalog() as catalog:
        for start in range(0, len(history), at_once):
            write(catalog, *history[start : start + at_once])
            links = [(link.source, link.target) for link in catalog.links.all()]

            for number, url in catalog.urls.all():
                assert catalog.links.sources_of(url).tolist() == [s for s, t in links if t == number]
            assert catalog.links.sources_of("http://unknown.test/").tolist() == []


@settings(max_examples=examples(40), deadline=None)
@given(histories)
def test_states_add_up(history: list[Entry]) -> None:
    """The newest fetches that tell what stands there, by reason, equal the tables; all are in the history."""
    with new_catalog() as catalog:
        for entry in history:
            write(catalog, entry)
        telling = {"document", "not-found", "redirect"}
        newest = {e.fetch.lease.url: e for e in history if e.fetch.reason in telling}
        reasons = Counter(entry.fetch.reason for entry in newest.values())
        originals = {entry.digest for entry in newest.values() if entry.fetch.reason == "document"}

        stats = catalog.stats()

        assert stats["documents"] == reasons["document"]
        assert stats["duplicates"] == reasons["document"] - len(originals)
        assert stats["links"] == sum(len(entry.links) for entry in newest.values())
        assert len(tables(catalog)["fetches"]) == len(history)
        assert sum(twin == "" for twin in twins(catalog).values()) == len(originals)


# Beginnings of texts


@given(
    st.lists(st.text(max_size=400), min_size=5, max_size=5),
    st.integers(0, 3000),
    st.integers(0, 300),
    st.integers(1, 9000),
)
def test_the_beginning_of_a_text_is_the_text_with_its_body_cut_somewhere(
    fields: list[str], repeat: int, sections: int, most_bytes: int
) -> None:
    fields[4] = f"{fields[4]} ø" * repeat
    named = tuple(Section(place, f"part-{place}", "A part") for place in range(sections))
    text = Text(*fields, language="de", around=((0, 5),), sections=named)

    beginning = unpack_beginning(pack(text), most_bytes)

    body_bytes = len(beginning.body.encode())
    assert beginning == text._replace(body=text.body[: len(beginning.body)])
    assert beginning == text or most_bytes // 2 - 8 <= body_bytes <= 2 * most_bytes


def test_catalog_that_another_process_holds_is_opened_when_that_lets_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """As while the last user of a large catalog writes its log back, or a backup reads it."""
    monkeypatch.setattr(clock, "CATALOG_WAIT_SECONDS", 0.01)
    Catalog(tmp_path / "catalog.sqlite").close()
    other = sqlite3.connect(tmp_path / "catalog.sqlite", isolation_level=None, check_same_thread=False)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")

    with ThreadPoolExecutor(1) as beside:
        opened = beside.submit(Catalog, tmp_path / "catalog.sqlite")
        while caplog.text.count("waiting to open the catalog") < 3:
            assert not opened.done()
        other.close()
        with closing(opened.result()) as catalog:
            assert catalog.last_seq() == 0
