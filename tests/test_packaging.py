"""What is released: built from what git tracks, installed beside a project with folders of the same names."""

from __future__ import annotations

import json
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest
from environments import Installed, install
from localweb import PROJECT, Answer, environment, page, sites

pytestmark = pytest.mark.slow

FOREIGN = {
    "scrapy.cfg": "[settings]\ndefault = shop\n",
    "shop.py": """
SPIDER_MODULES = ["spiders"]
ITEM_PIPELINES = {"pipelines.Loud": 1}
ADDONS = {"webcrawler.addon.WebCrawlerAddon": 500}
LOG_LEVEL = "WARNING"
""",
    "pipelines/__init__.py": """
class Loud:
    def process_item(self, item):
        return {"title": item["title"].upper()}
""",
    "spiders/__init__.py": "",
    "spiders/mine.py": """
import scrapy

class Mine(scrapy.Spider):
    name = "mine"

    async def start(self):
        yield scrapy.Request(self.site)

    def parse(self, response):
        yield {"title": response.css("title::text").get()}
        yield from response.follow_all(css="a")
""",
}


@pytest.fixture(scope="module")
def dist(wheel: Path) -> Path:
    return wheel.parent


@pytest.fixture(scope="module", params=["*.whl", "*.tar.gz"])
def programs(installed: Installed, dist: Path, request: pytest.FixtureRequest) -> Path:
    """Of an environment that had nothing before: once from the wheel, once from the source distribution."""
    archive = one(dist, request.param)
    return install(installed("search"), "--force-reinstall", "--no-deps", str(archive))


@pytest.fixture
def foreign(tmp_path: Path) -> Path:
    for name, text in FOREIGN.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


# Building


def test_the_wheel_has_one_name_at_its_top_and_nothing_stale(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()

    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"webcrawler", "scrapy_webcrawler"}
    assert {"webcrawler/spiders/index.py", "webcrawler/pipelines/pages.py"} <= set(names)
    assert "webcrawler/stale.py" not in names


def test_the_documentation_is_in_the_wheel_and_its_description_has_no_link_that_leads_nowhere(
    wheel: Path,
) -> None:
    with zipfile.ZipFile(wheel) as archive:
        [metadata] = (name for name in archive.namelist() if name.endswith("/METADATA"))
        described, files = archive.read(metadata).decode(), set(archive.namelist())

    assert not re.findall(r"\]\((?!https://)", described)
    named = re.findall(r"\(`(docs/[^`#]+)", described)
    linked = re.findall(r"\]\((docs/[^)#]+\.md)", (PROJECT / "README.md").read_text("utf-8"))
    assert named == linked and {f"webcrawler/{name}" for name in named} <= files


def test_the_source_distribution_holds_what_the_wheel_does(dist: Path, wheel: Path) -> None:
    with tarfile.open(one(dist, "*.tar.gz")) as archive:
        paths = [name.partition("/")[2] for name in archive.getnames()]
    moved = {
        f"webcrawler/{path}" if path.startswith(("docs/", "spiders/", "pipelines/")) else path
        for path in paths
    }

    packaged = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("webcrawler/")}
    assert packaged and packaged <= moved


def test_building_leaves_nothing_else_in_the_clone(clone: Path, dist: Path) -> None:
    left = run("git", "status", "--porcelain", "--ignored", cwd=clone).split("\n")

    assert [line for line in left if line and not line.startswith("A ")] == ["!! build/", "!! dist/"]
    assert [path.name for path in (clone / "build").rglob("*") if path.is_file()] == ["stale.py"]
    assert len(list(dist.iterdir())) == 2


# Installed


def test_a_project_has_its_own_spiders_and_pipelines_and_our_frontier(programs: Path, foreign: Path) -> None:
    assert run(programs / "scrapy", "list", cwd=foreign) == "mine\n"

    with sites(site={"/": page("/next"), "/next": Answer("<title>owls</title>")}) as web:
        site = f"site={web['site'].url}/"
        run(programs / "scrapy", "crawl", "mine", "-a", site, "-O", "items.json", cwd=foreign)

    titles = [item["title"] for item in json.loads((foreign / "items.json").read_text())]
    assert len(titles) == 2 and "OWLS" in titles


def test_the_list_of_commands_says_where_the_documentation_is(programs: Path, foreign: Path) -> None:
    [index] = re.findall(r"/\S+\.md", run(programs / "webcrawler", cwd=foreign))

    pages = Path(index).parent
    links = re.findall(r"\]\(([\w/-]+\.md)", Path(index).read_text("utf-8"))
    assert pages.parent.name == "webcrawler" and len(links) > 40
    assert [link for link in links if not (pages / link).is_file()] == []


def test_the_commands_crawl_and_search_in_a_folder_of_another_project(programs: Path, foreign: Path) -> None:
    run(programs / "webcrawler", "crawl", "-a", "max_pages=40", "-s", "FRONTIER_DELAY=0", cwd=foreign)
    run(programs / "webcrawler", "report", cwd=foreign)

    found = json.loads(run(programs / "webcrawler", "search", "biology", "--json", cwd=foreign))

    assert found["total"] > 0
    modules = "import webcrawler.settings as s; print(s.SPIDER_MODULES)"
    assert run(programs / "python", "-c", modules, cwd=foreign) == "['webcrawler.spiders']\n"


# Helpers


def one(folder: Path, pattern: str) -> Path:
    [found] = folder.glob(pattern)
    return found


def run(*command: str | Path, cwd: Path) -> str:
    """What the command prints; nothing of this checkout is on its path."""
    kept = environment(cwd / "crawl") | {"LC_ALL": "C.UTF-8"}
    environ = {name: value for name, value in kept.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}:\n{done.stdout}\n{done.stderr}"
    return done.stdout
