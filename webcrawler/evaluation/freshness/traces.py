"""When pages of real sites changed: recorded traces, as lines of `page ⇥ group ⇥ gone ⇥ days,…`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import NamedTuple

import numpy as np

from webcrawler.errors import BadInput
from webcrawler.evaluation.files import unpacked
from webcrawler.evaluation.freshness.world import Floats, Ints, World, pareto

EPOCH = date(1970, 1, 1)


class Page(NamedTuple):
    group: str
    gone: float  # the day; infinity if it is there
    days: Floats  # of its versions, ascending, since 1970


def read(files: Sequence[Path]) -> list[Page]:
    """All pages of these files, packed or not. Raises BadInput: a line that is not of the format."""
    return [page for file in files for page in _read(file)]


def _read(file: Path) -> list[Page]:
    pages = []
    for number, line in enumerate(unpacked(file).decode("utf-8", "replace").splitlines(), 1):
        try:
            _, group, gone, days = line.split("\t")
            versions = np.array([float(day) for day in days.split(",")])
            pages.append(Page(f"{file.name} {group}", float(gone or "inf"), np.sort(versions)))
        except ValueError:
            raise BadInput(
                f"{file}, line {number}: page, group, day it vanished and days of its versions "
                "(as 15000.5,15010) should stand here, with tabs between"
            ) from None
    return pages


def window(pages: Sequence[Page], years: tuple[int, int], name: str) -> World:
    """What happened from the start of one year to that of another, to the pages that were there all the time.

    Their rates are those of the window itself, which only an oracle knows; groups stand for servers.

    Raises:
        BadInput: no page was there.
    """
    start, end = ((date(year, 1, 1) - EPOCH).days for year in years)
    there = [page for page in pages if page.days[0] <= start and page.gone >= end]
    if not there:
        raise BadInput(f"{name}: no page was there all that time; choose other years by --window")
    _, servers = np.unique([page.group for page in there], return_inverse=True)
    changes = [page.days[(page.days > start) & (page.days < end)] - start for page in there]
    counts = np.array([len(times) for times in changes])
    times, changed = np.concatenate(changes), np.repeat(np.arange(len(there)), counts)
    order = np.argsort(times, kind="stable")
    none: Ints = np.zeros(servers.max() + 1, np.int64)
    return World(
        name=name,
        seed=0,
        days=end - start,
        servers=servers,
        weights=np.ones(len(there)),
        rates=counts / (end - start),
        times=times[order],
        pages=changed[order],
        sitemaps=none,
        noisy=none > 0,
    )


def weighed(world: World, seed: int) -> World:
    """The world with importance drawn by chance: traces have none."""
    weights = pareto(np.random.default_rng(seed), len(world.servers))
    return replace(world, seed=seed, weights=weights)
