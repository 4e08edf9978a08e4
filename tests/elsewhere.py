"""Data folders whose WARC files are elsewhere, and what of them all readers together say."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from dumped import dumped
from fastwarc.warc import ArchiveIterator, WarcRecordType
from inprocess import command
from localweb import WITHOUT_INDEX, Answer, crawl, page, sites

from webcrawler.archive.catalog import Catalog
from webcrawler.archive.pages import listed
from webcrawler.views import derive
from webcrawler.web.cached import archived

SAME = Answer("<title>Twins</title><p>The armadillo says the same here as there.")
ROUTES = {
    "/twin": SAME,
    "/": page("/private", "/copy", "/more"),
    "/private": Answer("<title>Private</title><p>xyzzyword"),
    "/copy": SAME,  # its body stands in the other file, under /twin
    "/more": Answer("<title>More</title><p>The armadillo stays."),
}
WITH_INDEX = json.dumps(json.loads(WITHOUT_INDEX) | {"pipelines.fulltext.FullTextPipeline": 400})


def two_crawls(folder: Path, **settings: object) -> Path:
    """Two crawls of one site, and so two WARC files."""
    with sites(site=ROUTES) as opened:
        for path in ("/twin", "/"):
            seeds = f"seeds={opened['site'].url}{path}"
            done = crawl(folder, "index", "-a", seeds, ITEM_PIPELINES=WITH_INDEX, **settings)
            assert done.status == 0, done.log
    return folder


def put_elsewhere(folder: Path, url: object, keep: str = "no") -> None:
    """What the views do beside or after a crawl, until nothing is left to do."""
    settings = {"PAGES_URL": str(url), "PAGES_KEEP": keep, "RANKER_ENABLED": "no", "CRAWL_DIR": str(folder)}
    assert derive(folder, settings)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("*.warc.gz")}


def address(folder: Path) -> str:
    (only,) = listed(folder / "pages")
    return only


class Said(NamedTuple):
    """What the readers of WARC files make of a folder."""

    copies: dict[str, Any]  # as `/cached` shows them
    exported: dict[str, bytes]
    checked: dict[str, str]


def said(folder: Path) -> Said:
    with closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog:
        copies = {url: archived(folder, number) for number, url in catalog.urls.all()}
    file = folder.with_name("exported.warc.gz")
    exported = command("export", str(file), folder=folder)
    assert exported.status == 0, exported.err
    records = ArchiveIterator(file.open("rb"))
    bodies = {
        record.headers["WARC-Target-URI"]: record.reader.read()
        for record in records
        if record.record_type == WarcRecordType.response
    }
    file.unlink()
    return Said(copies, bodies, json.loads(command("check", "--deep", "--json", folder=folder).out))


def rebuilt(folder: Path) -> dict[str, list[Any]]:
    """The catalog that `rebuild` makes of a folder, without what only the one before could tell."""
    answered = command("rebuild", folder=folder)
    assert answered.status == 0, answered.err
    return dumped(folder)
