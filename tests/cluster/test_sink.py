"""The cluster has what the catalog has: nothing is missing, stale, come back, or there twice."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest

from webcrawler.archive.catalog import Catalog
from webcrawler.opensearch import mapping
from webcrawler.opensearch.client import Cluster
from webcrawler.opensearch.refused import read

from .opensearch import Cluster as Nodes
from .sunk import differences, documents, drain, gone, page, pages, sink, sunk, write

pytestmark = pytest.mark.opensearch


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """Of a collection that no other test has."""
    return f"t{abs(hash(request.node.nodeid)):x}"


@pytest.fixture
def url(opensearch: Nodes, name: str) -> str:
    return opensearch.url(name)


def test_it_has_pages_and_those_that_are_only_linked_to(
    opensearch: Nodes, name: str, url: str, tmp_path: Path
) -> None:
    sunk(write(tmp_path, *pages(5)), url)

    assert len(documents(opensearch, name, "pages")) == 5
    assert len(documents(opensearch, name, "named")) == 6
    assert differences(opensearch, name, tmp_path).none


def test_page_that_changes_goes_and_comes_back_is_followed(
    opensearch: Nodes, name: str, url: str, tmp_path: Path
) -> None:
    write(tmp_path, *pages(3))
    with sink(tmp_path, url) as opened:
        for entry in (
            page("http://a.test/0", "http://a.test/other", at=100_000.0, body="another"),
            gone("http://a.test/1", at=200_000.0),
            gone("http://a.test/1", at=300_000.0),
            page("http://a.test/1", at=400_000.0),
        ):
            write(tmp_path, entry)
            drain(opened)

            assert differences(opensearch, name, tmp_path).none


def test_page_that_is_crawled_leaves_those_that_are_only_linked_to(
    opensearch: Nodes, name: str, url: str, tmp_path: Path
) -> None:
    sunk(write(tmp_path, page("http://a.test/", "http://a.test/next")), url)
    assert [one["url"] for one in documents(opensearch, name, "named")] == ["http://a.test/next"]

    sunk(write(tmp_path, page("http://a.test/next")), url)

    assert documents(opensearch, name, "named") == []
    assert differences(opensearch, name, tmp_path).none


def test_older_write_does_not_bring_back_what_is_gone(
    opensearch: Nodes, name: str, url: str, tmp_path: Path
) -> None:
    sunk(write(tmp_path, page("http://a.test/")), url)
    old = opensearch.ask(f"/{name}-pages/_search", "POST", {"version": True})["hits"]["hits"][0]
    sunk(write(tmp_path, gone("http://a.test/", 100_000.0), gone("http://a.test/", 200_000.0)), url)

    again = f"/{name}-pages-000001/_doc/{old['_id']}?version={old['_version']}&version_type=external_gte"
    status, _ = Cluster(url).send("PUT", again, old["_source"])

    assert status == 409
    assert documents(opensearch, name, "pages") == []


def test_document_that_is_refused_is_set_aside_and_the_others_are_written(
    opensearch: Nodes, name: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = f"http://a.test/{'x' * 33_000}"  # a keyword of the cluster has 32,766 bytes at most
    with closing(Catalog(tmp_path / "catalog.sqlite")) as catalog:
        catalog.write([(page(long), None), (page("http://a.test/"), None)])

    sunk(tmp_path, url)

    assert [one["url"] for one in documents(opensearch, name, "pages")] == ["http://a.test/"]
    assert list(read(tmp_path)) == [long]
    assert "immense term" in read(tmp_path)[long]["why"]


def test_catalog_that_was_restored_from_a_backup_is_written_anew(
    opensearch: Nodes, name: str, url: str, tmp_path: Path
) -> None:
    backup = write(tmp_path / "backup", *pages(2))
    (tmp_path / "backup/catalog.sqlite").rename(tmp_path / "catalog.sqlite")
    copy = (tmp_path / "catalog.sqlite").read_bytes()
    sunk(write(tmp_path, *pages(4, at=100_000.0, body="later")), url)

    (tmp_path / "catalog.sqlite").write_bytes(copy)
    sunk(tmp_path, url)

    assert backup.exists()
    assert len(documents(opensearch, name, "pages")) == 2
    assert differences(opensearch, name, tmp_path).none


def test_another_mapping_begins_new_indexes_and_searches_change_over_when_they_are_full(
    opensearch: Nodes, name: str, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sunk(write(tmp_path, *pages(300)), url)
    monkeypatch.setattr(mapping, "VERSION", 999)

    with sink(tmp_path, url) as opened:
        assert opened.step()
        assert len(documents(opensearch, name, "pages")) == 300  # of the old one
        write(tmp_path, page("http://a.test/later"))
        drain(opened)

    assert differences(opensearch, name, tmp_path).none
    assert opensearch.ask(f"/_alias/{name}-pages").keys() == {f"{name}-pages-000002"}
    assert opensearch.ask(f"/{name}-pages-000001/_count")["count"] == 300
