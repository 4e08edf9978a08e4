"""Webs that change: pages, their servers, and when each page changed; made up, or recorded.

Recorded traces are lines of `page ⇥ group ⇥ gone ⇥ days,…`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from webcrawler.errors import BadInput
from webcrawler.evaluation.recorded import unpacked
from webcrawler.refresh import importance

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

NO_SITEMAP, HONEST, ALWAYS_NOW, NEVER_UPDATED = range(4)
PAGERANK = 1.1  # exponent of the Pareto distribution that ranks of the web's pages follow
CORRELATION = 0.3  # of importance with the rate of changes
SPREADS = {"server": 1.2, "section": 0.8, "page": 0.8}  # standard deviations of the logarithm of rates
SECTIONS = 20  # of a server, at most
NAME = "synthetic"


@dataclass(frozen=True)
class World:
    """Pages, and all that happens to them.

    Attributes:
        servers, weights, rates: by page; rates are the true ones, changes a day.
        times, pages: when something changed, ascending, in days from 0 on, and which page.
        sitemaps: by server, what its `lastmod` is worth.
        noisy: by server, whether a page looks changed at each fetch.
        cap: the share of the fetches that one server can take; 0: any.
    """

    name: str
    seed: int
    days: float
    servers: Ints
    weights: Floats
    rates: Floats
    times: Floats
    pages: Ints
    sitemaps: Ints
    noisy: Bools
    cap: float = 0.0


OPTIONS = {  # of a synthetic world: default, least, most
    "pages": (20_000, 1, 10**7),
    "servers": (300, 1, 10**6),
    "days": (180, 3, 10**5),
    "seed": (0, 0, 2**31),  # 0: those of --seeds
    "every": (60, 0.01, 10**6),  # days between two changes of the middle page, of those that change
    "static": (0.25, 0, 1),  # share of the pages that never change
    "flat": (0, 0, 1),  # 1: all pages are equally important
    "honest": (0, 0, 1),  # shares of the servers
    "now": (0, 0, 1),
    "never": (0, 0, 1),
    "cosmetic": (0, 0, 1),
    "bytes": (0, 0, 1),  # 1: cosmetic changes count as changes, as for a digest of bytes
    "biggest": (0, 0, 1),  # share of the pages that the first server has
    "cap": (0, 0, 1),
}


def options(source: str) -> dict[str, float]:
    """What `synthetic?pages=20000&seed=7` asks for. Raises BadInput: an unknown option, or a wrong value."""
    given = parse_qsl(source.partition("?")[2], keep_blank_values=True)
    values: dict[str, float] = {name: default for name, (default, _, _) in OPTIONS.items()}
    for name, text in given:
        if name not in OPTIONS:
            raise BadInput(f"{NAME}: no option {name[:60]!r}; there are {', '.join(OPTIONS)}")
        _, least, most = OPTIONS[name]
        try:
            values[name] = float(text)
        except ValueError:
            values[name] = np.nan
        if not least <= values[name] <= most:
            raise BadInput(f"{NAME}: {name} must be from {least:,} to {most:,}, not {text[:60]!r}")
    if values["honest"] + values["now"] + values["never"] > 1:
        raise BadInput(f"{NAME}: honest, now and never are shares of the servers, at most 1 together")
    return values


def synthetic(source: str, seed: int) -> World:
    """Servers of Pareto size with sections; a page's log-rate is the sum of server, section and page.

    Importance has a Pareto distribution as PageRank has; pages that change often have a little more of it.

    Raises:
        BadInput: as `options`.
    """
    asked = options(source)
    random = np.random.default_rng(seed)
    pages = int(asked["pages"])
    servers = _servers(random, pages, int(asked["servers"]), asked["biggest"])
    number = int(servers[-1]) + 1
    logs = _log_rates(random, servers) - np.log(asked["every"])
    weights = np.ones(pages) if asked["flat"] else _importance(random, logs)
    rates = np.where(random.random(pages) < asked["static"], 0, np.exp(logs))
    changed = np.repeat(np.arange(pages), random.poisson(rates * asked["days"]))
    times = random.random(len(changed)) * asked["days"]
    order = np.argsort(times)
    noisy = random.random(number) < asked["cosmetic"]
    random.random(number)  # once who dates its pages: the worlds stay those of the figures
    kinds = [asked["honest"], asked["now"], asked["never"]]
    return World(
        name=source,
        seed=seed,
        days=asked["days"],
        servers=servers,
        weights=weights,
        rates=rates,
        times=times[order],
        pages=changed[order],
        sitemaps=random.choice(4, number, p=[max(0.0, 1 - sum(kinds)), *kinds]),
        noisy=noisy & bool(asked["bytes"]),
        cap=asked["cap"],
    )


def pareto(random: np.random.Generator, pages: int) -> Floats:
    """Importance as the product has it, drawn by chance: cut to 0.1 … 100 times the mean."""
    return _cut((1 - random.random(pages)) ** (-1 / PAGERANK))


def _cut(ranks: Floats) -> Floats:
    return importance(ranks).astype(np.float64)


def _servers(random: np.random.Generator, pages: int, number: int, biggest: float) -> Ints:
    sizes = random.pareto(1.0, number) + 1
    if biggest:
        sizes[0] = sizes[1:].sum() * biggest / max(1 - biggest, 1e-9)
    drawn = np.sort(random.choice(number, pages, p=sizes / sizes.sum()))
    return np.unique(drawn, return_inverse=True)[1]  # of those that have pages


def _log_rates(random: np.random.Generator, servers: Ints) -> Floats:
    section = np.minimum(random.pareto(1.0, len(servers)) * 2, SECTIONS - 1).astype(np.int64)
    sections = servers * SECTIONS + section
    groups: dict[str, Any] = {"server": servers, "section": sections, "page": np.arange(len(servers))}
    return sum(
        (random.normal(0, spread, groups[name].max() + 1)[groups[name]] for name, spread in SPREADS.items()),
        np.zeros(len(servers)),
    )


def _importance(random: np.random.Generator, logs: Floats) -> Floats:
    rates = (logs - logs.mean()) / max(logs.std(), 1e-9)
    mixed = CORRELATION * rates + (1 - CORRELATION**2) ** 0.5 * random.normal(size=len(logs))
    return _cut(np.maximum(1 - ndtr(mixed), 1e-12) ** (-1 / PAGERANK))


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


YEARS = re.compile(r"(\d{4})-(\d{4})")


def worlds(sources: Sequence[str], seeds: Sequence[int], years: str) -> list[World]:
    """A world for each seed; where a synthetic one names its own, that alone.

    Args:
        sources: `synthetic?…` alone, or files of traces, which become one world.
        years: of traces, as 2012-2015.
    Raises:
        BadInput: anything that cannot be read.
    """
    if [source for source in sources if source.partition("?")[0] == NAME]:
        if len(sources) > 1:
            raise BadInput(f"{NAME} stands alone: name one synthetic world, or files of traces")
        own = int(options(sources[0])["seed"])
        return [synthetic(sources[0], seed) for seed in ([own] if own else seeds)]
    found = YEARS.fullmatch(years)
    first, last = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1970 <= first < last:
        raise BadInput(
            f"--window={years[:60]}: write two years, as 2012-2015; it ends where the second begins"
        )
    pages = read([Path(source) for source in sources])
    world = window(pages, (first, last), " ".join([*(Path(source).name for source in sources), years]))
    # traces have no importance: it is drawn by chance
    return [
        replace(world, seed=seed, weights=pareto(np.random.default_rng(seed), len(world.servers)))
        for seed in seeds
    ]
