"""The steps of scale.py that are no commands: each gets a data folder, and prints figures as JSON."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from growing import batch, grow, pages

from webcrawler.archive.catalog import Catalog
from webcrawler.crawl.run.stores import DIGEST_HINTS
from webcrawler.linkgraph import stored

BATCH, BATCHES = 200, 10
NUMBERS = 100  # of pages whose anchors are read
Figures = dict[str, float]


def make(folder: Path, documents: int) -> Figures:
    path = folder / "catalog.sqlite"
    grow(path, documents)
    return {"catalog MB": path.stat().st_size / 1e6}


def write(folder: Path, _: int) -> Figures:
    """Write batches, as a crawl does; the first, in which the process learns, is not counted."""
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        documents = catalog.count_documents()
        batches = [list(batch(documents + n * BATCH, BATCH)) for n in range(BATCHES + 1)]
        catalog.write([(entry, None) for entry in batches[0]])
        before, began = _written(), time.process_time()
        for some in batches[1:]:
            catalog.write([(entry, None) for entry in some])
        used, written, count = time.process_time() - began, _written() - before, BATCH * BATCHES
    return {"ms a page": 1e3 * used / count, "kB a page": written / 1e3 / count}


def anchors(folder: Path, _: int) -> Figures:
    """Read the anchors of all pages that some pages link to, as the follower does."""
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        newest = catalog.count_documents()
        _, targets = catalog.links.outlinks(range(newest - NUMBERS, newest))
        began = time.process_time()
        read = sum(1 for _ in catalog.anchors.of(sorted(set(targets.tolist()))))
        return {"anchors": read, "µs each": 1e6 * (time.process_time() - began) / max(1, read)}


def ranks(folder: Path, _: int) -> Figures:
    """As the view makes them, for the search of this folder alone."""
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        stored.RankRenewal(catalog, folder / "ranks").renew()
    return {}


def orderings(folder: Path, _: int) -> Figures:
    """As the view follows them, for crawls whose ordering wants ranks."""
    from webcrawler.linkgraph.frontier_updates import LinkFollower

    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        return {"rounds": LinkFollower(catalog).estimate.update()}


def start(folder: Path, _: int) -> Figures:
    """What a crawl reads of the catalog before it begins."""
    with closing(Catalog(folder / "catalog.sqlite")) as catalog:
        return {"digests": len(catalog.digests(DIGEST_HINTS))}


def status(folder: Path, _: int) -> Figures:
    from starlette.testclient import TestClient

    from webcrawler.web import Config, make_app

    with TestClient(make_app(Config(folder, threads=1)), "http://127.0.0.1") as client:
        began = time.process_time()
        client.get("/status").raise_for_status()
        return {"ms a page": 1e3 * (time.process_time() - began)}


def export(folder: Path, _: int) -> Figures:
    """The tables for the jobs, as the view of DATASET_URL writes them."""
    from webcrawler.dataset.export import Export
    from webcrawler.dataset.place import Place

    place = Place(os.environ["DATASET_URL"])
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        found = Export(catalog, place, folder)
        while found.read():
            if found.is_full():
                found.write()
        if found.holds_rows():
            found.write()
    return {"parts MB": sum(bytes for _, bytes in place.files("v1", ".parquet")) / 1e6}


def records(folder: Path, documents: int) -> Figures:
    pages(folder / "pages", documents)
    return {}


STEPS: dict[str, Callable[[Path, int], Figures]] = {
    step.__name__: step for step in (make, write, anchors, ranks, orderings, start, status, export, records)
}


def _written() -> int:
    """Bytes that this process has written, to files of any kind."""
    return int(Path("/proc/self/io").read_text().split("wchar: ")[1].split()[0])


if __name__ == "__main__":
    print(json.dumps(STEPS[sys.argv[1]](Path(sys.argv[2]), int(sys.argv[3]))))
