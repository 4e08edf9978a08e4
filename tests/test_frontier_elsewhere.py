"""`scrapy frontier` in other people's projects: the one command that every project gets by installing us."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest
from conftest import MakeFrontier
from inprocess import Answered, command
from localweb import Answer, Site, environment
from test_dropin import PAGES, Start, ended, project, quotes, site

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.records import Link

__all__ = ["ended", "project", "site"]  # fixtures

URL = "http://a.example/"
LISTED = "from scrapy.cmdline import execute; execute(['scrapy', 'list'])"
NEW = """
import sys
from importlib.metadata import entry_points
import scrapy.cmdline
before = set(sys.modules)
[found] = [one for one in entry_points(group="scrapy.commands") if one.value.startswith("webcrawler.")]
found.load()().short_desc()
print(*sorted(set(sys.modules) - before))
"""


def scrapy(*arguments: str, project: Path, folder: Path) -> Answered:
    return command(*arguments, folder=folder, project=project, module="tutorial.settings")


def python(*arguments: str, cwd: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """A process of its own, which finds us as it would any other package."""
    given = environment(folder) | {"PYTHONPATH": ""}
    return subprocess.run([sys.executable, *arguments], cwd=cwd, env=given, capture_output=True, text=True)


def test_no_other_command_is_published() -> None:
    ours = {one.name for one in entry_points(group="scrapy.commands") if one.value.startswith("webcrawler.")}

    assert ours == {"frontier"}


@pytest.mark.slow
def test_loading_it_imports_nothing_but_itself() -> None:
    new = subprocess.check_output([sys.executable, "-c", NEW], text=True).split()

    assert new == ["webcrawler", "webcrawler.commands", "webcrawler.commands._published"]


@pytest.mark.slow
def test_other_commands_go_on_where_what_it_needs_is_missing(project: Path) -> None:
    without = "import sys; sys.modules.update(redis=None, msgpack=None, ada_url=None); "

    done = python("-c", without + LISTED, cwd=project, folder=project)

    assert (done.returncode, done.stderr) == (0, "")
    assert "quotes\n" in done.stdout


@pytest.mark.slow
def test_it_answers_for_a_spider_of_the_project(project: Path, ended: Start, site: Site) -> None:
    site.routes = {"*": quotes}
    folder = ended("quotes", "-a", f"site={site.url}").folder
    last = f"{site.url}/page/{PAGES}/"

    def frontier(*words: str) -> Any:
        done = scrapy("frontier", *words, "--name", "quotes", "--json", project=project, folder=folder)
        assert done.status == 0, done.err
        return json.loads(done.out)

    def refusal(*words: str) -> str:
        done = scrapy("frontier", *words, "--name", "quotes", project=project, folder=folder)
        assert (done.status, done.err.count("\n")) == (2, 1)
        return done.err

    assert "not a URL that can be crawled (malformed): 'nowhere'" in refusal("explain", "nowhere")
    stats = frontier("stats")
    assert (stats["seen"], stats["done"], stats["queued"]) == (PAGES, PAGES, 0)
    assert frontier("explain", last)["state"] == "decided"
    assert frontier("explain", f"{last}?b=2&a=1#top")["state"] == "unseen"
    assert (frontier("peek"), frontier("quarantined")) == ([], [])

    assert frontier("again", last) == {"pushed": last, "key": "quotes:start_urls"}
    ended("quotes", "-a", f"site={site.url}")
    assert site.times(f"/page/{PAGES}/") == 2

    page = f"{site.url}/page/{PAGES + 1}/"
    assert frontier("block", page) == {"blocked": [page], "urls_decided": 1}
    assert frontier("explain", page)["state"] == "decided"
    assert frontier("block", site.url)["blocked"] == [site.url]
    assert frontier("clear") == {"forgotten": PAGES + 2}
    assert "there is no frontier named 'quotes'; those that exist: none" in refusal("stats")


@pytest.mark.slow
def test_a_url_means_its_get_by_the_fingerprinter_of_the_project(
    project: Path, ended: Start, site: Site
) -> None:
    site.routes = {"*": Answer("page")}
    fingerprinter = "tutorial.fingerprints.WithoutParameters"
    own = {"REQUEST_FINGERPRINTER_CLASS": fingerprinter, "IGNORED_PARAMETERS": "x,y"}
    run = ended("spellings", "-a", f"site={site.url}", **own)
    page = f"{site.url}/a/"

    def frontier(*words: str, **settings: str) -> Answered:
        options = [f"-s{name}={value}" for name, value in settings.items()]
        words = ("frontier", *words, "--name", "spellings", "--json", *options)
        return scrapy(*words, project=project, folder=run.folder)

    def state(url: str) -> str:
        done = frontier("explain", url, **own)
        assert done.status == 0, done.err
        return str(json.loads(done.out)["state"])

    assert len(run.items) == 4  # the start, /a/, /a/index.html and /a/?utm_source=x
    assert [state(page), state(f"{page}?x=7"), state(f"{page}?z=7")] == ["decided", "decided", "unseen"]
    assert json.loads(frontier("block", f"{page}?z=7", **own).out)["urls_decided"] == 1
    assert state(f"{page}?z=7&x=1") == "decided"

    for verb in ("explain", "block"):
        refused = frontier(verb, page)
        assert f"REQUEST_FINGERPRINTER_CLASS={fingerprinter}" in refused.err
        assert (refused.status, refused.out) == (2, "")
    again = scrapy("crawl", "spellings", "-a", f"site={site.url}", project=project, folder=run.folder)
    assert f"REQUEST_FINGERPRINTER_CLASS={fingerprinter}: set it so" in again.err


@pytest.mark.parametrize(
    ("made_with", "opened_with", "named"),
    [
        ("scrapy", "canonical", "FRONTIER_IDENTITY=scrapy:"),
        ("canonical", "scrapy", "FRONTIER_IDENTITY=canonical:"),
        ("scrapy", "scrapy:a.B", "FRONTIER_IDENTITY=scrapy and Scrapy's own REQUEST_FINGERPRINTER_CLASS:"),
        ("scrapy:a.B", "scrapy", "FRONTIER_IDENTITY=scrapy and REQUEST_FINGERPRINTER_CLASS=a.B:"),
        ("scrapy:a.B", "scrapy:a.C", "FRONTIER_IDENTITY=scrapy and REQUEST_FINGERPRINTER_CLASS=a.B:"),
    ],
)
def test_a_frontier_is_refused_where_other_requests_are_the_same(
    make_frontier: MakeFrontier, made_with: str, opened_with: str, named: str
) -> None:
    frontier = make_frontier("priority", name="theirs")
    frontier.identify_by(made_with)
    frontier.identify_by(opened_with)  # nobody has used it
    frontier.identify_by(made_with)
    frontier.discover([Link(URL, urls.url_id(URL), URL)])

    frontier.identify_by(made_with)
    with pytest.raises(BadInput, match=re.escape(f"was made with {named} set it so")):
        frontier.identify_by(opened_with)


@pytest.mark.slow
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
    done = scrapy("frontier", *words, project=project, folder=tmp_path / "crawl")

    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: ") and line in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "crawl").exists()


def test_outside_a_project_it_says_where_to_go(tmp_path: Path) -> None:
    done = python("-m", "scrapy", "frontier", "stats", cwd=tmp_path, folder=tmp_path / "crawl")

    assert done.returncode == 2
    assert "go to the folder of its scrapy.cfg; `webcrawler frontier` is for" in done.stderr
