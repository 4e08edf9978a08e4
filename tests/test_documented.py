"""Each command of the documentation works as it stands there, with the wheel installed, outside a clone."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from documented import Reader, blocks, commands
from environments import build_wheel, copy_what_git_tracks, make_environment
from localweb import PROJECT, Answer, Site, page, robots, sites

from webcrawler.demo import DemoWeb
from webcrawler.usage import NAME as LOG
from webcrawler.usage import QueryLog, Shown, today

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

ELSEWHERE = {  # pages and commands that are not typed here, and why
    "docs/how-to/deploy-to-scrapyd.md": "test_scrapyd.py and test_scrapyd_foreign.py do the same",
    "docs/how-to/operate.md": "test_operate.py runs each section",
    "docs/how-to/make-a-release.md": "test_packaging.py builds and installs; no test publishes",
    "docs/how-to/run-in-containers.md": "there is no Docker; test_containers.py checks the files",
    "docs/explanation/freshness.md": "hours: figures of the laboratory",
    r"pip install |apt(-get)? install |python3 -m venv ": "the environment is there",
    r"git clone |make |\.venv/bin/": "in a clone: CI does what they say",
    r"useradd |su - |systemd|systemctl |ln -s |nginx |curl -H 'Host": "a server of one's own, and root",
    r"export REDIS_URL=\"rediss:": "test_connection.py has a Redis with TLS",
    r"export FRONTIER_PARTITIONS=64": "test_cluster.py has a cluster",
    r"REDIS_URL=redis://192|redis-cli ": "the lines around them do the same with a private Redis",
    r"webcrawler judge (tests|cranfield)": "collections of the clone",
    r"curl http://127.0.0.1:6800|webcrawler serve -s SERVE_SCRAPYD": "test_scrapyd.py has a Scrapyd",
    r"curl .*/api/live/JOB": "test_live.py takes JOB from the answer",
    r"webcrawler crawl ftp:": "test_protocols.py has such servers",
    r"chmod 600 cookies|webcrawler crawl https://wiki\.": "test_logins.py logs in",
}
BEFORE = {"docs/reference/search-api.md": ["webcrawler serve\n"]}


def typed(name: str) -> list[str]:
    """The commands of a page, but those that are run elsewhere."""
    if name in ELSEWHERE:
        return []
    return [one for one in commands(name) if not any(re.match(pattern, one) for pattern in ELSEWHERE)]


DOCUMENTED = [PROJECT / "README.md", *sorted((PROJECT / "docs").rglob("*.md"))]
PAGES = [name for path in DOCUMENTED if typed(name := str(path.relative_to(PROJECT)))]


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    wheel = build_wheel(copy_what_git_tracks(tmp_path_factory.mktemp("clone")))
    return make_environment(tmp_path_factory.mktemp("environment"), f"{wheel}[all]")


@pytest.fixture(scope="module")
def site() -> Iterator[Site]:
    """What the documentation calls example.org."""
    titles = ["dna.html", "rna.html", "page", "news", "archive/1", "archive/2", "docs/"]
    text = "<title>Molecular biology, {0}</title><p>Your words on {0}: molecular biology of genes."
    routes = {f"/{title}": Answer(text.format(title)) for title in titles}
    feeds = {"/sitemap.xml": "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'/>"}
    feeds |= {"/news/atom.xml": "<feed xmlns='http://www.w3.org/2005/Atom'/>"}
    routes |= {path: Answer(xml, kind="application/xml") for path, xml in feeds.items()}
    with sites(site={**routes, "/": page(*routes), "/robots.txt": robots("User-agent: *")}) as opened:
        yield opened["site"]


@pytest.fixture(scope="module")
def demo_web() -> Iterator[DemoWeb]:
    """Crawls of other tests begin demo webs, too; whoever knows the ports of this one shares it."""
    with DemoWeb() as web:
        yield web


@pytest.fixture
def reader(programs: Path, site: Site, demo_web: DemoWeb, tmp_path: Path) -> Reader:
    """Has lists of URLs, bookmarks, and data folders that know where the demo web is."""
    for name in ("crawl", "crawl-try", "crawl-demo", "crawl-shortest"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "demo.json").write_text(json.dumps({"ports": demo_web.ports}))
    (tmp_path / "seeds.txt").write_text(f"{site.url}/\n")
    (tmp_path / "list.txt").write_text(f"{site.url}/archive/2\n")
    bookmarks = "".join(f'<DT><A HREF="{site.url}/{name}.html">{name}</A>' for name in ("dna", "rna"))
    (tmp_path / "bookmarks.html").write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>{bookmarks}</DL>")
    return Reader(tmp_path, programs, site.url, demo_web.ports[0])


@pytest.fixture(scope="module")
def demo(programs: Path, demo_web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a crawl of the demo web."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "crawl").mkdir()
    (folder / "crawl/demo.json").write_text(json.dumps({"ports": demo_web.ports}))
    Reader(folder, programs, "").types(["webcrawler crawl\n", "webcrawler report\n"])
    return folder / "crawl"


def code_of(name: str, language: str, number: int = 0) -> str:
    return [one.text for one in blocks(name) if one.language == language][number]


def prepare(name: str, reader: Reader, demo: Path) -> None:
    """Write the files that a page shows, and what its reader has before: most have crawled the demo web."""
    folder = reader.folder
    if name not in ("README.md", "docs/tutorial/first-crawl.md"):
        shutil.copytree(demo, folder / "crawl", dirs_exist_ok=True)
    match Path(name).stem:
        case "add-an-ordering":
            (folder / "myorderings.py").write_text(code_of(name, "python"))
        case "compare-strategies":
            (folder / "topics.json").write_text(code_of(name, "json"))
        case "judge-rankings":
            (folder / "crawl/feedback").mkdir()
            (folder / "crawl/feedback/queries.tsv").write_text("1\tdna\n")
            (folder / "crawl/feedback/qrels.txt").write_text(
                reader.here("1 0 http://127.0.0.1:18088/nucleic-acids/ 1\n")
            )
        case "learn-from-what-is-asked":
            with closing(QueryLog(folder / "crawl" / LOG, 30)) as log:
                urls = (reader.here("http://127.0.0.1:18088/nucleic-acids/"),)
                shown = [Shown(number, today(), "dna", 1, 0, True, urls) for number in range(10)]
                log.write(shown, [(number, 1) for number in range(10)], today())
        case "search-engine-for-my-sites":
            (folder / "look/static").mkdir(parents=True)
            (folder / "look/static/logo.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
            (folder / "look/static/own.css").write_text(code_of(name, "css"))
            (folder / "look/base.html").write_text(code_of(name, "html"))
        case "share-a-crawl-between-machines":
            shutil.copytree(folder / "crawl", folder / "from-first")
            shutil.copytree(folder / "crawl", folder / "from-second")
            (folder / "frontier.conf").write_text(reader.here(code_of(name, "")))


@pytest.mark.parametrize("name", PAGES)
def test_the_commands_of_a_page_work(name: str, reader: Reader, demo: Path) -> None:
    prepare(name, reader, demo)

    done = reader.types(BEFORE.get(name, []) + typed(name))

    if name in CAME_FOR:
        CAME_FOR[name](reader, done)


# Who comes for what, by the README


def pages_are_searched(reader: Reader, done: CompletedProcess[str]) -> None:
    asked = 'CRAWL_DIR=crawl-mine webcrawler search "molecular biology" --json\n'
    titles = {hit["title"] for hit in json.loads(reader.types([asked]).stdout)["hits"]}
    assert {"Molecular biology, dna.html", "Molecular biology, rna.html"} <= titles


def a_killed_crawl_went_on(reader: Reader, done: CompletedProcess[str]) -> None:
    assert "frontier 'topics' continues" in done.stderr
    asked = ["cd tutorial\n", "scrapy frontier stats --name topics --json\n"]
    states = json.loads(reader.types(asked).stdout)
    assert states["done"] > 200 and states["leased"] == 0, states


def orderings_were_compared(reader: Reader, done: CompletedProcess[str]) -> None:
    figures = json.loads((reader.folder / "plots/figures.json").read_text())["compared"]
    areas = [one for one in figures if (one["measure"], one["of"]) == ("auc", "ib:5")]
    told = {one["ordering"]: one for one in areas}
    assert list(told) == ["fifo", "random", "backlink", "pagerank", "blend"]
    assert told["blend"]["difference"]["value"] > 10 and told["blend"]["difference"]["p"] < 0.05
    assert (reader.folder / "plots/p_st-ib-5.svg").stat().st_size > 1000


CAME_FOR: dict[str, Callable[[Reader, CompletedProcess[str]], None]] = {
    "README.md": pages_are_searched,
    "docs/how-to/use-the-frontier-in-your-own-spider.md": a_killed_crawl_went_on,
    "docs/how-to/compare-orderings.md": orderings_were_compared,
}


# Nothing is left out unseen


def test_what_is_run_elsewhere_is_still_documented() -> None:
    names = [str(path.relative_to(PROJECT)) for path in DOCUMENTED]
    written = [*names, *(command for name in names for command in commands(name))]

    unused = [pattern for pattern in ELSEWHERE if not any(re.match(pattern, one) for one in written)]
    assert not unused
