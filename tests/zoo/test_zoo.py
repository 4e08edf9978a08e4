"""A crawl survives every hostile server, and loses nothing of the calm site beside them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest
from localweb import WITHOUT_INDEX, Crawled, scrapy

from webcrawler.connection import connect
from webcrawler.crawl import wiring
from zoo import content, documents, encodings, framing, redirects, sizes, slow, tls, traps
from zoo.server import NETWORK, Behaviour, Zoo, served
from zoo.watch import watched

pytestmark = [
    pytest.mark.zoo,
    pytest.mark.skipif(sys.platform != "linux", reason="127.77.0.0/16 is loopback on Linux only"),
]

KINDS = {
    "framing": framing.hostile,
    "slow": slow.hostile,
    "sizes": sizes.hostile,
    "encodings": encodings.hostile,
    "redirects": redirects.hostile,
    "content, odd": content.hostile[::2],  # in two: one parser has to read them all
    "content, even": content.hostile[1::2],
    "documents": documents.hostile,
    "tls": tls.hostile,
    "traps": traps.hostile,
}
ALL = [behaviour for kind in KINDS.values() for behaviour in kind]
AT_ONCE = [behaviour for behaviour in ALL if behaviour not in documents.hostile]
MEMORY_MAX_MIB = 512
STALL_MAX_SECONDS = 1.0
URL_MAX_SECONDS = 60.0  # from the lease to the decision that is written
TIMEOUTS = {"framing": 6, "slow": 6, "tls": 6}  # seconds; who never answers is waited for in the last test
PARSER_TIMEOUTS = {"documents": 10}  # pages of other kinds are all read, on however busy a machine
DECIDED = ("done", "failed", "quarantined")


@dataclass(frozen=True)
class Survived:
    """What a crawl of a zoo has left behind, and what it cost."""

    zoo: Zoo
    crawled: Crawled
    peaks_mib: tuple[float, ...]  # of the crawl's processes

    @cached_property
    def probe(self) -> dict[str, float]:
        return json.loads((self.crawled.folder / "probe.json").read_text())

    @cached_property
    def documents(self) -> set[str]:
        return self.crawled.documents()

    @cached_property
    def costs(self) -> dict[str, tuple[float, float]]:
        """What it cost, and the bounds of that, by which benchmarks judge."""
        return {
            "memory in MiB": (max(self.peaks_mib), MEMORY_MAX_MIB),
            "longest stall in seconds": (self.probe["stall_seconds"], STALL_MAX_SECONDS),
            f"seconds for {self.probe['slowest']}": (self.probe["url_seconds"], URL_MAX_SECONDS),
        }


def crawl(folder: Path, zoo: Zoo, *arguments: str, seconds: float = 240.0, **settings: object) -> Survived:
    """A crawl of all of a zoo, in a process of its own, to its end."""
    seeds = folder / "seeds.txt"
    seeds.write_text("\n".join(zoo.seeds))
    settings = {
        "ADDRESSES_ALLOWED": NETWORK,
        "FRONTIER_DELAY": 0,
        "FRONTIER_TRIES": 1,
        "ITEM_PIPELINES": WITHOUT_INDEX,
        "EXTENSIONS": json.dumps({**wiring.SETTINGS["EXTENSIONS"], "zoo.probe.Probe": 1}),
        "LOG_LEVEL": "INFO",
        **settings,
    }
    options = [part for name, value in settings.items() for part in ("-s", f"{name}={value}")]
    log = folder / "log"
    options += [f"--logfile={log}", "-a", f"seeds=@{seeds}"]
    process = scrapy("crawl", "index", *options, *arguments, folder=folder)
    with watched(process.pid) as memory:
        try:
            printed = process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            connect(None, folder).close()  # the last user stops the server that a kill leaves
            raise AssertionError(f"it does not end:\n{log.read_text()[-20_000:]}") from None
    crawled = Crawled(folder, process.returncode, log.read_text() + printed)
    return Survived(zoo, crawled, tuple(memory.peaks.values()))


@pytest.fixture(scope="module")
def crawl_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Survived]:
    """The crawl of one kind, made when the first of its behaviours is asked for."""
    done: dict[str, Survived] = {}

    def of(kind: str) -> Survived:
        if kind not in done:
            limits = {
                "DOWNLOAD_TIMEOUT": TIMEOUTS.get(kind, 30),
                "PARSER_TIMEOUT": PARSER_TIMEOUTS.get(kind, 120),
            }
            with served(Zoo(KINDS[kind], 20)) as zoo:
                done[kind] = crawl(tmp_path_factory.mktemp(kind), zoo, **limits)
        return done[kind]

    return of


@pytest.fixture(scope="module")
def all_at_once(tmp_path_factory: pytest.TempPathFactory) -> Survived:
    """Under the limits that are the default, beside the calm site's 200 pages.

    Without documents: sixteen that take the parser up to ten seconds each would make large pages of others
    wait beyond their deadline; they are crawled by themselves.
    """
    with served(Zoo(AT_ONCE, 200)) as zoo:
        return crawl(tmp_path_factory.mktemp("all"), zoo)


def test_there_are_more_than_sixty_behaviours_and_each_has_a_name_of_its_own() -> None:
    assert len({behaviour.name for behaviour in ALL}) == len(ALL) >= 60


@pytest.mark.parametrize(
    ("kind", "behaviour"),
    [
        pytest.param(kind, behaviour, id=f"{behaviour.id}-{behaviour.name}")
        for kind, behaviours in KINDS.items()
        for behaviour in behaviours
    ],
)
def test_each_behaviour_comes_to_a_fitting_state(
    crawl_of: Callable[[str], Survived], kind: str, behaviour: Behaviour
) -> None:
    assert_fitting(crawl_of(kind), behaviour)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_is_survived(
    crawl_of: Callable[[str], Survived], kind: str, record_property: Callable[[str, object], None]
) -> None:
    for what, (cost, _) in crawl_of(kind).costs.items():
        record_property(what, cost)

    assert_survived(crawl_of(kind))


@pytest.mark.deep("how busy the machine is decides; each run of CI reports them")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_costs_less_than_five_times_its_bounds(
    crawl_of: Callable[[str], Survived], kind: str
) -> None:
    assert_affordable(crawl_of(kind))


@pytest.mark.deep("each kind by itself has the same behaviours")
@pytest.mark.parametrize("behaviour", AT_ONCE, ids=lambda behaviour: f"{behaviour.id}-{behaviour.name}")
def test_each_comes_to_a_fitting_state_beside_all_the_others(
    all_at_once: Survived, behaviour: Behaviour
) -> None:
    assert_fitting(all_at_once, behaviour)


@pytest.mark.deep("each kind by itself")
def test_all_at_once_are_survived(all_at_once: Survived) -> None:
    assert_survived(all_at_once)
    assert_affordable(all_at_once)


@pytest.mark.deep("test_traps.py has the rules, the kind of traps the servers")
def test_a_crawl_of_endless_traps_ends_at_max_pages_and_has_not_starved_the_calm_site(tmp_path: Path) -> None:
    with served(Zoo(traps.hostile, 20, depth=10**9)) as zoo:
        survived = crawl(tmp_path, zoo, "-a", "max_pages=600")

    assert survived.zoo.normal_pages <= survived.documents
    assert_survived(survived)
    assert_affordable(survived)


def assert_fitting(survived: Survived, behaviour: Behaviour) -> None:
    home = survived.zoo.home(behaviour)

    assert survived.crawled.reason(f"{home}/") in behaviour.outcomes
    assert survived.documents.issuperset(home + path for path in behaviour.finds)


def assert_survived(survived: Survived) -> None:
    """Nothing of the calm site is lost, and nothing is unaccounted for."""
    crawled, states = survived.crawled, survived.crawled.frontier["states"]

    assert crawled.status == 0, crawled.log
    assert survived.zoo.normal_pages <= survived.documents
    assert states["seen"] == sum(states[state] for state in ("queued", "leased", *DECIDED))
    assert states["leased"] == 0
    assert not re.findall("Traceback|Unhandled|CRITICAL|ERROR", crawled.log), crawled.log
    assert len(crawled.log) < 100 * len(survived.zoo.behaviours) + 50_000


def assert_affordable(survived: Survived) -> None:
    assert {what: cost for what, (cost, bound) in survived.costs.items() if cost > 5 * bound} == {}
