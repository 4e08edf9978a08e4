"""`scrapy frontier` in other people's projects: the one command that every project gets by installing us."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from localweb import Site, environment
from test_dropin import PAGES, Start, project, quotes, site, start

__all__ = ["project", "site", "start"]  # fixtures

LISTED = "from scrapy.cmdline import execute; execute(['scrapy', {!r}])"
NEW = """
import sys
from importlib.metadata import entry_points
import scrapy.cmdline
before = set(sys.modules)
[found] = [one for one in entry_points(group="scrapy.commands") if one.value.startswith("webcrawler.")]
found.load()().short_desc()
print(*sorted(set(sys.modules) - before))
"""


def scrapy(*arguments: str, cwd: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "scrapy", *arguments]
    environ = environment(folder) | {"PYTHONPATH": ""}
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, timeout=120)


def test_no_other_command_is_published() -> None:
    ours = {one.name for one in entry_points(group="scrapy.commands") if one.value.startswith("webcrawler.")}

    assert ours == {"frontier"}


def test_loading_it_imports_nothing_but_itself() -> None:
    new = subprocess.check_output([sys.executable, "-c", NEW], text=True).split()

    assert new == ["webcrawler", "webcrawler.commands", "webcrawler.commands._published"]


def test_other_commands_go_on_where_what_it_needs_is_missing(project: Path) -> None:
    without = "import sys; sys.modules.update(redis=None, msgpack=None, ada_url=None); "

    done = subprocess.run(
        [sys.executable, "-c", without + LISTED.format("list")],
        cwd=project,
        env=environment(project) | {"PYTHONPATH": ""},
        capture_output=True,
        text=True,
    )

    assert (done.returncode, done.stderr) == (0, "")
    assert "quotes\n" in done.stdout


def test_it_answers_for_a_spider_of_the_project(project: Path, start: Start, site: Site) -> None:
    site.routes = {"*": quotes}
    folder = start("quotes", "-a", f"site={site.url}").end().folder
    last = f"{site.url}/page/{PAGES}/"

    def frontier(*words: str) -> Any:
        done = scrapy("frontier", *words, "--name", "quotes", "--json", cwd=project, folder=folder)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def refusal(*words: str) -> str:
        done = scrapy("frontier", *words, "--name", "quotes", cwd=project, folder=folder)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        return done.stderr

    assert "not a URL that can be crawled (malformed): 'nowhere'" in refusal("explain", "nowhere")
    assert 'set FRONTIER_IDENTITY = "scrapy-redis"' in refusal("import-scrapy-redis")
    stats = frontier("stats")
    assert (stats["seen"], stats["done"], stats["queued"]) == (PAGES, PAGES, 0)
    assert frontier("explain", last)["state"] == "decided"
    assert frontier("explain", f"{last}?b=2&a=1#top")["state"] == "unseen"
    assert (frontier("peek"), frontier("quarantined")) == ([], [])

    assert frontier("again", last) == {"pushed": last, "key": "quotes:start_urls"}
    start("quotes", "-a", f"site={site.url}").end()
    assert site.times(f"/page/{PAGES}/") == 2

    page = f"{site.url}/page/{PAGES + 1}/"
    assert frontier("block", page) == {"blocked": [page], "urls_decided": 1}
    assert frontier("explain", page)["state"] == "decided"
    assert frontier("block", site.url)["blocked"] == [site.url]
    assert frontier("clear") == {"forgotten": PAGES + 2}


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["stats", "--name", "quotes", "-s", "ADDONS={}"], "does not use this frontier: put ADDONS = "),
        (["stats", "--name", "quotes", "-s", "SCHEDULER=scrapy_redis.scheduler.Scheduler"], "remove it"),
        (["stats", "--name", "quotes"], "run `scrapy crawl quotes` first, or set CRAWL_DIR or REDIS_URL"),
        (["stats"], "name the spider, --name author or "),
        (["rebuild", "--name", "quotes"], "use `scrapy frontier` with one of: stats | peek"),
    ],
    ids=["not wired", "another scheduler", "nothing crawled", "no spider", "no such verb"],
)
def test_what_is_wrong_is_one_line(project: Path, tmp_path: Path, words: list[str], line: str) -> None:
    done = scrapy("frontier", *words, cwd=project, folder=tmp_path / "crawl")

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ") and line in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "crawl").exists()


def test_outside_a_project_it_says_where_to_go(tmp_path: Path) -> None:
    done = scrapy("frontier", "stats", cwd=tmp_path, folder=tmp_path / "crawl")

    assert done.returncode == 2
    assert "go to the folder of its scrapy.cfg; `webcrawler frontier` is for" in done.stderr
