"""The follower: the index holds what the catalog holds, whatever dies when."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from waiting import at_rest, holder, until
from whoosh.index import open_dir
from whoosh.query import Phrase, Term

from webcrawler.archive.catalog import Catalog
from webcrawler.background import hold_crawl
from webcrawler.index import follower
from webcrawler.index.folder import applied_seq
from webcrawler.index.follower import BATCH, Follower, Following
from webcrawler.index.writer import WhooshEngine
from webcrawler.records import Entry, Fetch, Lease, Link, Text
from webcrawler.urls import url_id
from webcrawler.views import derive


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    with closing(Catalog(tmp_path / "catalog.sqlite")) as opened:
        yield opened


def lease(name: str) -> Lease:
    url = f"http://a.example/{name}"
    return Lease(url_id(url), url, url, "http://a.example", 1)


def page(name: str, body: str, *, digest: str = "", noindex: bool = False, fetched: float = 1.0) -> Entry:
    headers = (("Content-Type", "text/html"),)
    fetch = Fetch(lease(name), "done", "document", fetched, status=200, headers=headers)
    content = (digest or f"{name} {body}").encode()
    return Entry(fetch, content, text=Text(name, "", "", "", body), noindex=noindex)


def gone(name: str, fetched: float) -> Entry:
    return Entry(Fetch(lease(name), "failed", "not-found", fetched, status=410))


def write(catalog: Catalog, *entries: Entry) -> None:
    catalog.write([(entry, None) for entry in entries])


def follow(folder: Path) -> None:
    with closing(Follower(folder)) as following:
        following.catch_up()


def urls(folder: Path) -> list[str]:
    """What is in the index, sorted; a document that is there twice is here twice."""
    with open_dir(str(folder / "index")).searcher() as searcher:
        return sorted(stored["url"].rpartition("/")[2] for stored in searcher.documents())


def found(folder: Path, word: str) -> list[str]:
    with open_dir(str(folder / "index")).searcher() as searcher:
        hits = searcher.search(Term("body", word), limit=None)
        return sorted(hit["url"].rpartition("/")[2] for hit in hits)


def test_followed_documents_are_found_by_their_words(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page("cell", "the human genome"), page("star", "red giants"))

    follow(tmp_path)

    assert found(tmp_path, "genom") == ["cell"]
    assert found(tmp_path, "giant") == ["star"]
    assert applied_seq(tmp_path / "index") == catalog.last_seq()


def test_duplicates_and_noindex_pages_are_not_in_the_index(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page("one", "word", digest="same"), page("two", "word", digest="same"))
    write(catalog, page("private", "word", noindex=True))

    follow(tmp_path)

    assert found(tmp_path, "word") == ["one"]


@pytest.mark.parametrize(
    "later",
    [
        gone("page", 2.0),
        page("page", "ancient", noindex=True, fetched=2.0),
        page("page", "", digest="first", fetched=2.0),
    ],
    ids=["gone", "noindex", "became a duplicate"],
)
def test_what_is_not_to_be_found_any_more_leaves_the_index(
    tmp_path: Path, catalog: Catalog, later: Entry
) -> None:
    write(catalog, page("first", "first", digest="first"), page("page", "ancient"))
    follow(tmp_path)
    assert found(tmp_path, "ancient") == ["page"]

    write(catalog, later)
    follow(tmp_path)

    assert found(tmp_path, "ancient") == []
    assert urls(tmp_path) == ["first"]


def test_a_changed_page_is_there_once_with_its_new_words(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page("page", "ancient"))
    follow(tmp_path)

    write(catalog, page("page", "modern"))
    write(catalog, page("page", "future", fetched=2.0))
    follow(tmp_path)

    assert urls(tmp_path) == ["page"]
    assert (found(tmp_path, "ancient"), found(tmp_path, "futur")) == ([], ["page"])


def test_following_again_from_the_start_changes_nothing(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, *(page(f"page{i}", f"word{i} common") for i in range(20)), gone("page3", 2.0))
    follow(tmp_path)
    before = urls(tmp_path)

    with closing(Follower(tmp_path)) as following:
        following._engine.applied = 0
        assert following.step() > 0

    assert urls(tmp_path) == before


def test_a_commit_holds_at_most_500_documents(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, *(page(f"page{i}", "word") for i in range(BATCH + 7)))

    with closing(Follower(tmp_path)) as following:
        assert [following.step(), following.step(), following.step()] == [BATCH, 7, 0]

    assert len(urls(tmp_path)) == BATCH + 7


@pytest.mark.slow
def test_many_small_commits_are_merged_without_losing_a_word(tmp_path: Path, catalog: Catalog) -> None:
    names = [f"page{i}" for i in range(40)]
    with closing(Follower(tmp_path)) as following:
        for name in names:
            write(catalog, page(name, f"{name} shared words stand here"))
            following.step()
        write(catalog, gone("page7", 2.0))
        following.step()
        assert len(open_dir(str(tmp_path / "index"))._segments()) < 16
        following.optimize()
    names.remove("page7")

    assert len(open_dir(str(tmp_path / "index"))._segments()) == 1
    assert urls(tmp_path) == sorted(names)
    assert found(tmp_path, "share") == sorted(names)
    assert all(found(tmp_path, name) == [name] for name in names)
    assert found(tmp_path, "page7") == []
    with open_dir(str(tmp_path / "index")).searcher() as searcher:
        assert len(searcher.search(Phrase("body", ["share", "word"]), limit=None)) == len(names)
        numbers = searcher.reader().column_reader("number")
        stored = [searcher.stored_fields(document)["number"] for document in range(len(names))]
        assert [numbers[document] for document in range(len(names))] == stored


@pytest.mark.parametrize("damage", ["empty toc", "torn toc", "segment gone", "segment cut"])
def test_a_damaged_index_is_made_anew(
    tmp_path: Path, catalog: Catalog, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    write(catalog, page("page", "word"))
    follow(tmp_path)
    (toc,), (segment,) = ((tmp_path / "index").glob(pattern) for pattern in ("*.toc", "*.seg"))
    broken = toc if "toc" in damage else segment
    data = broken.read_bytes()
    broken.write_bytes(b"" if damage == "empty toc" else data[: len(data) // 2])
    if damage == "segment gone":
        broken.unlink()

    follow(tmp_path)

    assert urls(tmp_path) == ["page"]
    assert "rebuilt" in caplog.text


@pytest.mark.parametrize("name", ["index", "anchors"])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_a_segment_that_a_power_loss_has_torn_is_made_anew(
    tmp_path: Path, catalog: Catalog, name: str, share: float, caplog: pytest.LogCaptureFixture
) -> None:
    pages = [page(f"page{i}", f"word word{i}") for i in range(20)]
    target = "http://b.example/"
    pages[0] = replace(pages[0], links=(Link(target, url_id(target), target, "an anchor"),))
    write(catalog, *pages)
    follow(tmp_path)
    (segment,) = (tmp_path / name).glob("*.seg")
    data = bytearray(segment.read_bytes())
    start = int(share * len(data))
    data[start : start + 64] = bytes(byte ^ 255 for byte in data[start : start + 64])
    segment.write_bytes(data)

    follow(tmp_path)

    assert found(tmp_path, "word") == sorted(f"page{i}" for i in range(20))
    assert "rebuilt" in caplog.text


def test_who_waits_for_the_index_does_not_trust_a_damaged_one(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, *(page(f"page{i}", f"word word{i}") for i in range(20)))
    follow(tmp_path)
    (segment,) = (tmp_path / "index").glob("*.seg")
    data = bytearray(segment.read_bytes())
    data[len(data) // 2] ^= 1
    segment.write_bytes(data)

    follower.wait_until_caught_up(tmp_path)

    assert not segment.exists()
    assert found(tmp_path, "word") == sorted(f"page{i}" for i in range(20))


def test_files_of_a_merge_that_was_killed_are_swept(tmp_path: Path, catalog: Catalog) -> None:
    with closing(Follower(tmp_path)) as following:
        for i in range(5):
            write(catalog, page(f"page{i}", f"word{i} word"))
            following.catch_up()
    index = tmp_path / "index"
    before = {path.name for path in index.iterdir()}
    kill = "lambda event, _: event == 'webcrawler.index.written' and os.kill(os.getpid(), 9)"
    merge = f"import os, sys; sys.addaudithook({kill}); from webcrawler import views; views.main"
    code = f"{merge}([{str(tmp_path)!r}])"
    child = subprocess.run([sys.executable, "-c", code], stdin=subprocess.DEVNULL, check=False)
    assert child.returncode == -signal.SIGKILL
    assert {path.name for path in index.iterdir()} > before

    Follower(tmp_path).close()

    assert {path.name for path in index.iterdir()} == before
    assert found(tmp_path, "word") == [f"page{i}" for i in range(5)]


def remove(catalog: Catalog, folder: Path) -> None:
    catalog.close()
    for path in folder.glob("catalog.sqlite*"):
        path.unlink()


def test_an_index_of_another_catalog_is_made_anew(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page("old", "word"))
    follow(tmp_path)
    remove(catalog, tmp_path)
    with closing(Catalog(tmp_path / "catalog.sqlite")) as other:
        write(other, page("new", "word"))

    follower.wait_until_caught_up(tmp_path)

    assert urls(tmp_path) == ["new"]


@pytest.mark.parametrize("way", [lambda folder: derive(folder, {}), follower.wait_until_caught_up])
def test_an_index_that_is_ahead_of_a_restored_catalog_is_made_anew(
    tmp_path: Path, catalog: Catalog, way: Callable[[Path], object]
) -> None:
    write(catalog, page("old", "word"))
    with sqlite3.connect(tmp_path / "backup.sqlite") as backup:
        catalog._db.backup(backup)
    write(catalog, page("lost", "word"))
    follow(tmp_path)
    remove(catalog, tmp_path)
    (tmp_path / "backup.sqlite").rename(tmp_path / "catalog.sqlite")

    way(tmp_path)

    assert urls(tmp_path) == ["old"]
    assert follower.lag(tmp_path) == 0


def test_only_its_owner_may_enter_the_index_folder(tmp_path: Path, catalog: Catalog) -> None:
    follow(tmp_path)

    assert (tmp_path / "index").stat().st_mode & 0o777 == 0o700


def test_applied_seq_of_no_index_is_zero(tmp_path: Path) -> None:
    assert applied_seq(tmp_path / "index") == 0


def test_reindex_replaces_the_index_in_one_commit(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page("one", "word"), page("two", "word"))
    follow(tmp_path)
    reader = open_dir(str(tmp_path / "index")).searcher()

    follower.reindex(tmp_path)

    assert urls(tmp_path) == ["one", "two"]
    assert not (tmp_path / "index.new").exists()
    assert not reader.up_to_date()
    assert len(reader.search(Term("body", "word"))) == 2  # who still reads the old one is not disturbed
    assert reader.refresh().up_to_date()


def views_process(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-m", "webcrawler.views", str(folder)], stdin=subprocess.DEVNULL)


@pytest.mark.slow
def test_killed_followers_leave_every_document_once(tmp_path: Path, catalog: Catalog) -> None:
    names = [f"page{i}" for i in range(1200)]
    write(catalog, *(page(name, f"{name} word " * 20) for name in names))
    for commits in range(3):  # one dies before its first commit, the others somewhere after one
        before = applied_seq(tmp_path / "index")
        child = views_process(tmp_path)
        if commits:
            until(lambda b=before: applied_seq(tmp_path / "index") > b or b == catalog.last_seq(), "a commit")  # type: ignore[misc]
        else:
            until((tmp_path / "index").exists, "an index")
        child.kill()
        child.wait()

    follower.wait_until_caught_up(tmp_path)

    assert urls(tmp_path) == sorted(names)
    assert applied_seq(tmp_path / "index") == catalog.last_seq()


def test_documents_and_anchors_are_followed_while_a_crawl_is_alive(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, *(page(f"page{i}", "word") for i in range(BATCH)))
    with closing(Following(tmp_path)) as following:
        while min(WhooshEngine.applied_in(tmp_path)) < catalog.last_seq():
            following.step(crawling=True)

    assert len(found(tmp_path, "word")) == BATCH


def test_what_comes_waits_for_more_while_a_crawl_is_alive_and_not_afterwards(
    tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "PATIENCE_SECONDS", 10**9)
    with closing(Following(tmp_path)) as following:
        write(catalog, page("first", "word"))
        while following.step(crawling=True):  # what is there at the start has waited long enough
            pass
        assert found(tmp_path, "word") == ["first"]

        write(catalog, page("second", "word"))
        while following.step(crawling=True):
            pass
        assert found(tmp_path, "word") == ["first"]

        while following.step(crawling=False):
            pass
        assert found(tmp_path, "word") == ["first", "second"]
        assert not following.is_behind()


@pytest.mark.slow
def test_reindex_takes_over_from_the_views_at_work(tmp_path: Path, catalog: Catalog) -> None:
    write(catalog, page("page", "word"))
    with hold_crawl(tmp_path):
        child = views_process(tmp_path)
        until(lambda: holder(tmp_path) == child.pid, "the views")

        follower.reindex(tmp_path)

        assert child.wait(240) == 0
        assert urls(tmp_path) == ["page"]


def test_anchors_that_know_more_than_a_restored_catalog_are_made_anew(
    tmp_path: Path, catalog: Catalog
) -> None:
    """Also where the index came back with the catalog."""
    write(catalog, page("old", "word"))
    follow(tmp_path)
    shutil.copytree(tmp_path / "index", tmp_path / "backup")
    with sqlite3.connect(tmp_path / "backup.sqlite") as backup:
        catalog._db.backup(backup)
    write(catalog, page("lost", "word"))
    follow(tmp_path)

    with sqlite3.connect(tmp_path / "backup.sqlite") as backup:
        backup.backup(catalog._db)
    shutil.rmtree(tmp_path / "index")
    (tmp_path / "backup").rename(tmp_path / "index")
    follow(tmp_path)

    assert max(WhooshEngine.applied_in(tmp_path)) == catalog.last_seq() == 1
    assert urls(tmp_path) == ["old"]


@pytest.mark.slow
def test_who_waits_for_the_index_after_a_crawl_takes_over_from_the_views(
    tmp_path: Path, catalog: Catalog
) -> None:
    with hold_crawl(tmp_path):
        first = views_process(tmp_path)
        until(lambda: holder(tmp_path) == first.pid, "the views")
    write(catalog, page("page", "word"))

    follower.wait_until_caught_up(tmp_path)

    assert first.wait(240) == 0
    assert urls(tmp_path) == ["page"]
    at_rest(tmp_path)


def test_a_catalog_restored_beneath_a_running_follower_is_followed_anew(
    tmp_path: Path, catalog: Catalog
) -> None:
    write(catalog, page("old", "word"))
    with sqlite3.connect(tmp_path / "backup.sqlite") as backup:
        catalog._db.backup(backup)
    write(catalog, page("lost", "word"))
    with ThreadPoolExecutor(1) as beside, hold_crawl(tmp_path):
        following = beside.submit(derive, tmp_path, {})
        until(lambda: min(WhooshEngine.applied_in(tmp_path)) == catalog.last_seq(), "both pages")

        with sqlite3.connect(tmp_path / "backup.sqlite") as backup:
            backup.backup(catalog._db)

        until(lambda: max(WhooshEngine.applied_in(tmp_path)) == catalog.last_seq() == 1, "the old page")

    assert following.result()
    assert urls(tmp_path) == ["old"]
