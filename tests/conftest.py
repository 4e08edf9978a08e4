"""What many tests stand on: one real Redis for the whole run, and a frontier of its own for each test."""

from __future__ import annotations

import gc
import os
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

os.environ["WEBCRAWLER_PACE"] = "0.1"  # of the product, which is imported below
os.environ.setdefault("LOG_LEVEL", "INFO")  # tests read what crawls say of themselves

import pytest
import redis
from environments import clone, installed, wheel
from hypothesis import register_random, settings
from inprocess import Answered, command

from webcrawler import clock as product_clock
from webcrawler.connection import Connection, connect
from webcrawler.errors import BadInput
from webcrawler.frontier import Budgets, Frontier, Politeness, ordering

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from webcrawler.demo import DemoWeb

if sys.dont_write_bytecode:  # hundreds of processes would compile Scrapy and its libraries, two seconds each
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(
        Path(__file__).parents[1] / ".pytest_cache/bytecode"
    )

# No example has a deadline. `make test-all` draws anew, and ten times as many; all else the same each time.
PROFILE = os.environ.get("HYPOTHESIS_PROFILE", "same")
MANY = 10 if PROFILE == "deep" else 1
settings.register_profile("same", deadline=None, derandomize=True, database=None)
settings.register_profile("deep", deadline=None, max_examples=1000, derandomize=False, print_blob=True)
settings.load_profile(PROFILE)
os.environ.setdefault(product_clock.SEED, "0")
register_random(product_clock.draws)

__all__ = ["Answered", "clone", "installed", "wheel"]
MakeFrontier = Callable[..., Frontier]
Run = Callable[..., Answered]
# each a stage of .ci/run
SLOW_KINDS = ("browser", "cluster", "docweb", "faults", "fleet", "opensearch", "scrapyd", "zoo")
HANGS_SECONDS = 900  # what is slow; all else has the limit of pyproject.toml


def examples(number: int) -> int:
    """How many a property has to hold for in this profile, where it says so itself."""
    return number * MANY


@pytest.hookimpl(tryfirst=True)  # before hypothesis reads it
def pytest_configure(config: pytest.Config) -> None:
    """The seed that is told with a red test draws its examples again."""
    if PROFILE == "deep" and getattr(config.option, "hypothesis_seed", None) is None:
        config.option.hypothesis_seed = os.environ[product_clock.SEED]


class Clock:
    """The clock of the product, in this process and in those that a test starts."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        given = os.environ.get(product_clock.NAME) or "+0"
        self._patch, self._mark, self._seconds = patch, given[0], float(given.lstrip("@"))

    def hold(self, moment: float) -> None:
        """Let it stand at this moment."""
        self._set("@", moment)

    def move(self, seconds: float) -> None:
        """Put it forward, or back; if it stands, it goes on standing."""
        self._set(self._mark, self._seconds + seconds)

    def _set(self, mark: str, seconds: float) -> None:
        self._mark, self._seconds = mark, seconds
        text = f"@{seconds:.6f}" if mark == "@" else f"{seconds:+.6f}"
        self._patch.setenv(product_clock.NAME, text)
        product_clock.set_to(text)


@pytest.hookimpl(tryfirst=True)  # before the fixtures of its module
def pytest_runtest_setup(item: pytest.Item) -> None:
    """What a test draws does not depend on the tests before it.

    Nor does it repeat theirs: Whoosh draws the names of files, also in folders that tests share.
    """
    product_clock.seed()
    random.seed(f"{os.environ[product_clock.SEED]} {item.nodeid}")


@pytest.hookimpl(tryfirst=True)  # before -m chooses by these marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow by its kind."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")
        if any(item.get_closest_marker(kind) for kind in (*SLOW_KINDS, "deep")):
            item.add_marker("slow")
        if item.get_closest_marker("slow") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(HANGS_SECONDS))


def pytest_collection_finish() -> None:
    """The index collects garbage at each commit: it need not look at thousands of tests each time."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)  # its fixtures are gone
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """Nor at what earlier files have left: a third of the time of all quick tests."""
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture
def clock() -> Iterator[Clock]:
    """Redis and files have clocks of their own: `let_pass` and `os.utime` let time go by for them."""
    with pytest.MonkeyPatch.context() as patch:
        yield Clock(patch)
    product_clock.set_to(os.environ.get(product_clock.NAME, ""))


@pytest.fixture(scope="session")
def connection() -> Iterator[Connection]:
    """The embedded server; a laptop may do without its tests, CI may not."""
    with tempfile.TemporaryDirectory(prefix="wc-") as folder:
        try:
            opened = connect(None, Path(folder))
        except BadInput as error:
            if os.environ.get("CI"):
                raise
            pytest.skip(f"no Redis: {error}")
        with opened:
            yield opened


@pytest.fixture
def client(connection: Connection) -> redis.Redis:
    """An empty Redis."""
    connection.client.flushdb()
    return connection.client


@pytest.fixture
def make_frontier(connection: Connection, client: redis.Redis) -> Iterator[MakeFrontier]:
    """Opens frontiers: impolite unless told otherwise, so that a test of one rule sees that rule alone.

    Each has connections of its own, as in a crawl.
    """
    clients: list[redis.Redis] = []

    def make(
        mode: str = "fifo",
        name: str = "index",
        worker: str = "ann",
        budgets: Budgets | None = None,
        partitions: int = 1,
        **politeness: float,
    ) -> Frontier:
        polite = Politeness(**{"delay": 0.0, "server_concurrency": 10_000, **politeness})  # type: ignore[arg-type]
        clients.append(connection.new_client())
        frontier = Frontier(clients[-1], ordering(mode), name, polite, worker, budgets, partitions)
        frontier.open(mode)
        return frontier

    yield make
    for own in clients:
        own.close()


@pytest.fixture
def frontier(make_frontier: MakeFrontier) -> Frontier:
    return make_frontier()


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """A command in this process, in the project folder, on an empty data folder unless told otherwise."""

    def act(*arguments: str, folder: Path = tmp_path / "crawl") -> Answered:
        return command(*arguments, folder=folder)

    return act


@pytest.fixture(scope="module")
def demo_web() -> Iterator[DemoWeb]:
    """Crawls of other tests begin demo webs, too; whoever knows the ports of this one shares it."""
    from webcrawler.demo import DemoWeb

    with DemoWeb() as web:
        yield web


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A browser. Not for the session: while Playwright runs, nobody else can have an event loop."""
    from browsing import chromium_browser

    with chromium_browser() as browser:
        yield browser
