"""`webcrawler check`: what does not belong together is told, with the command that mends it."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from itertools import product
from pathlib import Path

import pytest
from inprocess import command
from localweb import Answer, Site, copy_at_rest, crawl, page, sites
from scrapy.settings import Settings
from test_rebuild_command import WITH_INDEX

from webcrawler.archive.catalog import snapshot, take_place
from webcrawler.archive.pages._members import members
from webcrawler.connection import connect
from webcrawler.frontier import Frontier, ordering
from webcrawler.repository import check

GOOD = dict.fromkeys(("catalog", "pages", "frontier", "index"), "good")
FIRST, LAST = "/0", "/8"
pytestmark = pytest.mark.slow


def routes() -> dict[str, Answer | Callable[[Site], Answer | None]]:
    """Ten pages, fetched one after the other: two runs of a crawl make a WARC file each."""
    return {"/": page("/0"), **{f"/{n}": page(f"/{n + 1}") for n in range(8)}, LAST: page("/")}


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("crawled")
    with sites(site=routes()) as opened:
        seeds = f"seeds={opened['site'].url}/"
        for most in (5, 9):
            assert (
                crawl(
                    folder / "crawl",
                    "index",
                    "-a",
                    seeds,
                    "-a",
                    f"max_pages={most}",
                    ITEM_PIPELINES=WITH_INDEX,
                ).status
                == 0
            )
            if most == 5:
                copy_at_rest(folder / "crawl", folder / "earlier")
        crawl(folder / "other", "index", "-a", seeds, ITEM_PIPELINES=WITH_INDEX)
        yield copy_at_rest(folder / "crawl", folder / "later")


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(crawled, tmp_path / "crawl"))


def told(folder: Path, *options: str) -> dict[str, str]:
    answered = command("check", "--json", *options, folder=folder)
    found: dict[str, str] = json.loads(answered.out)
    assert answered.status == int(found != GOOD), answered
    return found


# ---- damages


def lose_redis(folder: Path, crawled: Path) -> None:
    shutil.rmtree(folder / "redis")


def interrupt_a_rebuild(folder: Path, crawled: Path) -> None:
    with connect(None, folder) as connection:
        rebuilt = str(json.loads((folder / "frontier.json").read_text())["folder"])
        Frontier(connection.client, ordering("fifo")).open("breadth", rebuilding=rebuilt)


def lose_catalog(folder: Path, crawled: Path) -> None:
    for file in folder.glob("catalog.sqlite*"):
        file.unlink()


def empty_catalog(folder: Path, crawled: Path) -> None:
    lose_catalog(folder, crawled)
    (folder / "catalog.sqlite").touch()


def spoil_catalog(folder: Path, crawled: Path) -> None:
    lose_catalog(folder, crawled)
    (folder / "catalog.sqlite").write_bytes(b"this is a letter to nobody" * 999)


def spoil_a_page_of_the_catalog(folder: Path, crawled: Path) -> None:
    """One of its documents, without which the file can be opened."""
    path = folder / "catalog.sqlite"
    snapshot(path, folder / "whole", lambda done, of: None)
    take_place(folder / "whole", path)
    with closing(sqlite3.connect(path)) as db:
        (number,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = 'documents'").fetchone()
        (size,) = db.execute("PRAGMA page_size").fetchone()
    with path.open("r+b") as file:
        file.seek((number - 1) * size)
        file.write(bytes(size))


def restore_an_earlier_catalog(folder: Path, crawled: Path) -> None:
    for file in crawled.with_name("earlier").glob("catalog.sqlite*"):
        shutil.copy(file, folder)


def take_the_index_of_another_folder(folder: Path, crawled: Path) -> None:
    for view in ("index", "anchors"):
        shutil.rmtree(folder / view)
        shutil.copytree(crawled.with_name("other") / view, folder / view)


def tear(view: str, ending: str) -> Callable[[Path, Path], None]:
    def torn(folder: Path, crawled: Path) -> None:
        path = max((folder / view).glob(f"*{ending}"), key=lambda path: path.stat().st_size)
        path.write_bytes(path.read_bytes()[:-9] + b"torn away")

    return torn


def lose_a_file(folder: Path, crawled: Path) -> None:
    max((folder / "pages").glob("*.warc.gz")).unlink()


def cut_a_file(folder: Path, crawled: Path) -> None:
    """By a byte of its last record."""
    path = min((folder / "pages").glob("*.warc.gz"))
    path.write_bytes(path.read_bytes()[:-1])


def put_a_file_in_the_place_of_another(folder: Path, crawled: Path) -> None:
    first, second = sorted((folder / "pages").glob("*.warc.gz"))
    shutil.copy(first, second)


REDIS, REBUILD, REINDEX = ["frontier rebuild"], ["rebuild"], ["reindex"]
BOTH = [*REBUILD, *REDIS]
DAMAGES = [
    (lose_redis, "frontier", "Redis has lost the frontier", REDIS),
    (interrupt_a_rebuild, "frontier", "is not whole", REDIS),
    (lose_catalog, "catalog", "There is no catalog", REBUILD),
    (empty_catalog, "catalog", "is not a catalog", REBUILD),
    (spoil_catalog, "catalog", "not a database", REBUILD),
    (spoil_a_page_of_the_catalog, "catalog", "", REBUILD),
    (restore_an_earlier_catalog, "frontier index", "lacks pages that its frontier has decided", BOTH),
    (take_the_index_of_another_folder, "index", "of another catalog", REINDEX),
    (tear("index", ".seg"), "index", "cannot read the index", REINDEX),
    (tear("index", ".toc"), "index", "cannot read the index", REINDEX),
    (tear("anchors", ".seg"), "index", "cannot read the index", REINDEX),
    (lose_a_file, "pages", "1 records that the catalog knows are not there", BOTH),
    (cut_a_file, "pages", "1 records that the catalog knows are not there", BOTH),
    (put_a_file_in_the_place_of_another, "pages", "1 records that the catalog knows are not there", BOTH),
]


@pytest.mark.parametrize(("damage", "stores", "says", "mends"), DAMAGES)
def test_what_is_wrong_is_told_and_the_command_that_is_named_mends_it(
    crawled: Path,
    folder: Path,
    damage: Callable[[Path, Path], None],
    stores: str,
    says: str,
    mends: list[str],
) -> None:
    damage(folder, crawled)

    found = told(folder)
    assert [name for name, one in found.items() if one != "good"] == stores.split(), found
    assert says in found[store := stores.split()[0]]
    for one in mends:
        assert f"`webcrawler {one}`" in found[store]
        assert command(*one.split(), folder=folder).status == 0
    assert told(folder) == GOOD


def test_all_is_good_after_a_crawl_and_in_an_index_that_is_still_to_be_made(folder: Path) -> None:
    assert told(folder) == told(folder, "--deep") == GOOD

    for view in ("index", "anchors", "ranks", "vocabulary"):
        shutil.rmtree(folder / view, ignore_errors=True)

    assert told(folder) == GOOD


def another_text(member: bytes) -> bytes:
    """A whole record, of the same length also when it is deflated."""
    length = len(zlib.compress(member, 1, wbits=31))
    for place, letter in product(range(member.index(b"<title>"), len(member) - 4), b"abcxyz"):
        changed = member[:place] + bytes([letter]) + member[place + 1 :]
        if changed != member and len(deflated := zlib.compress(changed, 1, wbits=31)) == length:
            return deflated
    raise AssertionError("no letter leaves it as long")


def another_byte(member: bytes) -> bytes:
    """A torn record."""
    deflated = zlib.compress(member, 1, wbits=31)
    return deflated[:-30] + bytes(30)


@pytest.mark.parametrize("change", [another_text, another_byte])
def test_what_is_wrong_in_the_middle_of_the_pages_is_found_by_reading_them_all(
    folder: Path, change: Callable[[bytes], bytes]
) -> None:
    path = min((folder / "pages").glob("*.warc.gz"))
    with path.open("rb") as file:
        _, _, (offset, end, member), *_ = members(file, 0)
    content = path.read_bytes()
    path.write_bytes(content[:offset] + change(member) + content[end:])

    assert told(folder)["pages"] == "good"
    assert "1 records that the catalog knows are not there as stored" in told(folder, "--deep")["pages"]


def test_a_line_for_each_store_is_printed(folder: Path) -> None:
    lose_redis(folder, folder)

    answered = command("check", folder=folder)

    assert [line.split()[0] for line in answered.out.splitlines()] == list(GOOD)
    assert answered.out.count(" good\n") == 3


def test_it_may_be_asked_while_a_crawl_runs(tmp_path: Path) -> None:
    found = list[dict[str, str]]()

    def answer(site: Site) -> Answer:
        found.append(check(tmp_path, Settings({"CRAWL_DIR": str(tmp_path)}), True, lambda *_: None))
        return page("/6")

    with sites(site={**routes(), "/5": answer}) as opened:
        crawled = crawl(tmp_path, "index", "-a", f"seeds={opened['site'].url}/", ITEM_PIPELINES=WITH_INDEX)

    assert crawled.status == 0 and len(crawled.documents()) == 10
    assert found == [dict.fromkeys(GOOD, "")]


def test_where_nothing_was_crawled_it_says_so(tmp_path: Path) -> None:
    answered = command("check", folder=tmp_path)

    assert (answered.status, answered.out) == (2, "")
    assert "nothing was crawled into" in answered.err
