"""The frontier is light: others' spiders need Scrapy, Redis and little else; and crawls start soon."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from localweb import PROJECT, Answer, crawl, environment, page, sites

from webcrawler.errors import LIBRARIES
from webcrawler.orderings import MODES
from webcrawler.orderings.registry import Mode

BROUGHT_BY_SCRAPY = {"lxml", "urllib3"}
UNWANTED = {name for names in LIBRARIES.values() for name in names} - BROUGHT_BY_SCRAPY | {"sqlite3"}
IMPORTED_AS = {
    "scikit-learn": "sklearn",
    "whoosh-reloaded": "whoosh",
    "PyStemmer": "Stemmer",
    "markdown-it-py": "markdown_it",
}
WITHOUT = f"import sys; sys.modules |= dict.fromkeys({sorted(UNWANTED)}); "  # they cannot be imported
ORDER = f"{WITHOUT}from webcrawler.orderings import ordering; ordering(sys.argv[1])"
SPIDER = """
from scrapy import Spider


class Topics(Spider):
    name = "topics"
    custom_settings = {"ADDONS": {"webcrawler.addon.WebCrawlerAddon": 500}, "DOWNLOAD_DELAY": 0}

    def __init__(self, site):
        self.start_urls = [site]

    def parse(self, response):
        yield {"url": response.url}
        yield from response.follow_all(css="a")
"""


def python(script: str, *arguments: str, folder: Path = PROJECT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=folder,
        env={**environment(folder), "SCRAPY_SETTINGS_MODULE": "", "PYTHONPATH": ""},
        capture_output=True,
        text=True,
        timeout=240,
    )


def extras() -> dict[str, list[str]]:
    """Of each extra, the names of import of what it names and of what other extras bring it."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    given: dict[str, list[str]] = project["optional-dependencies"]

    def brought(extra: str) -> list[str]:
        names = []
        for requirement in given[extra]:
            name, _, others = requirement.partition("[")
            if name == project["name"]:
                names += [one for other in others.rstrip("]").split(",") for one in brought(other)]
            else:
                name = requirement.partition(">")[0].partition("=")[0]
                names.append(IMPORTED_AS.get(name, name.replace("-", "_")))
        return names

    return {extra: brought(extra) for extra in given}


@pytest.mark.slow
def test_what_a_spider_imports_loads_none_of_the_rest() -> None:
    rooms = "webcrawler.addon, webcrawler.scheduler, webcrawler.crawl.dropin, webcrawler.crawl.robots"

    done = python(f"import sys,  {rooms}; print(*sys.modules)")

    assert "webcrawler.addon" in done.stdout.split(), done.stderr
    assert set(done.stdout.split()) & UNWANTED == set()


@pytest.mark.slow
def test_a_spider_crawls_where_none_of_the_rest_can_be_imported(tmp_path: Path) -> None:
    (tmp_path / "topics.py").write_text(SPIDER)
    pages = {"/": Answer("<a href=/a>a</a> <a href=/b>b</a> <a href=/gone>c</a>")}
    with sites(web={**pages, "/a": Answer("a"), "/b": Answer("b")}) as made:
        site = made["web"].url
        script = f"{WITHOUT}from scrapy.cmdline import execute; execute()"
        command = ("runspider", "topics.py", "-a", f"site={site}/", "-O", "items.json")
        done = python(script, *command, folder=tmp_path)

    items = json.loads((tmp_path / "items.json").read_text())
    assert sorted(item["url"].removeprefix(site) for item in items) == ["/", "/a", "/b"], done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_a_crawl_imports_nothing_that_only_searches_need_or_that_is_disabled(tmp_path: Path) -> None:
    unwanted = ["scipy", "webcrawler.search", "aiohttp", "twisted.conch", "tldextract"]
    script = f"import os, sys; sys.modules |= dict.fromkeys({unwanted}); from scrapy.cmdline import execute; "
    script += "os.environ['SCRAPY_SETTINGS_MODULE'] = 'webcrawler.settings'; execute()"
    with sites(web={"/": page("/a"), "/a": page()}) as made:
        options = [f"CRAWL_DIR={tmp_path}", "ADDRESSES_ALLOWED=127.0.0.1/32", "FRONTIER_DELAY=0"]
        given = [part for option in options for part in ("-s", option)]
        done = python(script, "crawl", *given, "index", "-a", f"seeds={made['web'].url}/")

        assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr
        assert made["web"].pages == ["/", "/a"]


@pytest.mark.slow
def test_components_of_scrapy_that_are_enabled_are_there(tmp_path: Path) -> None:
    enabled = {"COOKIES_ENABLED": 1, "TELNETCONSOLE_ENABLED": 1, "REMOTE_CONTROL_ENABLED": 1}
    with sites(web={"/": page()}) as made:
        done = crawl(tmp_path, "index", "-a", f"seeds={made['web'].url}/", LOG_LEVEL="INFO", **enabled)

    logged = set(re.findall(r"\w+", done.log))
    assert {"CookiesMiddleware", "TelnetConsole", "RemoteControl"} <= logged, done.log


@pytest.mark.parametrize("mode", [mode for mode in MODES.values() if mode.needs], ids=lambda mode: mode.name)
def test_a_mode_without_its_extra_is_refused_by_one_line_that_names_it(mode: Mode) -> None:
    last = python(ORDER, mode.name).stderr.splitlines()[-1]

    assert f"BadInput: mode={mode.name} needs " in last
    assert last.endswith(f'pip install "scrapy-webcrawler[{mode.needs}]"')


@pytest.mark.parametrize("mode", [mode.name for mode in MODES.values() if not mode.needs])
def test_any_other_mode_does_without(mode: str) -> None:
    query = "?query=gene" if MODES[mode].looks_for else ""

    done = python(ORDER, mode + query)

    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("extra", LIBRARIES)
def test_what_is_asked_for_is_what_the_extra_brings(extra: str) -> None:
    asked, brought = set(LIBRARIES[extra]), set(extras()[extra])

    assert asked == brought if extra != "lab" else asked <= brought  # the laboratory asks piece by piece


def test_all_brings_every_extra() -> None:
    given = extras()
    assert set(given["all"]) == {name for names in given.values() for name in names}
