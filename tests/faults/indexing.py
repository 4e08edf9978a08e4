"""A follower that is killed while it makes an index from a catalog, again and again: for faults.py."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

from hook.failpoints import environment
from marked import Mark, until
from ordeal import PROJECT, Fault
from verdict import in_anchors, in_index

from webcrawler.index.folder import applied_seq

# Commits of 20 documents, or of the anchors of 20 pages: a small web, too, is many commits and some merges.
FOLLOWER = """
import sys
from webcrawler import views
from webcrawler.index import follower
follower.BATCH = follower.ANCHOR_PAGES = 20
follower.Follower.step.__defaults__ = (20,)
sys.exit(views.main(sys.argv[1:]))
"""
PATIENCE_SECONDS = 240.0  # only guards against hanging
LATER_SECONDS = 0.3


class Indexing:
    """The index and the anchors of a finished crawl, made anew by followers that are struck down."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self._chance = folder, chance
        self.faults: list[Fault] = []
        self.problems: list[str] = []
        self._mark = Mark()
        self._expected = in_index(folder) + in_anchors(folder)
        self._number = 0

    def ordeal(self, names: list[str]) -> list[str]:
        """Each of these failpoints strikes, and after each a kill at a random time; returns those missed."""
        self._throw_away()
        missed = [name for name in names if not self._strike(name)]
        until(lambda: self._start()[0].wait(PATIENCE_SECONDS) == 0, PATIENCE_SECONDS)
        found = in_index(self.folder) + in_anchors(self.folder)
        if found != self._expected:
            lost, more = (self._expected - found).total(), (found - self._expected).total()
            self.problems.append(f"index and anchors: {lost} lost, {more} too many, in {self.folder}")
        if left := self._mark.leftovers(PATIENCE_SECONDS):
            self.problems.append(f"processes are left over: {left}")
        return missed

    def _strike(self, name: str) -> bool:
        once_only = name in ("views.locked", "index.merging", "index.optimizing")
        passing = 1 if once_only else self._chance.randint(1, 2 if name.startswith("anchors.") else 4)
        before = applied_seq(self.folder / "index")
        process, once = self._start(f"{name}:kill:{passing}")
        process.wait(PATIENCE_SECONDS)
        struck = (once / name).exists()
        if struck:
            self.faults.append(Fault("failpoint", name, kills=True))
        elif process.returncode:
            self.problems.append(f"a follower ended with status {process.returncode}")
        if not struck and applied_seq(self.folder / "index") == before:  # nothing was left to do
            self._throw_away()
            return self._strike(name)
        self._kill_at_random()
        return struck

    def _kill_at_random(self) -> None:
        """Once it has applied something after the last fault."""
        began, before = time.monotonic(), applied_seq(self.folder / "index")
        process, _ = self._start()

        def grown() -> bool:
            return applied_seq(self.folder / "index") != before

        until(lambda: grown() or process.poll() is not None, PATIENCE_SECONDS, "for the follower")
        for fault in self.faults:
            if fault.resumed is None and grown():
                fault.resumed = time.monotonic() - began
        time.sleep(self._chance.uniform(0.0, LATER_SECONDS))
        if process.poll() is None:
            self.faults.append(Fault("follower", kills=True))
            process.kill()
        elif process.returncode:
            self.problems.append(f"a follower ended with status {process.returncode}")
        process.wait()

    def _start(self, failpoints: str = "") -> tuple[subprocess.Popen[bytes], Path]:
        self._number += 1
        once = self.folder.with_name(f"{self.folder.name}-followers") / str(self._number)
        once.mkdir(parents=True)
        armed = environment(failpoints, once)
        with (self.folder / "views.log").open("ab") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", FOLLOWER, str(self.folder)],
                cwd=PROJECT,
                env=os.environ | self._mark.environment | armed,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return process, once

    def _throw_away(self) -> None:
        for name in ("index", "anchors"):
            shutil.rmtree(self.folder / name)
