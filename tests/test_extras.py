"""Each extra in an environment of its own: what is installed there works, and the rest says what it needs."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest
from environments import make_environment
from localweb import PROJECT, Answer, environment, sites
from test_light import SPIDER

pytestmark = pytest.mark.slow

LACKING = {  # a command that needs more than the extra has, and what it says
    "": ("search", "search"),
    "search": ("serve", "serve"),
    "serve": ("judge", "judge"),
}


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git tracks: a build leaves files beside it."""
    folder = tmp_path_factory.mktemp("clone")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=PROJECT, text=True)
    for name in filter(None, listed.split("\0")):
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(PROJECT / name, folder / name)
    return folder


@pytest.fixture(scope="module", params=LACKING)
def installed(request: pytest.FixtureRequest, clone: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that has one extra; `extra` says which."""
    wanted = f"{clone}[{request.param}]" if request.param else str(clone)
    return make_environment(tmp_path_factory.mktemp("environment"), wanted)


@pytest.fixture
def extra(request: pytest.FixtureRequest, installed: Path) -> str:
    return str(request.node.callspec.params["installed"])


def run(program: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    variables = {**environment(folder), "SCRAPY_SETTINGS_MODULE": "", "PYTHONPATH": ""}
    return subprocess.run(
        [program, *arguments], cwd=folder, env=variables, capture_output=True, text=True, timeout=240
    )


@pytest.mark.timeout(900)  # the environment is made within the first test
def test_a_spider_crawls_with_the_add_on(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "topics.py").write_text(SPIDER)
    with sites(web={"/": Answer("<a href=/a>a</a>"), "/a": Answer("a")}) as made:
        site = f"{made['web'].url}/"
        done = run(
            installed / "scrapy", "runspider", "topics.py", "-a", f"site={site}", "-O", "items.json",
            folder=tmp_path,
        )  # fmt: skip

    items = json.loads((tmp_path / "items.json").read_text())
    assert sorted(item["url"] for item in items) == [site, f"{site}a"], done.stderr


def test_a_command_that_needs_more_says_in_one_line_what(installed: Path, extra: str, tmp_path: Path) -> None:
    command, needed = LACKING[extra]

    done = run(installed / "webcrawler", command, folder=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1, done.stderr
    assert done.stderr.startswith(f"error: `webcrawler {command}` needs ")
    assert done.stderr.endswith(f': pip install "scrapy-webcrawler[{needed}]"\n')


def test_help_lists_every_command_and_what_it_needs(installed: Path, extra: str, tmp_path: Path) -> None:
    command, needed = LACKING[extra]

    done = run(installed / "webcrawler", "--help", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines() if line.startswith(f"  {command} ")]
    assert [line[1] for line in lines] == ["needs"]
    assert f'"scrapy-webcrawler[{needed}]"' in lines[0]


def test_no_command_of_another_project_breaks(installed: Path, tmp_path: Path) -> None:
    done = run(installed / "scrapy", "version", folder=tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Scrapy ")
