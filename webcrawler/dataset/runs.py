"""Runs of the jobs: each has a number and a folder of its own, and the last complete one is in force.

`v1/runs/NUMBER/` has what a run made. Its file `done.json`, which is written last, says of which manifests,
and how long each file is. So a run that dies leaves the results before it in force, and readers have all
files of one run or of another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from webcrawler import clock
from webcrawler.dataset.place import ROOT, File, Place

RUNS = f"{ROOT}/runs"
KEPT_SECONDS = 7 * 24 * 3600.0  # of a run that is no longer in force: who has begun to read it can end


@dataclass(frozen=True)
class Run:
    """A run that is complete.

    Attributes:
        homes: whose results there are, and the number of the manifest that each was made of.
        parts: files by table, or by table and home as "ranks/HOME".
    """

    number: int
    began: float
    homes: Mapping[str, int] = field(default_factory=dict)
    parts: dict[str, list[File]] = field(default_factory=dict)

    @property
    def folder(self) -> str:
        return _folder(self.number)

    def keys(self, table: str) -> list[str]:
        """The keys of a table's parts, of all homes or of one ("ranks/HOME")."""
        names = (name for name in sorted(self.parts) if name == table or name.startswith(f"{table}/"))
        return [file.key for name in names for file in self.parts[name]]


def current(place: Place) -> Run | None:
    """Return the run in force; None before the first.

    Raises:
        BadInput: it is of a newer version of this program, or damaged.
    """
    done = place.files(RUNS, "/done.json")
    return place.read(done[-1].key, _made) if done else None


def begin(place: Place, homes: Mapping[str, int]) -> Run:
    """Return a new run, whose number nobody else has."""
    run = Run(max(_begun(place), default=0) + 1, clock.now(), homes)
    is_mine = place.create(f"{run.folder}/begun.json", {"began": run.began})
    return run if is_mine else begin(place, homes)


def complete(place: Place, run: Run) -> None:
    """Put a run in force, unless a later one is."""
    place.create(f"{run.folder}/done.json", asdict(run))


def sweep(place: Place) -> None:
    """Remove the runs before the one in force that began more than a week ago."""
    if run := current(place):
        for number in _begun(place):
            if number < run.number and _began(place, number) < clock.now() - KEPT_SECONDS:
                place.remove(_folder(number))


def _begun(place: Place) -> list[int]:
    return [int(file.key.split("/")[-2]) for file in place.files(RUNS, "/begun.json")]


def _began(place: Place, number: int) -> float:
    return place.read(f"{_folder(number)}/begun.json", lambda said: float(said["began"]))


def _folder(number: int) -> str:
    return f"{RUNS}/{number:06}"


def _made(said: dict[str, Any]) -> Run:
    parts = {name: [File(*file) for file in files] for name, files in said.pop("parts").items()}
    return Run(parts=parts, **said)
