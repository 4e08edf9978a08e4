"""Each extra in an environment of its own: what is installed there works, and the rest says what it needs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from documented import Reader
from environments import Installed
from localweb import Answer, Site, environment, page, sites
from papers import owls
from test_light import SPIDER

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]  # the environments are made within the first test

PACKAGES_MAX, SIZE_MAX = 58, 170_000_000  # bytes, of the environment of the frontier alone
SERVE = pytest.param("serve", marks=pytest.mark.deep("test_light.py blocks the imports of each extra"))
LACKING = {  # a command that needs more than the extra has, and what it says
    "": ("search", "search"),
    "search": ("serve", "serve"),
    "serve": ("judge", "judge"),
}
CRAWLED = "webcrawler crawl https://example.org/\nwebcrawler report >&2\n"
LINKS = "printf '0 1\\n0 2\\n0 3\\n1 3\\n2 3\\n' > links.txt\n"
COMPARED = f"{LINKS}webcrawler evaluate links.txt --start 0 --hot ib:3 --orderings fifo,backlink"
JUDGED = """mkdir judged
echo '{"id": "1", "title": "Owls", "text": "An owl is a bird."}' > judged/docs.jsonl
printf 'q\\towl\\n' > judged/queries.tsv
printf 'q 0 1 1\\n' > judged/qrels.txt
webcrawler judge judged
"""
LEARNT = (
    "webcrawler crawl realtime --json -a strategy=classifier "
    "-a examples=https://example.org/,https://example.org/hawk\n"
)
WORKS = {  # what is typed where nothing but an extra is, and something of what is printed then
    "search": (f"{CRAWLED}webcrawler search hawks\n", "/hawk"),
    "serve": (f"{CRAWLED}webcrawler serve\ncurl -s 127.0.0.1:8000/api/search?q=hawks\n", "/hawk"),
    "documents": (f"{CRAWLED}webcrawler search 'snowy owls' --json\n", "/owls.pdf"),
    "graph": (f"{CRAWLED}webcrawler graph export links.graphml\ncat links.graphml\n", "<graphml"),
    "plots": (f"{COMPARED} --plots plots\nls plots\n", "p_st-ib-3.svg"),
    "parquet": (
        f"{CRAWLED}webcrawler graph export l.parquet --format parquet\ntail -c 4 l.parquet\n",
        "PAR1",
    ),
    "judge": (JUDGED, "mean of 1 query"),
    "classifier": (LEARNT, "/hawk"),
}


@pytest.fixture
def birds() -> Iterator[Site]:
    about = {"/": page("/hawk", "/owls.pdf"), "/hawk": Answer("<title>Hawks</title><p>Hawks hunt by day.")}
    with sites(site={**about, "/owls.pdf": Answer(owls("pdf"), kind="application/pdf")}) as opened:
        yield opened["site"]


def run(program: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command, variables = [program, *arguments], {**environment(folder), "PYTHONPATH": ""}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, timeout=240)


DEEP = [pytest.param(extra, marks=pytest.mark.deep("test_light.py")) for extra in WORKS if extra != "search"]


@pytest.mark.parametrize("extra", ["search", *DEEP])
def test_what_an_extra_is_for_works_with_it_alone(
    installed: Installed, birds: Site, extra: str, tmp_path: Path
) -> None:
    script, printed = WORKS[extra]

    done = Reader(tmp_path, installed(extra), birds.url).types([script])

    assert printed in done.stdout, done.stderr


@pytest.mark.parametrize("extra", ["", "search", SERVE])
def test_a_command_that_needs_more_says_in_one_line_what(
    installed: Installed, extra: str, tmp_path: Path
) -> None:
    command, needed = LACKING[extra]

    done = run(installed(extra) / "webcrawler", command, folder=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"error: `webcrawler {command}` needs ")
    assert done.stderr.endswith(f': pip install "scrapy-webcrawler[{needed}]"\n')


@pytest.mark.parametrize("extra", ["", "search", SERVE])
def test_help_lists_every_command_and_what_it_needs(installed: Installed, extra: str, tmp_path: Path) -> None:
    command, needed = LACKING[extra]

    done = run(installed(extra) / "webcrawler", "--help", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(f"  {command} ")]
    assert [line[1] for line in lines] == ["needs"]
    assert f'"scrapy-webcrawler[{needed}]"' in lines[0]


@pytest.mark.parametrize("extra", ["", "search", SERVE])
def test_a_spider_of_another_project_crawls_with_the_add_on_and_its_frontier_is_shown(
    installed: Installed, extra: str, tmp_path: Path
) -> None:
    scrapy = installed(extra) / "scrapy"
    assert run(scrapy, "startproject", "theirs", ".", folder=tmp_path).returncode == 0
    (tmp_path / "theirs/spiders/topics.py").write_text(SPIDER)
    with sites(web={"/": Answer("<a href=/a>a</a>"), "/a": Answer("a")}) as made:
        site = f"{made['web'].url}/"
        options = ("-a", f"site={site}", "-O", "items.json")
        crawled = run(scrapy, "crawl", "topics", *options, folder=tmp_path)
    assert crawled.returncode == 0, crawled.stderr
    items = json.loads((tmp_path / "items.json").read_text())
    assert sorted(item["url"] for item in items) == [site, f"{site}a"], crawled.stderr

    done = run(scrapy, "frontier", "stats", "--json", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    stats = json.loads(done.stdout)
    assert (stats["seen"], stats["done"]) == (2, 2)


def test_the_frontier_alone_is_light(installed: Installed) -> None:
    programs = installed("")
    listed = [sys.executable, "-m", "pip", "--python", programs / "python", "list", "--format", "json"]

    packages = json.loads(subprocess.check_output(listed))
    compiled = [programs / "python", "-I", "-m", "compileall", "-q", programs.parent / "lib"]
    subprocess.run(compiled)  # as pip does, beside each file
    size = sum(path.stat().st_size for path in programs.parent.rglob("*") if path.is_file())

    print(f"{len(packages)} packages, {size / 1e6:.0f} MB")
    assert len(packages) <= PACKAGES_MAX
    assert size <= SIZE_MAX
