"""The how-to "Operate it", run from top to bottom as its reader would: each command does what it says."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from localweb import PROJECT, Answer, Site, environment, page, sites
from marked import Mark

from webcrawler.search import Searcher

TEXT = (PROJECT / "docs" / "how-to" / "operate.md").read_text("utf-8")
FAST = {"ADDRESSES_ALLOWED": "127.0.0.1/32", "FRONTIER_DELAY": 0, "PARSER_WORKERS": 1}
pytestmark = pytest.mark.slow


def commands(heading: str) -> str:
    """What stands in code below a heading."""
    section = re.search(rf"(?ms)^## {heading}\n(.*?)(?=^## |\Z)", TEXT)
    assert section
    return "\n".join(re.findall(r"(?ms)^```sh\n(.*?)^```", section[1]))


HEADINGS = re.findall(r"(?m)^## (.+)$", TEXT)


@pytest.fixture
def site() -> Iterator[Site]:
    routes = {"/": page("/news", "/old/1", "/old/2"), "/old/1": page(), "/old/2": page("/")}
    with sites(site={**routes, "/news": Answer("<title>First news</title>aardvark")}) as opened:
        yield opened["site"]


class Owner:
    """Runs the sections of the page for a site of one's own."""

    def __init__(self, folder: Path, site: Site) -> None:
        self.folder, self.site = folder / "sites", site
        (folder / "seeds.txt").write_text(f"{site.url}/\n")
        self._here = folder

    def run(self, heading: str) -> str:
        written = TEXT.partition("\n## ")[0].rpartition("```sh\n")[2].partition("```")[0] + commands(heading)
        here = {"/srv/search/sites": self.folder, "/srv/backup": self._here / "backup"}
        here |= {"https://example.org": self.site.url, "example.org": "127.0.0.1"}
        here |= {"@seeds.txt": f"@{self._here / 'seeds.txt'}"}
        for theirs, ours in here.items():
            written = written.replace(theirs, str(ours))
        script = f'set -e\nwebcrawler() {{ {sys.executable} -m scrapy "$@"; }}\n{written}'
        mark = Mark()
        environ = environment(self.folder, **FAST, **mark.environment)
        command = ["bash", "-c", script]
        done = subprocess.run(command, cwd=PROJECT, env=environ, capture_output=True, text=True)
        assert not mark.leftovers(120)  # what works beside a crawl ends after it
        assert done.returncode == 0, f"{heading}:\n{script}\n{done.stdout}\n{done.stderr[-4000:]}"
        return done.stdout

    def finds(self, words: str) -> list[str]:
        return [hit.title for hit in Searcher(self.folder, deadline_seconds=60).search(words).hits]


def test_each_section_does_what_it_says(tmp_path: Path, site: Site) -> None:
    owner = Owner(tmp_path, site)

    owner.run("Every night")
    owner.run("Ask why")
    owner.run("Answer webmasters")
    assert set(site.pages) == {"/", "/news", "/old/1", "/old/2"}
    before = site.times("/news")

    site.routes["/news"] = Answer("<title>Second news</title>aardvark")
    owner.run("Refresh a page now")
    assert site.times("/news") == before + 1

    assert "documents            2" in owner.run("Take pages out")

    owner.run("Back up")
    assert owner.run("Check").count(" good\n") == 8
    asked = Counter(site.pages)
    owner.run("Restore")
    assert owner.finds("aardvark") == ["Second news"]

    owner.run("When Redis has lost its data")
    owner.run("When the catalog is lost or damaged")
    owner.run("Upgrade")
    assert Counter(site.pages) == asked  # nothing was fetched again, and what was removed stays out


def test_every_section_with_commands_is_run() -> None:
    tested = Path(__file__).read_text("utf-8")

    assert all(f'owner.run("{heading}")' in tested for heading in HEADINGS if commands(heading))
