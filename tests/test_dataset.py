"""The tables of a folder are those of its catalog, whatever changed since."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import Clock
from crawled import crawled, fetched, link
from exported import Dataset, difference, export

from webcrawler.archive.catalog import Catalog
from webcrawler.dataset import PURGED, manifest
from webcrawler.dataset import export as exporter
from webcrawler.dataset.export import KEPT_SECONDS, Exporting
from webcrawler.dataset.place import Place
from webcrawler.records import Entry, Text

A, B, C, D = (f"http://{name}.test/" for name in ("a", "b.a", "c", "d"))
FAR = "https://far.example:8443/Some/page?q=1"
SAME = b"1" * 20


def at(time: float, entry: Entry, text: str = "", digest: bytes = b"") -> Entry:
    """A page as it was fetched at a time: with this text, and the bytes of this digest."""
    fetch = replace(entry.fetch, fetched=time, lease=entry.fetch.lease._replace(token=int(time)))
    said = Text(text, "One\nTwo", "about it", "", f"{text} body", language="en") if text else entry.text
    return replace(entry, fetch=fetch, digest=digest or entry.digest, text=said)


def small_web() -> list[Entry]:
    """A document with links, a duplicate, a page without index, a redirect and one that is gone."""
    links = link(B, "to  b"), link(FAR, "far"), link(D, "", "nofollow")
    return [
        at(1, fetched(A, *links), "Bread and butter"),
        at(2, fetched(B, link(A, "back " + "x" * 300)), "Bread", SAME),
        at(3, fetched(C), "Bread", SAME),
        replace(at(4, fetched(D), "Hidden"), noindex=True),
        at(5, fetched(f"{A}old", reason="redirect", target=B)),
        at(6, fetched(f"{A}gone", reason="not-found")),
    ]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return crawled(tmp_path / "crawl", *small_web())


@pytest.fixture
def url(tmp_path: Path) -> str:
    return str(tmp_path / "dataset")


def test_all_rows_are_those_of_the_catalog(folder: Path, url: str) -> None:
    export(folder, url)

    dataset = Dataset(url)
    assert not difference(dataset, folder)
    assert dict(dataset.rows("SELECT url, state FROM urls")) == {
        A: "document",
        B: "document",
        C: "duplicate",
        D: "noindex",
        FAR: "uncrawled",
        f"{A}old": "redirect",
        f"{A}gone": "gone",
    }


def test_addresses_are_taken_apart_as_by_common_crawl(folder: Path, url: str) -> None:
    export(folder, url)

    said = Dataset(url).rows(
        f"""SELECT url_surtkey, url_host_name, url_host_tld, url_host_registered_domain,
            url_host_name_reversed, url_protocol, url_port, url_path, url_query
            FROM urls WHERE url = '{FAR}'"""
    )

    surt = "example,far:8443)/some/page?q=1"
    parts = "far.example", "example", "far.example", "example.far", "https", 8443, "/Some/page", "q=1"
    assert said == [(surt, *parts)]


def gone(catalog: Catalog, url: str) -> None:
    """A document leaves when it is missing for longer than an hour."""
    for time in (10_000, 20_000):
        catalog.write([(at(time, fetched(url, reason="not-found")), None)])


Write = Callable[[Catalog], object]
CHANGES: dict[str, Write] = {
    "a page has another text and other links": lambda c: c.write(
        [(at(9, fetched(A, link(C, "new"), link(B, "to b")), "Cake", b"3" * 20), None)]
    ),
    "a page is gone": lambda c: gone(c, A),
    "the original is gone, its duplicate takes its part": lambda c: gone(c, B),
    "a page became a duplicate": lambda c: c.write([(at(9, fetched(A), "Bread", SAME), None)]),
    "a duplicate is none any more": lambda c: c.write([(at(9, fetched(C), "Wine", b"4" * 20), None)]),
    "a page asks not to be indexed": lambda c: c.write(
        [(replace(at(9, fetched(A), "Bread and butter", b"5" * 20), noindex=True), None)]
    ),
    "what was linked only is fetched": lambda c: c.write([(at(9, fetched(FAR), "Far", b"6" * 20), None)]),
    "what was linked only is gone": lambda c: c.write([(at(9, fetched(FAR, reason="not-found")), None)]),
    "a redirect leads elsewhere": lambda c: c.write(
        [(at(9, fetched(f"{A}old", reason="redirect", target=FAR)), None)]
    ),
    "a server is blocked": lambda c: c.block("http://a.test"),
    "a server of which only links are known is blocked": lambda c: c.block("https://far.example:8443"),
    "documents are discarded for others": lambda c: c.discard([1, 2]),
}


def changed(folder: Path, url: str, name: str) -> None:
    """Export, change the catalog, and export again."""
    export(folder, url)
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        CHANGES[name](catalog)
    export(folder, url)


@pytest.mark.parametrize("change", CHANGES)
def test_after_a_change_the_tables_are_those_of_the_catalog_again(
    folder: Path, url: str, change: str
) -> None:
    changed(folder, url, change)

    dataset = Dataset(url)
    assert not difference(dataset, folder)
    assert dataset.manifests[0].number == 2, "changes only are written"


def test_a_server_that_is_let_in_again_comes_back(folder: Path, url: str) -> None:
    for change in (Catalog.block, Catalog.unblock):
        with closing(Catalog(folder / "catalog.sqlite")) as catalog:
            change(catalog, "http://a.test")
        export(folder, url)

        assert not difference(Dataset(url), folder)


def test_where_nothing_changed_nothing_is_written(folder: Path, url: str) -> None:
    export(folder, url)
    before = sorted(Path(url).rglob("*"))

    export(folder, url)

    assert sorted(Path(url).rglob("*")) == before


def test_two_folders_side_by_side_do_not_see_each_others_names(
    folder: Path, url: str, tmp_path: Path
) -> None:
    other = crawled(tmp_path / "other", at(1, fetched("http://other.test/"), "Tea"))
    for one in (folder, other, folder):
        export(one, url)

    dataset = Dataset(url)
    assert [m.number for m in dataset.manifests] == [1, 1]
    assert not difference(dataset, folder, other)


def test_of_a_page_that_two_homes_know_the_one_tells_that_fetched_it_last(
    folder: Path, url: str, tmp_path: Path
) -> None:
    other = crawled(
        tmp_path / "other",
        at(9, fetched(A, link(C, "there")), "Tea"),
        at(1, fetched("http://e.test/", link(B))),
    )
    export(folder, url)
    export(other, url)

    dataset = Dataset(url)
    assert dataset.rows(f"SELECT title FROM documents WHERE url = '{A}'") == [("Tea",)]
    assert dataset.rows(f"SELECT state FROM urls WHERE url = '{B}'") == [("document",)], (
        "not of who links to it"
    )
    query = f"SELECT anchor FROM links JOIN urls ON url_id = source_id WHERE url = '{A}'"
    assert dataset.rows(query) == [("there",)]


def test_another_catalog_in_the_folder_takes_the_place_of_the_first(folder: Path, url: str) -> None:
    export(folder, url)
    for file in folder.glob("catalog.*"):
        file.unlink()
    crawled(folder, *small_web()[:2])

    export(folder, url)

    dataset = Dataset(url)
    assert not difference(dataset, folder)
    assert [m.epoch for m in dataset.manifests] == [1]
    assert {part.epoch for m in dataset.manifests for part in m.parts} == {1}


def test_a_catalog_of_a_backup_is_exported_anew(folder: Path, url: str, tmp_path: Path) -> None:
    export(folder, url)
    shutil.copy(folder / "catalog.sqlite", tmp_path / "backup")
    changed(folder, url, "a page is gone")
    shutil.copy(tmp_path / "backup", folder / "catalog.sqlite")

    export(folder, url)

    assert not difference(Dataset(url), folder)


def test_half_a_part_is_found_at_the_next_start_and_all_is_exported_anew(folder: Path, url: str) -> None:
    export(folder, url)
    part = next(Path(url, "v1/links").rglob("*.parquet"))
    part.write_bytes(part.read_bytes()[:100])

    export(folder, url)

    assert not difference(Dataset(url), folder)


def test_a_manifest_of_a_newer_version_ends_the_export_and_stays(
    folder: Path, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    export(folder, url)
    file = next(Path(url, "v1/manifest").rglob("*.json"))
    file.write_text(file.read_text().replace('"format": 1', '"format": 2'))

    export(folder, url)

    (line,) = [r.getMessage() for r in caplog.records if r.name == "webcrawler.dataset.export"]
    assert "is of a newer version (2) of this program: update it: nothing is exported" in line
    assert len(list(Path(url, "v1/manifest").rglob("*.json"))) == 1


@pytest.mark.parametrize(("few", "most"), [("FEW_ROWS", 2 * 4 + 4), ("FEW_PARTS", 12)])
def test_all_is_told_anew_once_most_of_it_has_been_replaced_or_parts_are_many(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, few: str, most: int
) -> None:
    monkeypatch.setattr(exporter, few, 5)
    epochs = list[int]()
    for time in range(10, 30):
        with closing(Catalog(folder / "catalog.sqlite")) as catalog:
            catalog.write([(at(time, fetched(A), f"Bread {time}", b"%020d" % time), None)])
        export(folder, url)

        dataset = Dataset(url)
        assert not difference(dataset, folder)
        assert dataset.rows_held["documents"] <= most
        epochs.append(dataset.manifests[0].epoch)
    assert 1 < epochs[-1] < 10, "now and then, not each time"


def test_of_what_was_purged_nothing_is_left(folder: Path, url: str, clock: Clock) -> None:
    changed(folder, url, "a page has another text and other links")
    (folder / PURGED).touch()

    export(folder, url)

    dataset = Dataset(url)
    assert not difference(dataset, folder)
    assert not dataset.manifests[0].replaced
    there = {str(path.relative_to(url)) for path in Path(url).rglob("*.parquet")}
    assert there == {part.path for part in dataset.manifests[0].parts}
    assert dataset.rows_held["documents"] == 4
    assert not (folder / PURGED).exists()


def test_finds_of_a_search_are_no_part_of_it_until_they_are_kept(folder: Path, url: str) -> None:
    found = at(9, fetched("http://find.test/", link(B, "a find")), "Find", b"7" * 20)
    query = "SELECT title FROM documents WHERE url_host_name = 'find.test'"
    with closing(Catalog(folder / "catalog.sqlite", job="search")) as catalog:
        catalog.write([(found, None)])
        export(folder, url)
        before = Dataset(url)

        catalog.discard_finds([found.fetch.lease.id])
    export(folder, url)

    assert not before.rows(query)
    assert not before.rows("FROM links WHERE anchor = 'a find'")
    assert Dataset(url).rows(query) == [("Find",)]
    assert not difference(Dataset(url), folder)


def test_parts_that_were_replaced_stay_for_a_day(
    folder: Path, url: str, monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    clock.hold(1_000_000)
    monkeypatch.setattr(exporter, "FEW_PARTS", 5)
    changed(folder, url, "a page has another text and other links")
    replaced = manifest.newest(Place(url))[0].replaced
    there = [Path(url, path).exists() for path, _ in replaced]

    clock.hold(1_000_001 + KEPT_SECONDS)
    changed(folder, url, "a duplicate is none any more")

    assert there and all(there)
    assert not any(Path(url, path).exists() for path, _ in replaced)
    assert not difference(Dataset(url), folder)


def test_a_store_that_is_away_is_asked_again_and_holds_up_nobody(
    folder: Path, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    Path(url).mkdir()
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        exporting = Exporting(catalog, folder, url)
        shutil.rmtree(url)
        Path(url).write_text("no folder")

        assert not exporting.step(crawling=False)

        assert not exporting.is_behind()
    assert "it is tried again" in caplog.text
    Path(url).unlink()
    export(folder, url)
    assert not difference(Dataset(url), folder)
