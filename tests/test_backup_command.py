"""`webcrawler backup`: a copy made amid a crawl loses nothing, whenever it is made, repeated or killed."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import Run
from inprocess import command
from localweb import Answer, Site, copy_at_rest, crawl, page, sites
from test_removing import Collection
from waiting import until

from webcrawler.archive import refuse_lost_records
from webcrawler.archive.catalog import Catalog, _database, snapshot
from webcrawler.background import hold_crawl
from webcrawler.repository import backup
from webcrawler.usage import NAME as QUERIES
from webcrawler.usage import QueryLog

PAGES = 40
GOOD = dict.fromkeys(("frontier", "catalog", "pages", "index"), "good")
slow = pytest.mark.slow


def routes() -> dict[str, Any]:
    """Three rows of pages; a seed leads to each."""
    return {f"/{n}": page(f"/{n + 3}") if n < PAGES else page() for n in range(PAGES + 3)}


def seeds(site: Site) -> str:
    return "seeds=" + ",".join(f"{site.url}/{n}" for n in range(3))


def silent(step: str, done: int, of: int | None) -> None:
    """Show no progress."""


def documents(folder: Path) -> int:
    if not (folder / "catalog.sqlite").exists():
        return 0
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        return catalog.count_documents()


def assert_good(folder: Path) -> None:
    answered = command("check", "--deep", "--json", folder=folder)
    assert json.loads(answered.out) == GOOD


def assert_nothing_is_lost(copy: Path, site: Site) -> None:
    """A crawl on the copy alone knows each page once, and can read it."""
    assert_good(copy)
    site.asked.clear()

    crawled = crawl(copy, "index")

    assert crawled.status == 0, crawled.log
    assert crawled.documents() == {site.url + path for path in site.routes}
    assert documents(copy) == len(site.routes)
    assert_good(copy)


# ---- beside a crawl


@slow
def test_a_copy_made_while_a_crawl_goes_on_loses_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The crawl decides more pages before and after each step, and the seeds wait."""
    folder, copy = tmp_path / "crawl", tmp_path / "backup"

    def wait_for_more() -> None:
        before = documents(folder)
        until(lambda: documents(folder) > before, "another batch")

    def slowly(path: Path, to: Path, progress: Callable[[int, int], None]) -> None:
        wait_for_more()
        snapshot(path, to, progress)
        wait_for_more()

    monkeypatch.setattr(sys.modules["webcrawler.repository.backup"], "snapshot", slowly)
    made = threading.Thread(target=backup, args=(folder, copy, silent))

    def begin(_: Site) -> Answer:
        made.start()
        return page("/8")

    def end(_: Site) -> Answer:
        made.join()
        return page("/33")

    with sites(site={**routes(), "/5": begin, "/30": end}) as opened:
        site = opened["site"]
        assert crawl(folder, "index", "-a", seeds(site)).status == 0
        site.routes |= {"/5": page("/8"), "/30": page("/33")}

        assert 0 < documents(copy) < PAGES
        assert_nothing_is_lost(copy, site)


@slow
def test_seeds_that_wait_are_in_it(tmp_path: Path) -> None:
    folder, copy = tmp_path / "crawl", tmp_path / "backup"
    with sites(site=routes()) as opened:
        site = opened["site"]
        assert crawl(folder, "index", "-a", seeds(site), "-a", "max_pages=2").status == 0

        backup(folder, copy, silent)

        assert_nothing_is_lost(copy, site)


# ---- again


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Collection]:
    folder = tmp_path_factory.mktemp("crawled") / "crawl"
    with sites(site=routes()) as opened:
        made = Collection(folder, opened["site"])
        made.crawl("-a", seeds(made.site), "-a", "max_pages=20")
        yield made


@pytest.fixture
def collection(crawled: Collection, tmp_path: Path) -> Collection:
    return Collection(copy_at_rest(crawled.folder, tmp_path / "crawl"), crawled.site)


@slow
def test_the_next_backup_copies_what_is_new(collection: Collection, tmp_path: Path) -> None:
    copy = tmp_path / "backup"
    first = backup(collection.folder, copy, silent)
    before = {path.name: path.stat() for path in (copy / "pages").iterdir()}
    assert backup(collection.folder, copy, silent) == 0

    collection.crawl()
    second = backup(collection.folder, copy, silent)

    after = {path.name: path.stat() for path in (copy / "pages").iterdir()}
    assert len(before) == 1 and len(after) == 2
    assert first == sum(one.st_size for one in before.values())
    assert second == sum(one.st_size for one in after.values()) - first
    assert all(after[name].st_mtime_ns == one.st_mtime_ns for name, one in before.items())
    assert documents(copy) == len(collection.site.routes)
    assert_good(copy)


@slow
def test_a_file_that_has_grown_is_continued(collection: Collection, tmp_path: Path) -> None:
    copy = tmp_path / "backup"
    size = backup(collection.folder, copy, silent)
    (file,) = (copy / "pages").iterdir()
    file.write_bytes(file.read_bytes()[: size // 2])

    assert backup(collection.folder, copy, silent) == size - size // 2
    assert_good(copy)


class Killed(BaseException):
    """Raised where a test lets a backup end; nobody catches it."""


class Hook:
    """Ends a backup at the nth time that it touches its target. Python has no way to remove a hook."""

    def __init__(self) -> None:
        self.left, self.within = 0, ""
        sys.addaudithook(self)

    def __call__(self, event: str, arguments: tuple[object, ...]) -> None:
        is_meant = self.left and event.partition(".")[0] in ("open", "os", "shutil", "sqlite3")
        if is_meant and any(str(one).startswith(self.within) for one in arguments):
            self.left -= 1
            if not self.left:
                raise Killed(event)


@pytest.fixture(scope="module")
def hook() -> Hook:
    return Hook()


@slow
def test_killed_at_any_step_it_leaves_what_was_there_and_may_be_repeated(
    collection: Collection, tmp_path: Path, hook: Hook
) -> None:
    copy, steps = tmp_path / "backup", 0
    backup(collection.folder, tmp_path / "earlier", silent)
    collection.crawl()
    while True:
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(tmp_path / "earlier", copy)
        steps += 1
        hook.left, hook.within = steps, str(copy)
        try:
            backup(collection.folder, copy, silent)
            break
        except Killed:
            assert documents(copy) in (20, len(collection.site.routes))
            with closing(Catalog(copy / "catalog.sqlite", readonly=True)) as catalog:
                catalog.refuse_damaged()
                refuse_lost_records(copy / "pages", catalog, is_deep=True)
        finally:
            hook.left = 0
        if steps % 10 == 0:
            backup(collection.folder, copy, silent)
            assert_good(copy)

    assert steps > 30
    assert not (copy / "backup.new").exists()
    assert_nothing_is_lost(copy, collection.site)


@slow
def test_what_was_purged_leaves_the_backup_too(collection: Collection, tmp_path: Path) -> None:
    copy = tmp_path / "backup"
    backup(collection.folder, copy, silent)
    collection.run("remove", collection.url("/4"), "--purge")

    backup(collection.folder, copy, silent)

    assert [path.name[-11:] for path in (copy / "pages").iterdir()] == ["-v2.warc.gz"]
    assert documents(copy) == 19
    assert_good(copy)


# ---- what is in it


def test_all_is_in_it_that_cannot_be_made_again(tmp_path: Path) -> None:
    folder, copy = tmp_path / "crawl", tmp_path / "backup"
    Catalog(folder / "catalog.sqlite").close()
    (folder / "pages").mkdir()
    QueryLog(folder / QUERIES, 30).close()
    kept = ("scope.json", "frontier.json", "demo.json", "feedback/qrels.txt", "feedback/key", "own.txt")
    kept += ("realtime/job.json",)
    left = ("index/x.seg", "anchors/x", "ranks/x", "vocabulary/x", "index.new/x", "refresh/x", "metrics/x")
    left += ("rebuilt/x", "views.log", "views.lock")
    for name in (*kept, *left):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(name)

    backup(folder, copy, silent)

    found = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    of_its_own = {"catalog.sqlite", "is-a-backup", "crawls.lock", QUERIES}
    assert found == {*kept, *of_its_own}
    assert (copy / QUERIES).stat().st_mode & 0o777 == 0o600
    assert copy.stat().st_mode & 0o777 == 0o700

    (folder / "demo.json").unlink()
    backup(folder, copy, silent)

    found = {str(path.relative_to(copy)) for path in copy.rglob("*") if path.is_file()}
    assert found == {*kept, *of_its_own} - {"demo.json"}


def test_a_snapshot_is_of_one_moment_though_others_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_database, "COPIED_PAGES", 1)
    path, steps = tmp_path / "some.sqlite", []
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE numbers AS SELECT 0 AS number")

        def write(done: int, of: int) -> None:
            steps.append(done)
            if len(steps) < 9:  # a copy that begins anew each time has to end
                db.execute("INSERT INTO numbers VALUES (?)", (done,))

        snapshot(path, tmp_path / "copy.sqlite", write)

    with closing(sqlite3.connect(tmp_path / "copy.sqlite")) as copy:
        assert copy.execute("SELECT number FROM numbers").fetchall() == [(0,)]
    assert steps == [1, 2]


# ---- refused


def test_what_is_no_backup_of_this_folder_is_refused_in_one_line(tmp_path: Path, run: Run) -> None:
    folder, copy = tmp_path / "crawl", tmp_path / "backup"
    for name in ("crawl", "other"):
        Catalog(tmp_path / name / "catalog.sqlite").close()
        (tmp_path / name / "pages").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "letter").touch()
    backup(tmp_path / "other", tmp_path / "of-another", silent)
    (tmp_path / "of-another" / "pages" / "20260101T000000-00000000.warc.gz").touch()
    backup(folder, copy, silent)
    wrong = [
        ((), "name one folder"),
        ((copy, copy), "name one folder"),
        ((folder,), "is within the data folder"),
        ((folder / "backup",), "is within the data folder"),
        ((tmp_path / "full",), "is not empty and no backup"),
        ((tmp_path / "other",), "is not empty and no backup"),
        ((tmp_path / "of-another",), "has pages that"),
    ]

    for given, says in wrong:
        answered = run("backup", *map(str, given), folder=folder)
        assert (answered.status, answered.out, answered.err.count("\n")) == (2, "", 1), answered
        assert says in answered.err
    with hold_crawl(copy):
        assert "is in use" in run("backup", str(copy), folder=folder).err
    assert "nothing was crawled" in run("backup", str(copy), folder=tmp_path / "nowhere").err
    assert not (folder / "backup").exists()


@slow
def test_a_folder_that_is_damaged_replaces_nothing(collection: Collection, tmp_path: Path, run: Run) -> None:
    copy = tmp_path / "backup"
    backup(collection.folder, copy, silent)
    for file in (collection.folder / "pages").iterdir():
        file.unlink()

    answered = run("backup", str(copy), folder=collection.folder)

    assert answered.status == 2 and "has pages that" in answered.err
    assert_good(copy)


@slow
def test_the_command_says_what_was_new(collection: Collection, tmp_path: Path, run: Run) -> None:
    copy = tmp_path / "backup"
    size = sum(path.stat().st_size for path in (collection.folder / "pages").iterdir())

    told = json.loads(run("backup", str(copy), "--json", folder=collection.folder).out)
    line = run("backup", str(copy), folder=collection.folder).out

    assert told == {"new_bytes": size}
    assert line.startswith(f"{copy} is up to date, with 0 more bytes of pages; ")
