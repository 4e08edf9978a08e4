"""`webcrawler COMMAND`: the commands in any folder, also in that of another project."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from localweb import Answer, environment, page, sites
from searched import entry, publish

PROJECT = Path(__file__).parents[1]
COMMANDS = {path.stem for path in (PROJECT / "webcrawler/commands").glob("[!_]*.py")} - {"base"}
PROGRAM = "from webcrawler.commands._program import main; main()"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """That of a project which has spiders of its own, and a mistake in its settings."""
    (tmp_path / "spiders").mkdir()
    (tmp_path / "spiders/__init__.py").touch()
    (tmp_path / "mine.py").write_text("1 / 0")
    (tmp_path / "scrapy.cfg").write_text("[settings]\ndefault = mine\n")
    return tmp_path


def webcrawler(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, *arguments]
    environ = environment(folder / "crawl") | {"LOG_LEVEL": "WARNING"}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, timeout=120)


@pytest.mark.slow
def test_alone_it_lists_the_commands(folder: Path) -> None:
    done = webcrawler(folder=folder)

    assert set(re.findall(r"(?m)^  (\w+) +[A-Z]", done.stdout)) == COMMANDS
    assert done.returncode == 0


def test_a_command_that_there_is_not(folder: Path) -> None:
    done = webcrawler("shell", folder=folder)

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: no command is called 'shell'; there are backup, check, crawl, ")


@pytest.mark.slow
def test_help_and_errors_name_the_command_as_it_is_typed(folder: Path) -> None:
    shown = webcrawler("crawl", "--help", folder=folder).stdout
    assert "webcrawler crawl [options]" in shown
    assert "`webcrawler crawl realtime -a query=WORDS`" in shown
    assert "scrapy " not in shown

    done = webcrawler("graph", "stats", folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "run `webcrawler crawl index` first" in done.stderr


@pytest.mark.slow
def test_seeds_are_arguments_and_what_they_lead_to_is_found(folder: Path) -> None:
    with sites(first={"/": page("/next"), "/next": Answer("<title>Owls</title>at night")}, second={}) as web:
        second = f"{web['second'].url}/a,b"  # a comma in a URL parts nothing
        web["second"].routes = {"/a,b": Answer("<title>Herons</title>by day")}
        limits = ("-s", "FRONTIER_DELAY=0", "-s", "ADDRESSES_ALLOWED=127.0.0.1/32")
        crawled = webcrawler("crawl", f"{web['first'].url}/", second, *limits, folder=folder)

    assert crawled.returncode == 0, crawled.stderr
    assert webcrawler("report", folder=folder).returncode == 0  # waits for the index
    for word in ("owls", "herons"):
        assert "1 page in" in webcrawler("search", word, folder=folder).stdout


@pytest.fixture(scope="module")
def owls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("owls")
    (folder / "crawl").mkdir()
    publish(folder / "crawl", [entry(("http://a.example/", "Owls", "owls hunt at night"))])
    return folder


@pytest.mark.slow
def test_a_search_does_not_wait_for_scrapy_and_scipy(owls: Path) -> None:
    command = [sys.executable, "-X", "importtime", "-c", PROGRAM, "search", "owls"]
    done = subprocess.run(command, cwd=owls, env=environment(owls / "crawl"), capture_output=True, text=True)

    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "1 page in" in done.stdout
    assert "webcrawler.search" in imported
    assert not {"scrapy", "scipy.sparse", "twisted", "wordfreq"} & imported


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("owls", "night"),
        ("--json", "-n", "1", "owls"),
        ("-s", "CRAWL_DIR=", "owls"),
        ("-s", "CRAWL_DIR=elsewhere", "owls"),
        ("-n", "many", "owls"),
        ("--ranking", "fame", "owls"),
        (" ",),
    ],
    ids=" ".join,
)
def test_a_search_without_scrapy_is_the_same(owls: Path, arguments: tuple[str, ...]) -> None:
    """What is asked behind -- is left to Scrapy's command line."""
    *options, words = arguments
    short = webcrawler("search", *arguments, folder=owls)
    long = webcrawler("search", *options, "--", words, folder=owls)

    took = r"[\d.]+ s\b|\"seconds\": [\d.e-]+"
    assert re.sub(took, "", short.stdout) == re.sub(took, "", long.stdout)
    assert (short.returncode, short.stderr) == (long.returncode, long.stderr)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("owls", "--explian"), "error: unknown option --explian: --help lists all options"),
        (("--help",), "webcrawler search [options]"),
        (("owls", "--loglevel=ERROR"), "1 page in"),
        (("-s", "SEARCH_URL=ftp://x", "owls"), "error: "),
        (("-s", "CRAWL_DIR", "owls"), "Invalid -s value"),
    ],
    ids=["misspelled", "help", "an option of Scrapy", "a setting that is not valid", "no setting"],
)
def test_what_else_is_typed_is_read_by_scrapy(owls: Path, arguments: tuple[str, ...], says: str) -> None:
    done = webcrawler("search", *arguments, folder=owls)

    assert says in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
