"""Scrapyd: what scrapyd-deploy makes of a clean clone crawls and is searched, out of one zipped egg.

docs/how-to/deploy-to-scrapyd.md says the same for people.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import ProxyHandler, build_opener

import pytest
from environments import copy_what_git_tracks as copied
from ports import free_port
from truth import Truth
from truth import truth as demo_truth
from waiting import at_rest, until

from webcrawler import __version__, connection
from webcrawler.demo import DemoWeb
from webcrawler.realtime import journal
from webcrawler.realtime.journal import Journal

pytestmark = [pytest.mark.scrapyd, pytest.mark.slow]

PROJECT = Path(__file__).parent.parent
PACKAGES = ("webcrawler/", "spiders/", "pipelines/", "docs/")
ENVIRONMENT = Path(os.environ.get("SCRAPYD_ENV") or PROJECT / ".scrapyd-env").absolute()
# Scrapyd needs pkg_resources, which setuptools 81 dropped; our pyproject.toml needs setuptools 77.
SCRAPYD = ["scrapyd>=1.6", "scrapyd-client>=2.0.3", "setuptools>=77,<81"]

_direct = build_opener(ProxyHandler({}))


# Arranging


@pytest.fixture(scope="module")
def python() -> Path:
    """Of an environment with Scrapyd and what the project depends on, but without the project."""
    python, installed = ENVIRONMENT / "bin" / "python", ENVIRONMENT / "installed.txt"
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    requirements = [*SCRAPYD, *project["dependencies"], *extras["search"], *extras["documents"][1:]]
    if not (python.exists() and installed.exists() and installed.read_text().split("\n") == requirements):
        needed(sys.executable, "-m", "venv", ENVIRONMENT)
        needed(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, *requirements)
        installed.write_text("\n".join(requirements))
    return python


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git tracks, and nothing else."""
    return copied(tmp_path_factory.mktemp("clone"))


class Scrapyd:
    """A Scrapyd in a folder of its own, which is its home and holds what it crawls."""

    def __init__(self, folder: Path, python: Path) -> None:
        self.folder, self.bin = folder, python.parent
        self.crawl_dir, self.search_dir = folder / "crawl", folder / "search"
        self.url = f"http://127.0.0.1:{free_port()}/"
        self.environ = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(folder), "LC_ALL": "C.UTF-8"}
        port = self.url.rpartition(":")[2].rstrip("/")
        (folder / "scrapyd.conf").write_text(f"[scrapyd]\nhttp_port = {port}\npoll_interval = 0.2\n")
        (folder / ".config").mkdir()
        target = f"[deploy:test]\nurl = {self.url}\nproject = webcrawler\n"
        (folder / ".config" / "scrapy.cfg").write_text(target)

    def start(self) -> None:
        with (self.folder / "scrapyd.log").open("wb") as log:
            self._process = subprocess.Popen(
                [self.bin / "scrapyd"],
                cwd=self.folder,
                env=self.environ,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        until(self.answers, "Scrapyd")

    def stop(self) -> None:
        """Its jobs too, which close in good order."""
        os.killpg(self._process.pid, signal.SIGTERM)
        self._process.wait()
        until(self._jobs_are_gone, "the jobs")
        for folder in (self.crawl_dir, self.search_dir):
            if (folder / "redis").exists():  # a job that was stopped halfway may leave its server
                connection.connect("", at_rest(folder)).close()  # who leaves last stops it

    def _jobs_are_gone(self) -> bool:
        try:
            os.killpg(self._process.pid, 0)
        except ProcessLookupError:
            return True
        return False

    def answers(self) -> bool:
        assert self._process.poll() is None, (self.folder / "scrapyd.log").read_text()
        try:
            return bool(self.ask("daemonstatus")["status"] == "ok")
        except OSError:
            return False

    def ask(self, what: str, post: list[tuple[str, str]] | None = None, **query: str) -> dict[str, Any]:
        url = f"{self.url}{what}.json?{urlencode(query)}"
        with _direct.open(url, urlencode(post).encode() if post else None, timeout=60) as answer:
            found: dict[str, Any] = json.load(answer)
        assert found["status"] == "ok", found
        return found

    def deploy(self, clone: Path) -> Path:
        """The egg as Scrapyd keeps it."""
        run(self.bin / "scrapyd-deploy", "test", "--debug", cwd=clone, env=self.environ)
        [egg] = (self.folder / "eggs").rglob("*.egg")
        return egg

    def run(self, **order: str) -> None:
        """A job, to its end."""
        self.ask("schedule", [("project", "webcrawler"), *order.items()])
        until(lambda: self.finished(order["jobid"]), "the job")

    def finished(self, job: str) -> bool:
        return job in [one["id"] for one in self.ask("listjobs", project="webcrawler")["finished"]]

    def log(self, job: str, spider: str = "index") -> str:
        return (self.folder / "logs" / "webcrawler" / spider / f"{job}.log").read_text("utf-8")


@pytest.fixture(scope="module")
def scrapyd(python: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    scrapyd = Scrapyd(tmp_path_factory.mktemp("scrapyd"), python)
    try:
        scrapyd.start()
        yield scrapyd
    finally:
        scrapyd.stop()


@pytest.fixture(scope="module")
def egg(scrapyd: Scrapyd, clone: Path) -> Path:
    return scrapyd.deploy(clone)


@pytest.fixture(scope="module")
def crawl_dir(scrapyd: Scrapyd, egg: Path) -> Path:
    """The data folder of the job "demo", which has ended, as have its views."""
    folder = scrapyd.crawl_dir
    scrapyd.run(spider="index", jobid="demo", setting=f"CRAWL_DIR={folder}")
    return at_rest(folder)


@pytest.fixture(scope="module")
def truth(crawl_dir: Path) -> Truth:
    return demo_truth(DemoWeb(json.loads((crawl_dir / "demo.json").read_text())["ports"]))


@pytest.fixture(scope="module")
def searched(scrapyd: Scrapyd, egg: Path) -> Journal:
    """What the job "live", a real-time search of the demo web that has ended, left in its journal."""
    asked = {"query": "molecular biology", "keep": "yes", "enough": "5"}
    scrapyd.run(spider="realtime", jobid="live", setting=f"CRAWL_DIR={scrapyd.search_dir}", **asked)
    found = journal.read(scrapyd.search_dir, "live")
    assert found is not None, scrapyd.log("live", "realtime")
    return found


@pytest.fixture
def scrapy(scrapyd: Scrapyd, egg: Path, crawl_dir: Path, tmp_path: Path) -> Callable[..., Any]:
    """Runs a command out of the egg, somewhere else; gives its JSON."""
    environ = {"PYTHONPATH": str(egg), "SCRAPY_SETTINGS_MODULE": "webcrawler.settings"}

    def scrapy(*arguments: str, folder: Path = crawl_dir) -> Any:
        told = environ | scrapyd.environ | {"CRAWL_DIR": str(folder)}
        return json.loads(run(scrapyd.bin / "scrapy", *arguments, "--json", cwd=tmp_path, env=told))

    return scrapy


# Deploying


def test_the_egg_holds_all_files_of_these_folders_in_one_package_and_no_others(egg: Path) -> None:
    files = packaged(egg, "EGG-INFO/")

    assert files == within(tracked())
    assert {Path(name).suffix for name in files} >= {".py", ".lua", ".sql", ".txt", ".html", ".css", ".js"}


def test_the_wheel_holds_them_too(python: Path, tmp_path: Path) -> None:
    clone, wheels = copied(tmp_path / "clone"), tmp_path / "wheels"
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    run(python, "-c", build, wheels, cwd=clone)

    (wheel,) = wheels.glob("*.whl")
    assert packaged(wheel, "scrapy_webcrawler-") == within(tracked())


def test_deploying_adds_only_build_and_egg_info_to_the_clone(egg: Path, clone: Path) -> None:
    files = {str(path.relative_to(clone)): path for path in clone.rglob("*") if path.is_file()}

    added = {name.partition("/")[0] for name in files.keys() - set(tracked())}

    assert added <= {"build", "scrapy_webcrawler.egg-info"}
    assert all(files[name].read_bytes() == (PROJECT / name).read_bytes() for name in tracked())


def test_scrapyd_lists_the_spiders(scrapyd: Scrapyd, egg: Path) -> None:
    assert {"index", "realtime"} <= {*scrapyd.ask("listspiders", project="webcrawler")["spiders"]}


# Crawling: nothing but the egg can have done it, as the environment has no webcrawler.


def test_the_environment_lacks_the_project(python: Path, tmp_path: Path) -> None:
    found = subprocess.run([python, "-c", "import webcrawler"], cwd=tmp_path, env={}, capture_output=True)

    assert b"No module named 'webcrawler'" in found.stderr


def test_a_job_crawls_the_demo_web_to_its_end(scrapy: Callable[..., Any], truth: Truth) -> None:
    graph, frontier = scrapy("graph", "stats"), scrapy("frontier", "stats")

    assert (graph["documents"], graph["duplicates"]) == (len(truth.documents), truth.duplicates)
    assert (frontier["queued"], frontier["leased"], frontier["quarantined"]) == (0, 0, 0)


@pytest.mark.parametrize(
    ("job", "spider", "reason"), [("demo", "index", "finished"), ("live", "realtime", "enough")]
)
def test_a_job_logs_no_errors(
    scrapyd: Scrapyd, crawl_dir: Path, searched: Journal, job: str, spider: str, reason: str
) -> None:
    log = scrapyd.log(job, spider)

    assert f"Spider closed ({reason})" in log
    assert "ERROR" not in log
    assert "Traceback" not in log


def test_a_job_names_its_version(scrapyd: Scrapyd, crawl_dir: Path) -> None:
    assert f"'USER_AGENT': 'webcrawler/{__version__}'" in scrapyd.log("demo")


def test_its_pages_were_indexed_the_pages(crawl_dir: Path, scrapy: Callable[..., Any]) -> None:
    found = scrapy("search", "molecular biology")

    assert int((crawl_dir / "views.lock").read_text()) > 0  # a process id
    assert "Traceback" not in (crawl_dir / "views.log").read_text()
    assert found["total"] >= 25
    assert "Molecular Biology" in found["hits"][0]["title"]


def test_its_ranks_were_stored(crawl_dir: Path) -> None:
    assert json.loads((crawl_dir / "ranks" / "ranks.bin").read_bytes()[:512])["pages"] > 0


def test_a_vocabulary_was_left(crawl_dir: Path) -> None:
    assert "stored the vocabulary" in (crawl_dir / "views.log").read_text()


def test_after_a_job_nothing_of_it_runs(crawl_dir: Path) -> None:
    locks = ("crawls.lock", "views.lock", "redis/server")

    assert [lock for lock in locks if not is_free(crawl_dir / lock)] == []


def test_the_egg_is_never_unpacked(scrapyd: Scrapyd, egg: Path, crawl_dir: Path) -> None:
    assert zipfile.is_zipfile(egg)
    assert [path for path in (scrapyd.folder / "eggs").rglob("*") if path.is_file()] == [egg]
    assert not list(scrapyd.folder.rglob("*.py"))  # its home is here too


# Searching in real time


def test_a_search_runs_as_a_job_until_it_has_found_enough(searched: Journal) -> None:
    assert (searched["state"], searched["reason"], searched["enough"]) == ("finished", "enough", 5)
    assert searched["similar"] >= 5
    assert "Molecular Biology" in searched["hits"][0]["title"]
    assert searched["hits"][0]["source"] == "web"


def test_what_a_search_found_is_searched_by_others(
    scrapyd: Scrapyd, searched: Journal, scrapy: Callable[..., Any]
) -> None:
    found = scrapy("search", "molecular biology", "-n", "100", folder=scrapyd.search_dir)

    assert {hit["url"] for hit in searched["hits"]} <= {hit["url"] for hit in found["hits"]}


# Helpers


def within(names: list[str]) -> set[str]:
    """Where the files of these folders are in what is installed; _toc.yml is for builders of pages."""
    ours = (name for name in names if name.startswith(PACKAGES) and not name.endswith(".yml"))
    return {name if name.startswith("webcrawler/") else f"webcrawler/{name}" for name in ours}


def packaged(archive: Path, metadata: str) -> set[str]:
    """The files in an egg or a wheel, without what is compiled and what is said about it."""
    names = zipfile.ZipFile(archive).namelist()
    return {name for name in names if not name.endswith(".pyc") and not name.startswith(metadata)}


def tracked() -> list[str]:
    """The files of the project, by git."""
    names = needed("git", "-C", PROJECT, "ls-files", "-z").split("\0")
    return [name for name in names if name and (PROJECT / name).exists()]


def needed(*command: str | Path) -> str:
    """What the command prints; without it there is nothing to test, but in CI there must be."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    try:
        return subprocess.run(command, env=environ, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        words = (getattr(error, "stderr", "") or str(error)).strip().split("\n")
        reason = f"{Path(command[0]).name} failed: {words[-1]}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def run(*command: str | Path, **options: Any) -> str:
    done: subprocess.CompletedProcess[str]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def is_free(lock: Path) -> bool:
    """Whether no process holds it; who tries to take it at this very moment finds it held."""
    with lock.open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True
