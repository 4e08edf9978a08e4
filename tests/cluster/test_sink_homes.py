"""Folders that share a frontier write as its homes say; whoever was the home before changes nothing."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import MakeFrontier

from webcrawler.frontier import Frontier, home_of
from webcrawler.index import Elsewhere
from webcrawler.urls import url_id

from .opensearch import Cluster as Nodes
from .sunk import differences, documents, drain, page, pages, sink, write

pytestmark = pytest.mark.opensearch
PARTITIONS = 8
ALIVE_SECONDS = 0.2


def live(frontier: Frontier, seconds: float) -> Frontier:
    frontier.expire(seconds)
    return frontier


@pytest.fixture
def ann(make_frontier: MakeFrontier) -> Frontier:
    return make_frontier(worker="ann@host-1", partitions=PARTITIONS)


@pytest.fixture
def bob(make_frontier: MakeFrontier) -> Frontier:
    return make_frontier(worker="bob@host-2", partitions=PARTITIONS)


def site_of(frontier: Frontier, folder: str) -> str:
    """A site whose home that folder is, of the two."""
    workers = ["ann@host-1", "bob@host-2"]
    names = (f"http://site{n}.test" for n in range(1000))
    partition = frontier.partitions.of_server
    return next(one for one in names if home_of(partition(one).prefix, workers).startswith(folder))


def test_home_that_has_moved_is_the_one_whose_word_counts(
    opensearch: Nodes, tmp_path: Path, ann: Frontier, bob: Frontier
) -> None:
    url, site = opensearch.url("moved"), site_of(ann, "bob")
    theirs = write(tmp_path / "bob", page(f"{site}/", at=1.0, body="of bob"))
    ours = write(tmp_path / "ann", page(f"{site}/", at=2.0, body="of ann"))
    live(bob, 60.0)
    with sink(theirs, url, "bob", bob) as zombie:
        drain(zombie)
        bob.leave()  # its machine is gone
        live(ann, 60.0)
        with sink(ours, url, "ann", ann) as heir:
            drain(heir)

        write(theirs, page(f"{site}/", at=100_000.0, body="of bob, who comes back"))
        drain(zombie)

    assert [one["home"] for one in documents(opensearch, "moved", "pages")] == ["ann"]
    assert differences(opensearch, "moved", ours).none


def test_page_that_only_the_former_home_has_is_kept(
    opensearch: Nodes, tmp_path: Path, ann: Frontier, bob: Frontier
) -> None:
    url, site = opensearch.url("kept"), site_of(ann, "bob")
    theirs = write(tmp_path / "bob", page(f"{site}/of-bob"))
    ours = write(tmp_path / "ann", page(f"{site}/of-ann"))
    live(bob, 60.0)
    with sink(theirs, url, "bob", bob) as opened:
        drain(opened)
    bob.leave()
    live(ann, 60.0)
    with sink(ours, url, "ann", ann) as opened:
        drain(opened)

    assert differences(opensearch, "kept", theirs, ours).none


def test_what_is_only_linked_to_is_written_by_its_home(
    opensearch: Nodes, tmp_path: Path, ann: Frontier, bob: Frontier
) -> None:
    url, own, other = opensearch.url("linked"), site_of(ann, "ann"), site_of(ann, "bob")
    live(ann, 60.0), live(bob, 60.0)
    write(tmp_path, page(f"{own}/", f"{own}/next", f"{other}/next"))

    with sink(tmp_path, url, "ann", ann) as opened:
        drain(opened)

    assert [one["url"] for one in documents(opensearch, "linked", "named")] == [f"{own}/next"]


@pytest.mark.parametrize("first", ["ann", "bob"])
def test_page_of_another_folder_is_left_alone_by_its_home_that_knows_links_alone(
    opensearch: Nodes, tmp_path: Path, ann: Frontier, bob: Frontier, first: str
) -> None:
    """Homes move while machines are slow: somebody else has fetched it meanwhile."""
    name, site = f"foreign-{first}", site_of(ann, "ann")
    live(ann, 60.0), live(bob, 60.0)
    write(tmp_path / "ann", page(f"{site}/", f"{site}/page"))
    write(tmp_path / "bob", page(f"{site}/page"))
    frontiers = {"ann": ann, "bob": bob}

    for folder in sorted(frontiers, key=lambda folder: folder != first):
        with sink(tmp_path / folder, opensearch.url(name), folder, frontiers[folder]) as opened:
            drain(opened)
            told = [(url_id(f"{site}/page"), "said elsewhere", 1, 0)] if folder == "ann" else []
            Elsewhere(tmp_path / folder).take(1, {"anchors": told, "hidden": [], "duplicates": []})
            drain(opened)

    assert {one["url"] for one in documents(opensearch, name, "pages")} == {f"{site}/", f"{site}/page"}
    assert not documents(opensearch, name, "named")


def test_folders_with_frontiers_of_their_own_share_a_collection(opensearch: Nodes, tmp_path: Path) -> None:
    url = opensearch.url("two")
    folders = [write(tmp_path / name, *pages(3, site=f"http://{name}.test")) for name in ("ann", "bob")]
    for folder in folders:
        with sink(folder, url, folder.name) as opened:
            drain(opened)

    assert differences(opensearch, "two", *folders).none
