"""Runs of the jobs: each has a number and a folder of its own, and the last complete one is in force.

`v1/runs/NUMBER/` has what a run made, and `v1/current.json` says which one is in force, of which manifests it
was made, and how long each of its files is. That file is written last. So a run that dies leaves the results
before it in force, and readers have all files of one run or of another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

from webcrawler import clock
from webcrawler.dataset.place import File, Place
from webcrawler.errors import BadInput

FORMAT = 1  # of results; readers refuse a higher one
ROOT = "v1"
CURRENT = f"{ROOT}/current.json"
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
        return folder_of(self.number)

    def keys(self, table: str) -> list[str]:
        """The keys of a table's parts, of all homes or of one ("ranks/HOME")."""
        names = (name for name in sorted(self.parts) if name == table or name.startswith(f"{table}/"))
        return [file.key for name in names for file in self.parts[name]]


def folder_of(number: int) -> str:
    return f"{RUNS}/{number:06}"


def current(place: Place) -> Run | None:
    """Return the run in force; None before the first.

    Raises:
        BadInput: it is of a newer version of this program, or damaged.
    """
    return _read(place)[0]


def begin(place: Place) -> int:
    """Return the number of a new run, which nobody else has."""
    numbers = [run.number] if (run := current(place)) else []
    number = max([*numbers, *_begun(place)], default=0) + 1
    while not place.create(f"{folder_of(number)}/begun.json", {"began": clock.now()}):
        number += 1
    return number


def complete(place: Place, run: Run) -> bool:
    """Put a run in force, unless a later one is; tell whether it is."""
    with place.alone(CURRENT):
        while True:
            last, version = _read(place)
            if last and last.number >= run.number:
                return last.number == run.number
            if place.replace(CURRENT, {"format": FORMAT, **asdict(run)}, version):
                return True


def sweep(place: Place) -> None:
    """Remove the runs before the one in force that began more than a week ago."""
    if run := current(place):
        for number in _begun(place):
            said, _ = place.read(f"{folder_of(number)}/begun.json")
            if number < run.number and clock.now() - (said or {}).get("began", 0.0) > KEPT_SECONDS:
                place.remove(folder_of(number))


def _begun(place: Place) -> list[int]:
    found = (re.search(r"/(\d+)/begun\.json$", file.key) for file in place.files(RUNS))
    return [int(match[1]) for match in found if match]


def _read(place: Place) -> tuple[Run | None, str | None]:
    try:
        said, version = place.read(CURRENT)
        if said is None:
            return None, None
        if said.pop("format") > FORMAT:
            raise BadInput(f"{place.url}/{CURRENT} is of a newer version of this program: update it")
        parts = {name: [File(*file) for file in files] for name, files in said.pop("parts").items()}
        return Run(parts=parts, **said), version
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise BadInput(
            f"{place.url}/{CURRENT} is damaged ({error}): `webcrawler graph run` after it is deleted"
        ) from None
