"""Each command of the documentation works as it stands there, with the wheel installed, outside a clone."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from documented import Reader, blocks, commands, outside
from environments import Installed
from localweb import PROJECT, Answer, Site, page, robots, share_demo_web, sites

from webcrawler.demo import DemoWeb
from webcrawler.usage import NAME as LOG
from webcrawler.usage import QueryLog, Shown, today

ELSEWHERE = {  # pages and commands that are not typed here, and why
    "docs/how-to/deploy-to-scrapyd.md": "test_scrapyd.py and test_scrapyd_foreign.py do the same",
    "docs/how-to/operate.md": "test_operate.py runs each section",
    "docs/how-to/make-a-release.md": "test_packaging.py builds and installs; no test publishes",
    "docs/how-to/run-in-containers.md": "there is no Docker; test_containers.py checks the files",
    "docs/how-to/keep-pages-in-s3.md": "test_pages_in_s3.py has such servers",
    "docs/how-to/from-one-machine-to-ten.md": "the stages fleet and opensearch start these engines",
    "docs/explanation/freshness.md": "hours: figures of the laboratory",
    "docs/explanation/figures.md": "hours: figures of graphs that the project does not hold",
    r"pip install |apt(-get)? install |python3 -m venv ": "the environment is there",
    r"git clone ": "the clone is there",
    r"make (crawl|serve|test|test-all) ": "test_make.py crawls in a clone, and reads what the others run",
    r"(PYTHONPATH=tests/faults/\S+ |(\.venv/bin/)?python (bench|tests/faults)/)": "hours; see tests/faults",
    r"pytest tests/zoo": "CI runs it",
    r"useradd |su - |systemd|systemctl |ln -s |nginx |curl -H 'Host": "a server of one's own, and root",
    r"export REDIS_URL=\"rediss:": "test_connection.py has a Redis with TLS",
    r"export FRONTIER_PARTITIONS=64": "test_cluster.py has a cluster",
    r"REDIS_URL=redis://192|redis-cli ": "the lines around them do the same with a private Redis",
    r"webcrawler (judge (tests|cranfield)|evaluate --focused bench/)": "collections and topics of the clone",
    r"curl http://127.0.0.1:6800": "test_scrapyd.py has a Scrapyd",
    r"curl .*/api/live/JOB": "test_live.py takes JOB from the answer",
    r"webcrawler crawl ftp:": "test_protocols.py has such servers",
    r"chmod 600 cookies|webcrawler crawl https://wiki\.": "test_logins.py logs in",
}
NOT_TYPED = {  # by page, what looks like a command and is not to be typed as it stands, and why
    "docs/reference/commands.md": (r"webcrawler ", "synopses"),
    "docs/explanation/architecture.md": (r" *webcrawler (search|serve)\b.*◀", "a drawing"),
}
SHOWS = {  # pages whose Python is a program, and what it prints
    "docs/reference/evaluation.md": "area under P_ST",
    "docs/how-to/search-from-programs.md": "1000 http",
    "docs/reference/search-api.md": "1000 ",
}
PARTS = {  # pages whose Python is part of a project, and what runs it
    "README.md": "test_dropin.py has this setting",
    "docs/how-to/use-the-frontier-in-your-own-spider.md": "its commands write this setting",
    "docs/how-to/pages-made-by-javascript.md": "a browser; test_kept.py keeps what it is told",
    "docs/how-to/add-an-ordering.md": "test_each_ordering_of_the_documentation_crawls",
}
NUCLEIC = "http://127.0.0.1:18088/nucleic-acids/"  # of the demo web
BEFORE = {"docs/reference/search-api.md": ["webcrawler serve\n"]}


def typed(name: str) -> list[str]:
    """The commands of a page, but those that are run elsewhere."""
    if name in ELSEWHERE:
        return []
    return [one for one in commands(name) if not any(re.match(pattern, one) for pattern in ELSEWHERE)]


DOCUMENTED = ["README.md", *sorted(str(path.relative_to(PROJECT)) for path in PROJECT.glob("docs/**/*.md"))]
PAGES = [name for name in DOCUMENTED if typed(name)]
DEEP = pytest.mark.deep("commands have their tests")
IN_CI = ("README.md", "docs/tutorial/first-crawl.md", "docs/how-to/use-the-frontier-in-your-own-spider.md")


@pytest.fixture(scope="module")
def programs(installed: Installed) -> Path:
    return installed("all")


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


@pytest.fixture
def reader(programs: Path, site: Site, demo_web: DemoWeb, tmp_path: Path) -> Reader:
    """Has lists of URLs, bookmarks, and data folders that know where the demo web is."""
    for name in ("crawl", "crawl-try", "crawl-demo", "crawl-shortest"):
        share_demo_web(demo_web, tmp_path / name)
    (tmp_path / "seeds.txt").write_text(f"{site.url}/\n")
    (tmp_path / "list.txt").write_text(f"{site.url}/archive/2\n")
    bookmarks = "".join(f'<DT><A HREF="{site.url}/{name}.html">{name}</A>' for name in ("dna", "rna"))
    (tmp_path / "bookmarks.html").write_text(f"<!DOCTYPE NETSCAPE-Bookmark-file-1><DL>{bookmarks}</DL>")
    return Reader(tmp_path, programs, site.url, demo_web.ports[0])


@pytest.fixture(scope="module")
def demo(programs: Path, demo_web: DemoWeb, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of a crawl of the demo web."""
    folder = tmp_path_factory.mktemp("demo")
    share_demo_web(demo_web, folder / "crawl")
    Reader(folder, programs, "").types(["webcrawler crawl\n", "webcrawler report\n"])
    return folder / "crawl"


def code_of(name: str, language: str, number: int = 0) -> str:
    return [one.text for one in blocks(name) if one.language == language][number]


def python_of(name: str) -> str:
    return "".join(one.text for one in blocks(name) if one.language == "python")


def prepare(name: str, reader: Reader, demo: Path) -> None:
    """Write the files that a page shows, and what its reader has before: most have crawled the demo web."""
    folder = reader.folder
    if name not in ("README.md", "docs/tutorial/first-crawl.md"):
        shutil.copytree(demo, folder / "crawl", dirs_exist_ok=True)
    match Path(name).stem:
        case "add-an-ordering":
            (folder / "myorderings.py").write_text(python_of(name))
        case "compare-strategies":
            (folder / "topics.json").write_text(code_of(name, "json"))
        case "judge-rankings":
            (folder / "crawl/feedback").mkdir()
            (folder / "crawl/feedback/queries.tsv").write_text("1\tdna\n")
            (folder / "crawl/feedback/qrels.txt").write_text(f"1 0 {reader.here(NUCLEIC)} 1\n")
        case "learn-from-what-is-asked":
            with closing(QueryLog(folder / "crawl" / LOG, 30)) as log:
                urls = (reader.here(NUCLEIC),)
                shown = [Shown(number, today(), "dna", 1, 0, True, urls) for number in range(10)]
                log.write(shown, [(number, 1) for number in range(10)], today())
        case "share-a-crawl-between-machines":
            shutil.copytree(folder / "crawl", folder / "from-first")
            shutil.copytree(folder / "crawl", folder / "from-second")
            (folder / "frontier.conf").write_text(reader.here(code_of(name, "")))


@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.parametrize(
    "name",
    [*IN_CI, *(pytest.param(name, marks=DEEP) for name in PAGES if name not in IN_CI)],
)
def test_the_commands_of_a_page_work(name: str, reader: Reader, demo: Path) -> None:
    prepare(name, reader, demo)

    done = reader.types(BEFORE.get(name, []) + typed(name))

    if name in CAME_FOR:
        CAME_FOR[name](reader, done)


# Who comes for what, by the README


def pages_are_searched(reader: Reader, done: CompletedProcess[str]) -> None:
    asked = 'webcrawler search "molecular biology" --json\n'
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


# Python


def write_graph(path: Path) -> None:
    """As an edge list, 40 pages with six links each."""
    links = [(page, page * step + step) for page in range(40) for step in range(1, 7)]
    path.write_text("".join(f"http://a.example/{one}\thttp://a.example/{to % 40}\n" for one, to in links))


@pytest.mark.deep("test_web.py and test_evaluation.py call the same")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SHOWS)
def test_the_python_of_a_page_runs(name: str, reader: Reader, demo: Path) -> None:
    prepare(name, reader, demo)
    write_graph(reader.folder / "webgraph-hollins")  # the real one takes minutes
    (reader.folder / "program.py").write_text(reader.here(python_of(name)))

    done = reader.types([*BEFORE.get(name, []), f"{sys.executable} program.py\n"])  # it has httpx

    assert SHOWS[name] in done.stdout


@pytest.mark.deep("test_failing_orderings.py and test_evaluate_command.py run orderings of users")
@pytest.mark.timeout(900)
def test_each_ordering_of_the_documentation_crawls(reader: Reader) -> None:
    code = python_of("docs/how-to/add-an-ordering.md")
    names = re.findall(r"class (\w+)\(Ordering\)", code)
    (reader.folder / "myorderings.py").write_text(code)
    write_graph(reader.folder / "links.tsv")
    modes = ",".join(f"myorderings.{name}" for name in names)

    done = reader.types([f"webcrawler evaluate links.tsv --orderings {modes} --hot ib:5\n"])

    assert len(names) == 3
    assert all(f"myorderings.{name}" in done.stdout for name in names)


# Nothing is left out unseen


def test_what_is_run_elsewhere_is_still_documented() -> None:
    written = [*DOCUMENTED, *(command for name in DOCUMENTED for command in commands(name))]

    assert not [pattern for pattern in ELSEWHERE if not any(re.match(pattern, one) for one in written)]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_what_looks_like_a_command_is_labelled_as_one(name: str) -> None:
    pattern, _why = NOT_TYPED.get(name, (r"(?!)", ""))

    assert not [line for line in outside(name) if not re.match(pattern, line)]


@pytest.mark.parametrize("name", NOT_TYPED)
def test_what_is_not_typed_is_still_documented(name: str) -> None:
    assert any(re.match(NOT_TYPED[name][0], line) for line in outside(name))


def test_all_python_is_run_here_or_known_to_be_run_elsewhere() -> None:
    assert {name for name in DOCUMENTED if python_of(name)} == {*SHOWS, *PARTS}
