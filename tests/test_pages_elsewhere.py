"""WARC files that are in a shared folder: put there once complete, and read there as if they were here."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from conftest import Run
from dumped import dumped
from elsewhere import Said, address, files, put_elsewhere, rebuilt, said, two_crawls
from failpoints import environment
from localweb import copy_at_rest
from starlette.testclient import TestClient
from test_pages import entry

from webcrawler.archive import refuse_lost_copies
from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import PageStore, listed, record_at, records
from webcrawler.errors import BadInput, StoreAway
from webcrawler.web import Config, make_app

GOOD = dict.fromkeys(("catalog", "pages", "frontier", "index"), "good")
STEPS = ("before-put", "there", "listed-there", "put", "only-there")


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = two_crawls(tmp_path_factory.mktemp("elsewhere") / "crawl")
    return copy_at_rest(folder, folder.with_name("at-rest"))


@pytest.fixture(scope="module")
def before(crawled: Path) -> Said:
    """What is said where all is here."""
    return said(crawled)


@pytest.fixture
def folder(crawled: Path, tmp_path: Path) -> Path:
    return copy_at_rest(crawled, tmp_path / "crawl")


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    return tmp_path / "shared"


def test_complete_files_are_there_bit_by_bit_and_stay_here_too(folder: Path, shared: Path) -> None:
    here = files(folder / "pages")

    put_elsewhere(folder, shared, keep="yes")

    assert files(Path(address(folder))) == files(folder / "pages") == here
    assert len(here) == 2


def test_with_keep_no_they_are_there_only(folder: Path, shared: Path) -> None:
    here = files(folder / "pages")

    put_elsewhere(folder, shared)

    assert files(Path(address(folder))) == here
    assert files(folder / "pages") == {}


def test_copies_exports_and_checks_are_the_same_when_nothing_is_here(
    folder: Path, shared: Path, before: Said
) -> None:
    put_elsewhere(folder, shared)

    assert said(folder) == before
    assert before.checked == GOOD
    assert len(before.exported) == 5


def test_an_empty_folder_is_rebuilt_from_the_list_beside_the_files(
    folder: Path, shared: Path, tmp_path: Path
) -> None:
    put_elsewhere(folder, shared)
    expected = rebuilt(folder)
    (tmp_path / "new/pages").mkdir(parents=True)
    shutil.copy(Path(address(folder)) / "elsewhere.json", tmp_path / "new/pages")

    assert rebuilt(tmp_path / "new") == expected
    assert len(expected["documents"]) == 5
    assert files(tmp_path / "new/pages") == {}


def test_a_backup_has_the_files_themselves(folder: Path, shared: Path, run: Run, tmp_path: Path) -> None:
    here = files(folder / "pages")
    put_elsewhere(folder, shared)

    for _ in range(2):
        assert run("backup", str(tmp_path / "backup"), folder=folder).status == 0

        assert files(tmp_path / "backup/pages") == here


def test_merged_folders_have_the_files_themselves(
    folder: Path, shared: Path, run: Run, tmp_path: Path
) -> None:
    here = files(folder / "pages")
    put_elsewhere(folder, shared)

    merged = run("merge", str(folder), str(tmp_path / "merged"), folder=folder)

    assert merged.status == 0, merged.err
    assert files(tmp_path / "merged/pages") == here


def test_what_is_purged_leaves_the_shared_folder_too(folder: Path, shared: Path, run: Run) -> None:
    put_elsewhere(folder, shared)
    names = {name: record.place for record in records(folder / "pages") if (name := record.response.url)}
    (private,) = (url for url in names if url.endswith("/private"))

    assert run("remove", private, "--purge", folder=folder).status == 0
    put_elsewhere(folder, shared)

    there = {record.response.url for record in records(folder / "pages")}
    assert there == names.keys() - {private}
    assert names[private].file not in files(Path(address(folder)))
    assert files(folder / "pages") == {}


def test_the_file_that_is_being_written_stays(folder: Path, shared: Path) -> None:
    before = files(folder / "pages").keys()
    store = PageStore(folder / "pages")
    store.append(entry())
    store.sync()

    put_elsewhere(folder, shared)

    (written,) = files(folder / "pages")
    assert files(Path(address(folder))).keys() == before
    store.close()
    put_elsewhere(folder, shared)
    assert files(Path(address(folder))).keys() == before | {written}


def test_what_is_missing_or_shorter_there_is_told_until_it_is_copied_there(
    folder: Path, shared: Path
) -> None:
    put_elsewhere(folder, shared, keep="yes")
    first, second = sorted(Path(address(folder)).glob("*.warc.gz"))
    first.unlink()
    os.truncate(second, 100)

    with pytest.raises(BadInput, match=f"^2 files .* the first is {first}"):
        refuse_lost_copies(folder / "pages")
    for lost in (first, second):
        shutil.copy(folder / "pages" / lost.name, lost)

    refuse_lost_copies(folder / "pages")


def test_what_is_missing_or_shorter_there_is_put_again_before_it_goes_from_here(
    folder: Path, shared: Path
) -> None:
    here = files(folder / "pages")
    put_elsewhere(folder, shared, keep="yes")
    first, second = sorted(Path(address(folder)).glob("*.warc.gz"))
    first.unlink()
    os.truncate(second, 100)

    put_elsewhere(folder, shared, keep="no")

    assert files(first.parent) == here
    assert files(folder / "pages") == {}


def test_what_was_put_and_never_listed_is_purged_too(folder: Path, shared: Path, run: Run) -> None:
    put_elsewhere(folder, shared)
    url, place = next((r.response.url, r.place) for r in records(folder / "pages"))
    there, pages = Path(address(folder)), folder / "pages"
    shutil.copy(there / place.file, pages)  # as if the process had died before it was listed
    known = json.loads((pages / "elsewhere.json").read_text())
    del known[address(folder)][place.file]
    (pages / "elsewhere.json").write_text(json.dumps(known))

    assert run("remove", url, "--purge", folder=folder).status == 0

    assert not (there / place.file).exists()


def test_check_says_which_file_is_missing_there(folder: Path, shared: Path, run: Run) -> None:
    put_elsewhere(folder, shared)
    lost = min(Path(address(folder)).glob("*.warc.gz"))
    lost.unlink()

    checked = run("check", "--json", folder=folder)

    assert checked.status == 1
    assert str(lost) in json.loads(checked.out)["pages"]


def test_where_the_shared_folder_is_away_each_reader_says_so_in_a_line(
    folder: Path, shared: Path, run: Run, tmp_path: Path
) -> None:
    put_elsewhere(folder, shared)
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        number = catalog.first_documents(1)[0]
    expected = dumped(folder)
    shared.rename(tmp_path / "unmounted")

    copy = TestClient(make_app(Config(folder)), base_url="http://localhost").get(f"/cached?number={number}")
    assert copy.status_code == 503
    for command in (("export", str(tmp_path / "x.warc.gz")), ("rebuild",), ("backup", str(tmp_path / "b"))):
        answered = run(*command, folder=folder)
        assert answered.status == 1, command
        assert answered.err.splitlines()[-1].endswith("is not there now: is it mounted?"), command
    assert "is it mounted?" in json.loads(run("check", "--json", folder=folder).out)["pages"]

    (tmp_path / "unmounted").rename(shared)
    assert dumped(folder) == expected
    assert json.loads(run("check", "--deep", "--json", folder=folder).out) == GOOD


def test_views_whose_shared_folder_is_away_lose_nothing_and_make_no_other(
    folder: Path,
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("webcrawler.archive.putting.TRIES", 2)
    put_elsewhere(folder, shared)
    with closing(PageStore(folder / "pages")) as store:
        store.append(entry())
    here = files(folder / "pages")
    shared.rename(tmp_path / "unmounted")

    put_elsewhere(folder, shared)

    assert (files(folder / "pages"), shared.exists()) == (here, False)
    told = [record.message for record in caplog.records if "put elsewhere later" in record.message]
    assert len(told) == 1


@pytest.mark.slow
@pytest.mark.parametrize("step", STEPS)
def test_killed_at_any_step_the_next_views_do_the_rest(folder: Path, shared: Path, step: str) -> None:
    here = files(folder / "pages")
    settings = json.dumps({"PAGES_URL": str(shared), "PAGES_KEEP": "no", "RANKER_ENABLED": "no"})
    views = [sys.executable, "-m", "webcrawler.views", str(folder)]

    armed = os.environ | environment(f"elsewhere.{step}:kill")
    killed = subprocess.run(views, input=settings, text=True, env=armed, capture_output=True)

    assert killed.returncode == -9, killed.stderr
    assert len(list(records(folder / "pages"))) == 5
    put_elsewhere(folder, shared)
    assert files(Path(address(folder))) == here
    assert files(folder / "pages") == {}


def test_a_crawl_puts_what_it_has_written_when_it_ends(tmp_path: Path) -> None:
    folder = two_crawls(tmp_path / "crawl", PAGES_URL=tmp_path / "shared", PAGES_KEEP="no")

    assert files(folder / "pages") == {}
    assert len(files(Path(address(folder)))) == 2
    assert len(list(records(folder / "pages"))) == 5


def test_a_record_that_a_file_there_has_not_is_unavailable_not_away(folder: Path, shared: Path) -> None:
    put_elsewhere(folder, shared)
    place = next(records(folder / "pages")).place
    (Path(address(folder)) / place.file).unlink()

    with pytest.raises(Exception, match="has it no more") as raised:
        record_at(folder / "pages", place)
    assert not isinstance(raised.value, StoreAway)


def test_a_damaged_list_is_told_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "elsewhere.json").write_text('{"s3://bucket": {"name": 7}}')

    with pytest.raises(BadInput, match="is damaged"):
        listed(tmp_path)


@pytest.mark.parametrize("url", ["https://example.org/", "s3://", "s3:///prefix"])
def test_what_is_no_store_is_refused_before_a_crawl_begins(tmp_path: Path, run: Run, url: str) -> None:
    answered = run("crawl", "-s", f"PAGES_URL={url}", "https://example.org/")

    assert (answered.status, answered.err) == (
        2,
        f"error: PAGES_URL={url} is neither a folder nor s3://BUCKET/PREFIX\n",
    )
