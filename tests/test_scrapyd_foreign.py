"""Scrapyd with a project of somebody else's: the add-on is installed beside it, and jobs share a frontier."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from localweb import Site
from test_dropin import PAGES, project, quotes, site
from test_scrapyd import Scrapyd, copied, needed, python, run
from waiting import until

pytestmark = [pytest.mark.scrapyd, pytest.mark.slow]

__all__ = ["project", "python", "site"]  # fixtures
JOBS = "one", "two"


@pytest.fixture
def scrapyd(python: Path, tmp_path: Path) -> Iterator[Scrapyd]:
    """With the library, as `pip install scrapy-webcrawler` puts it there."""
    library, install = tmp_path / "library", ("-m", "pip", "install", "--quiet", "--no-deps", "--target")
    needed(python, *install, library, copied(tmp_path / "clone"))
    folder = tmp_path / "scrapyd"
    folder.mkdir()
    scrapyd = Scrapyd(folder, python)
    scrapyd.environ |= {"PYTHONPATH": str(library), "ITEMS": str(folder / "items.jsonl")}
    try:
        scrapyd.start()
        yield scrapyd
    finally:
        scrapyd.stop()


def test_jobs_of_ones_own_spider_share_its_pages(scrapyd: Scrapyd, project: Path, site: Site) -> None:
    site.routes = {"*": quotes}
    config = project / "scrapy.cfg"
    config.write_text(config.read_text().replace("#url = http://localhost:6800/", f"url = {scrapyd.url}"))
    run(scrapyd.bin / "scrapyd-deploy", cwd=project, env=scrapyd.environ)
    for job in JOBS:
        order = {"project": "tutorial", "spider": "author", "jobid": job, "site": site.url}
        scrapyd.ask("schedule", [*order.items(), ("setting", f"CRAWL_DIR={scrapyd.crawl_dir}")])

    def are_over() -> bool:
        finished = scrapyd.ask("listjobs", project="tutorial")["finished"]
        return {job["id"] for job in finished} == set(JOBS)

    until(are_over, "the jobs")

    items = [json.loads(line) for line in (scrapyd.folder / "items.jsonl").read_text().splitlines()]
    authors = {f"Author {page}{n}" for page in range(1, PAGES + 1) for n in range(3)}
    assert Counter(item["name"] for item in items) == dict.fromkeys(authors, 1)
    asked = Counter(path for path in site.asked if path != "/robots.txt")
    assert set(asked.values()) == {1}
