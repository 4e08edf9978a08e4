"""All that can happen to a crawl, again and again, and what is lost by it: nothing may be.

    python tests/faults/faults.py [--cycles 1000 | --short] [--seed N] [--folder DIR] [--json FILE]

Crawls a small web of which all is known (oddweb.py) round after round. Workers, index followers and Redis are
killed with kill -9, at random times and at every failpoint (hook/failpoints.py): at least --cycles
kills, each failpoint once for every 50 of them; every other fault (afflictions.py) once for every 100. Each
round goes on to the crawl's end, and is compared with what must be there. --short: each failpoint and each
fault once. The exit status is 1 when anything was wrong.

In the table, "in flight" is what was leased when the faults came; "resumed" is the longest time until another
lease was decided (of a follower: until another commit), counted from the kill, or from the end of a fault
that lasts. What was fetched again was in flight: more is a problem.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from afflictions import OVER_TCP, STORES, Affliction, can_mount, disk_full, small_disk, worker_stopped
from hook.failpoints import OF_CRAWLS
from indexing import Indexing
from oddweb import OddWeb
from ordeal import Fault, Ordeal
from rich.console import Console
from rich.table import Table
from verdict import Verdict

RESUME_SECONDS = 10.0
STRIKE_SECONDS = 25.0  # a busy machine takes its time to start a worker
LATER_SECONDS = 0.4
TURNS = 12  # of a round, at most
INDEX_TURNS = 6
ROUNDS_MAX = 40  # for each failpoint once; about ten are enough
AT_FIRST = ("redis.", "discover.", "heartbeat.", "close.", "leave.", "release.", "pages.new-file", "robots.")
ONCE_A_PAGE = (
    "lease.request",
    "download.",
    "parse",
    "batch.before-put",
    "batch.after-put",
    "pages.b",
    "pages.a",
)


class Run:
    """Round after round, on one web."""

    def __init__(self, web: OddWeb, folder: Path, chance: random.Random, is_thorough: bool) -> None:
        self._web, self._folder, self._chance, self._is_thorough = web, folder, chance, is_thorough
        self.rounds: list[dict[str, Any]] = []
        self.skipped: list[str] = []

    @property
    def faults(self) -> list[dict[str, Any]]:
        return [fault for figures in self.rounds for fault in figures["faults"]]

    def kills(self) -> int:
        return sum(fault["kills"] for fault in self.faults)

    def failpoints(self, times: int) -> None:
        """Each so many times, workers in some rounds, followers in others."""
        of_index = [name for name in OF_CRAWLS if name.startswith(("index.", "anchors."))] * times
        waiting = [name for name in OF_CRAWLS if name not in of_index] * times
        self._chance.shuffle(waiting)
        self._chance.shuffle(of_index)
        last = len(self.rounds) + ROUNDS_MAX * times
        while (waiting or of_index) and len(self.rounds) < last:
            self._round(lambda name: self._failpoint_round(name, waiting, of_index))
        self.skipped += [f"failpoint {name}: never reached" for name in {*waiting, *of_index}]

    def random_kills(self) -> None:
        self._round(lambda name: self._failpoint_round(name, [], []))

    def afflict(self, times: int) -> None:
        """Each of the other faults so many times, a few a round."""
        waiting = list(OVER_TCP) * times
        self._chance.shuffle(waiting)
        while waiting:
            self._round(lambda name: self._tcp_round(name, waiting))
        if not can_mount(self._folder / "probe"):
            self.skipped.append("disk full: needs root, to mount a small file system")
            return
        for store in STORES * times:
            self._round(lambda name, store=store: self._disk_round(name, store))  # type: ignore[misc]

    # ---- rounds

    def _round(self, play: Callable[[str], dict[str, Any]]) -> None:
        """A folder that held nothing wrong is removed."""
        name, began = f"round-{len(self.rounds):04}", time.monotonic()
        try:
            figures = play(name)
        except TimeoutError as error:
            figures = {"faults": [], "problems": [str(error)]}
        for fault in figures["faults"]:
            if (fault["resumed"] or 0.0) > RESUME_SECONDS:
                figures["problems"].append(
                    f"{fault['kind']} {fault['name']}: resumed after {fault['resumed']:.1f} s"
                )
        self.rounds.append({"round": name, "seconds": time.monotonic() - began, **figures})
        told = f"{len(figures['faults'])} faults, {self.kills()} kills so far"
        told += f", missed {figures['missed']}" if figures.get("missed") else ""
        told += f", {figures['problems']}" if figures["problems"] else ""
        print(f"{name} {time.monotonic() - began:.1f} s, {told}", flush=True)
        if not figures["problems"]:
            for path in self._folder.glob(f"{name}*"):
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()

    def _failpoint_round(self, name: str, waiting: list[str], of_index: list[str]) -> dict[str, Any]:
        """A crawl of which a worker dies at failpoints and at random times; then its index."""
        chance, early = self._chance, _take_early(waiting)
        workers, delay = 1 if early else chance.choice((1, 1, 2)), chance.choice((0.02, 0.05, 0.08))
        ordeal = Ordeal(self._folder / name, self._web, chance, False, workers, delay)
        try:
            waiting[:0] = [point for point in early if not self._strike(ordeal, point)]
            self._take_turns(ordeal, waiting)
            figures = ordeal.finish()
        finally:
            ordeal.mark.kill_all()
        if not figures["problems"] and (of_index or not waiting):
            some = [of_index.pop() for _ in of_index[:INDEX_TURNS]]
            indexing = Indexing(ordeal.folder, chance)
            of_index[:0] = indexing.ordeal(some)
            figures["faults"] += [fault.figures() for fault in indexing.faults]
            figures["problems"] += indexing.problems
        return figures

    def _take_turns(self, ordeal: Ordeal, waiting: list[str]) -> None:
        """Kills at random times (in short: a few) and at failpoints in turn, as long as the crawl lasts."""
        for turn in range(TURNS):
            if self._is_thorough or turn % 4 == 0:
                ordeal.start_missing()
                if not ordeal.wait_for_work():
                    return
                time.sleep(self._chance.uniform(0.0, LATER_SECONDS))
            if ordeal.has_ended():
                return
            if self._chance.random() < 0.1:
                ordeal.kill_views()
            if point := _take_later(waiting):
                if not self._strike(ordeal, point):
                    waiting.insert(0, point)
            else:
                ordeal.kill()

    def _strike(self, ordeal: Ordeal, name: str) -> bool:
        """Kills a worker, and the one in its place at this failpoint; False when that did not come by."""
        ordeal.kill()
        if name.startswith("redis."):
            ordeal.kill_redis()
        once = ordeal.start(failpoints=_armed(name, self._chance))
        worker, struck = ordeal.workers[0], (once / name).exists
        if name.startswith(("close.", "leave.")):
            decided = ordeal.decided()
            ordeal.wait(lambda: struck() or ordeal.decided() > decided)  # nothing may be left to decide
            worker.terminate()
        try:
            ordeal.wait(lambda: struck() or worker.poll() is not None, STRIKE_SECONDS)
        except TimeoutError:
            ordeal.kill()
        if struck():
            if not name.startswith("parser."):
                worker.wait()
            ordeal.note(Fault("failpoint", name, kills=True))
        else:
            ordeal.missed.append(name)
        return struck()

    def _tcp_round(self, name: str, waiting: list[Affliction]) -> dict[str, Any]:
        """As many of them as find the crawl at work."""
        is_long = waiting[-1] is worker_stopped
        workers, delay = (2, 0.2) if is_long else (self._chance.choice((1, 2)), 0.1)
        ordeal = Ordeal(self._folder / name, self._web, self._chance, True, workers, delay)
        return self._afflicted(ordeal, waiting)

    def _disk_round(self, name: str, store: str) -> dict[str, Any]:
        folder = self._folder / name
        with small_disk(folder, store) as disk:
            ordeal = Ordeal(folder, self._web, self._chance, False, self._chance.choice((1, 2)), 0.1)
            return self._afflicted(ordeal, [disk_full(store, disk)])

    def _afflicted(self, ordeal: Ordeal, waiting: list[Affliction]) -> dict[str, Any]:
        try:
            while waiting and self._is_at_work(ordeal):
                if waiting[-1] is worker_stopped and len(ordeal.workers) == 1:
                    break  # it takes another one to notice
                waiting.pop()(ordeal)
                ordeal.wait_for_work()
            return ordeal.finish()
        finally:
            ordeal.close()
            ordeal.mark.kill_all()

    def _is_at_work(self, ordeal: Ordeal) -> bool:
        """A moment after another lease was decided; False at the crawl's end."""
        decided = ordeal.decided()
        at_work = ordeal.wait(lambda: ordeal.decided() > decided)
        time.sleep(self._chance.uniform(0.0, LATER_SECONDS))
        return at_work and not ordeal.has_ended()


def _take_early(waiting: list[str]) -> list[str]:
    """Failpoints that only a crawl's beginning comes to: it asks for robots.txt then."""
    early = {point: None for point in waiting if point.startswith("robots.")}
    for point in early:
        waiting.remove(point)
    return sorted(early)


def _take_later(waiting: list[str]) -> str:
    """Another failpoint; "" where none is left but for a crawl's beginning."""
    later = [point for point in waiting if not point.startswith("robots.")]
    if later:
        waiting.remove(later[-1])
    return later[-1] if later else ""


def _armed(name: str, chance: random.Random) -> str:
    """FAILPOINTS for one strike, at a passing that a crawl of ten documents a batch comes to soon."""
    if name.startswith("release."):  # what leads there: a parser that is away
        return f"parse.before:unavailable:{chance.randint(1, 10)},{name}:kill"
    if name.startswith(AT_FIRST):
        return f"{name}:kill"
    return f"{name}:kill:{chance.randint(1, 12 if name.startswith(ONCE_A_PAGE) else 3)}"


def report(run: Run, seed: int, seconds: float) -> dict[str, Any]:
    kinds: dict[str, list[dict[str, Any]]] = {}
    for fault in run.faults:
        kinds.setdefault(fault["kind"], []).append(fault)
    names = [fault["name"] for fault in run.faults if fault["kind"] == "failpoint"]
    return {
        "seed": seed,
        "seconds": seconds,
        "rounds": len(run.rounds),
        "kills": run.kills(),
        "urls": sum(figures.get("urls", 0) for figures in run.rounds),
        "in_flight": sum(figures.get("in_flight", 0) for figures in run.rounds),
        "refetched": sum(figures.get("refetched", 0) for figures in run.rounds),
        **{name: sum(figures.get(name, 0) for figures in run.rounds) for name in Verdict._fields},
        "kinds": {kind: _of_kind(faults) for kind, faults in sorted(kinds.items())},
        "failpoints": {name: names.count(name) for name in OF_CRAWLS},
        "problems": [f"{one['round']}: {text}" for one in run.rounds for text in one["problems"]],
        "skipped": run.skipped,
        "each_round": run.rounds,
    }


def _of_kind(faults: list[dict[str, Any]]) -> dict[str, float]:
    resumed = [fault["resumed"] for fault in faults if fault["resumed"] is not None]
    figures = {"times": len(faults), "in_flight": sum(fault["in_flight"] for fault in faults)}
    return figures | {"resumed_median": median(resumed or [0.0]), "resumed_max": max(resumed, default=0.0)}


def show(figures: dict[str, Any]) -> None:
    table = Table("fault", "times", "in flight", "resumed, median (s)", "longest (s)")
    for kind, of_kind in figures["kinds"].items():
        table.add_row(
            {"worker": "kill -9 of a worker", "redis": "kill -9 of Redis"}.get(kind, kind),
            f"{of_kind['times']:,}",
            f"{of_kind['in_flight']:,}",
            f"{of_kind['resumed_median']:.1f}",
            f"{of_kind['resumed_max']:.1f}",
        )
    console = Console()
    console.print(table)
    for name, value in figures.items():
        if name not in ("kinds", "each_round", "failpoints"):
            console.print(f"{name:<18} {value}")
    times = figures["failpoints"].values()
    console.print(f"{'failpoints':<18} {len(times)}, each struck {min(times)} to {max(times)} times")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--cycles", type=int, default=1000, help="kills, at least (1000)")
    parser.add_argument("--short", action="store_true", help="each failpoint and each fault once")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--folder", type=Path, help="for the data of rounds in which something was wrong")
    parser.add_argument("--json", type=Path, metavar="FILE")
    asked = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # what was started is ended
    print(f"seed {asked.seed}", flush=True)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary, OddWeb(asked.seed) as web:
        run = Run(web, asked.folder or Path(temporary), random.Random(asked.seed), not asked.short)
        try:
            run.afflict(1 if asked.short else max(1, asked.cycles // 100))
            run.failpoints(1 if asked.short else max(1, asked.cycles // 50))
            while not asked.short and run.kills() < asked.cycles:
                run.random_kills()
        finally:  # what was seen so far
            figures = report(run, asked.seed, time.monotonic() - began)
            show(figures)
            if asked.json:
                asked.json.write_text(json.dumps(figures, indent=1))
    sys.exit(bool(figures["problems"] or figures["skipped"]))


if __name__ == "__main__":
    main()
