"""`webcrawler remove --purge`: what is removed leaves the disk, nothing else does, also if killed."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from exported import export
from failpoints import HOOK
from localweb import Answer, copy_at_rest, page, scrapy, sites
from pyarrow import parquet
from test_removing import Collection
from waiting import at_rest

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import record_at, records
from webcrawler.background import hold_crawl
from webcrawler.realtime import journal
from webcrawler.scope import expand

SECRET, ANCHOR = "xyzzyword", "plughanchor"  # what a private page says, and how it calls another one
SAME = Answer("<title>Twins</title><p>The armadillo says the same here as there.")
ROUTES = {
    "/secret": SAME,
    "/": page("/private", "/copy", "/more"),
    "/private": Answer(f'<title>Private</title><p>{SECRET} <a href="/more">{ANCHOR}</a>'),
    "/copy": SAME,
    "/more": Answer("<title>More</title><p>The armadillo stays."),
}
LATER_FILE = pytest.mark.deep("the first file has the same steps as the next ones")
STEPS = ("before-write", "written", "moved", "swapped")
WHERE = {"catalog.sqlite", "MAIN", "vocabulary.npz"}  # MAIN: segments of the indexes
PURGED, STAYING = ("/private", "/secret"), {"/", "/copy", "/more"}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    """Two WARC files: the body of /copy, a duplicate, stands in the other one, under /secret."""
    with sites(site=ROUTES) as opened:
        made = Collection(tmp_path_factory.mktemp("purge") / "crawl", opened["site"])
        made.crawl("-a", f"seeds={made.url('/secret')}")
        made.crawl("-a", f"seeds={made.url('/')}")
        made.run("report")
        yield made


@pytest.fixture
def collection(crawled: Collection, tmp_path: Path) -> Collection:
    return Collection(copy_at_rest(crawled.folder, tmp_path / "crawl"), crawled.site)


def purge(collection: Collection) -> dict[str, int]:
    answer: dict[str, int] = collection.ask("remove", *map(collection.url, PURGED), "--purge")
    return answer


def holds(folder: Path, *words: str) -> list[str]:
    """The files whose bytes hold one of the words."""
    found = [path for path in folder.rglob("*") if path.is_file() and folder / "redis" not in path.parents]
    return [path.name for path in found if any(word.encode() in path.read_bytes() for word in words)]


def archived(collection: Collection) -> dict[str, list[bytes]]:
    """The bodies of all records in the WARC files by path, each record once."""
    found: dict[str, list[bytes]] = {}
    for record in records(collection.folder / "pages"):
        path = record.response.url.removeprefix(collection.site.url)
        found.setdefault(path, []).append(record.response.body)
    return found


def check(collection: Collection) -> None:
    """All that stays is where the catalog says; nothing is left of what was purged."""
    assert {path: len(bodies) for path, bodies in archived(collection).items()} == dict.fromkeys(STAYING, 1)
    with closing(Catalog(collection.folder / "catalog.sqlite", readonly=True)) as catalog:
        documents = catalog.documents([number for number, _ in catalog.urls.all()]).values()
        assert {one.url.removeprefix(collection.site.url) for one in documents} == STAYING
        for one in documents:
            assert one.place is not None
            record = record_at(collection.folder / "pages", one.place)
            path = one.url.removeprefix(collection.site.url)
            assert record.response.url == one.url
            assert record.response.body.decode() == ROUTES[path].body
            assert (newest := catalog.fetches.last(one.url)) is not None
            assert newest.place == one.place
        for path in PURGED:
            assert (fetched := catalog.fetches.last(collection.url(path))) is not None
            assert fetched.place is None
    assert holds(collection.folder, SECRET, ANCHOR) == []


@pytest.mark.slow
def test_nothing_of_a_purged_page_is_left_on_the_disk_and_a_duplicate_gets_its_body(
    collection: Collection,
) -> None:
    before = holds(collection.folder, SECRET, ANCHOR)
    assert {name.partition("_")[0].partition("-")[0] for name in before} == WHERE
    assert archived(collection)["/copy"] == [b""]
    with closing(sqlite3.connect(collection.folder / "catalog.sqlite")) as db:
        private = "SELECT packed FROM texts JOIN urls USING (number) WHERE path = '/private'"
        (packed,) = db.execute(private).fetchone()

    answer = purge(collection)

    assert (answer["documents"], answer["records_deleted"], answer["duplicates_completed"]) == (2, 2, 1)
    check(collection)
    assert packed not in (collection.folder / "catalog.sqlite").read_bytes()
    assert collection.found("armadillo") == {"/copy", "/more"}
    assert collection.found(SECRET) == set()


@pytest.mark.slow
def test_parts_that_tell_other_machines_of_it_go_too(collection: Collection, tmp_path: Path) -> None:
    export(collection.folder, str(tmp_path / "set"))
    before = parts(tmp_path / "set")

    collection.ask("remove", *map(collection.url, PURGED), "--purge", "-s", f"DATASET_URL={tmp_path}/set")
    at_rest(collection.folder)

    for word in (SECRET, ANCHOR):
        assert word in before
        assert word not in parts(tmp_path / "set")
    assert "armadillo" in parts(tmp_path / "set")


def parts(folder: Path) -> str:
    """All values of all Parquet files."""
    return "".join(str(parquet.read_table(path).to_pylist()) for path in folder.rglob("*.parquet"))


@pytest.mark.slow
def test_a_page_that_was_removed_before_leaves_sqlites_free_pages_too(collection: Collection) -> None:
    collection.ask("remove", *map(collection.url, PURGED))

    purge(collection)

    check(collection)


@pytest.mark.slow
def test_purging_twice_changes_nothing_more(collection: Collection) -> None:
    purge(collection)
    before = sorted(path.name for path in (collection.folder / "pages").iterdir())

    assert purge(collection)["records_deleted"] == 0
    assert sorted(path.name for path in (collection.folder / "pages").iterdir()) == before
    check(collection)


@pytest.mark.slow
@pytest.mark.parametrize(
    "failpoint",
    [
        *(f"purge.{step}:kill:1" for step in STEPS),
        *(pytest.param(f"purge.{step}:kill:{n}", marks=LATER_FILE) for n in (2, 3) for step in STEPS),
        "purge.forgotten:kill",
        "purge.compacted:kill",
        "catalog.statement:kill:3",  # amid the removal
    ],
)
def test_killed_at_any_step_the_next_run_does_the_rest(collection: Collection, failpoint: str) -> None:
    arguments = ("remove", *map(collection.url, PURGED), "--purge")
    armed = scrapy(*arguments, folder=collection.folder, FAILPOINTS=failpoint, PYTHONPATH=HOOK)
    armed.communicate(timeout=120)
    assert armed.returncode == -9

    purge(collection)

    check(collection)


@pytest.mark.slow
def test_a_running_crawl_is_not_disturbed(collection: Collection) -> None:
    with hold_crawl(collection.folder):
        status, _, told = collection.run("remove", collection.url("/private"), "--purge")

    line = "error: a crawl or a search of the web is running on this data folder: end it before --purge\n"
    assert (status, told) == (2, line)
    assert not (collection.folder / "scope.json").exists()


def test_journals_of_searches_that_quote_a_purged_page_go_too(tmp_path: Path) -> None:
    (tmp_path / "realtime").mkdir()
    empty = dict.fromkeys(journal.Journal.__annotations__, 0) | {"state": "finished"}
    for name, url in (("one", "http://a.test/1"), ("two", "http://a.test/2")):
        path = tmp_path / "realtime" / f"{name}.json"
        path.write_text(str(empty | {"job": name, "hits": [{"url": url}]}).replace("'", '"'))

    journal.discard(tmp_path, lambda url: url in expand("http://a.test/1"))

    assert [path.name for path in (tmp_path / "realtime").glob("*.json")] == ["two.json"]
