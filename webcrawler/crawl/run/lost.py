"""What a run shares with others of its data folder: how it was begun, whether Redis lost it, its checks."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from sqlite3 import DatabaseError
from typing import Any

from scrapy.settings import BaseSettings

from webcrawler import clock
from webcrawler.archive import rebuild
from webcrawler.archive.catalog import Catalog
from webcrawler.connection import Connection
from webcrawler.crawl.membership import read_budgets, read_politeness, release_dead_workers
from webcrawler.crawl.run.rules import LinkRules, keep_scope
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, inspect, maintenance, marks
from webcrawler.job import Job, sitemap_link
from webcrawler.orderings import guarded
from webcrawler.scope import BEGUN, Begun, read, read_begun

OLD_CATALOG = (
    "the catalog of this data folder lacks pages that its frontier has decided, as in a copy made amid a "
    "crawl: `webcrawler rebuild`, then `webcrawler frontier rebuild` have a crawl fetch what is missing"
)
LOST = (
    "Redis has lost the frontier of this data folder: `webcrawler frontier rebuild` fills it again from the "
    "catalog; to start over instead, run `webcrawler frontier clear`"
)


def has_begun(folder: Path) -> bool:
    """Is there a frontier of this data folder, or should there be one?"""
    return read_begun(folder) is not None


def keep_begun(folders: Sequence[Path], into: Path) -> None:
    """Keep for another data folder how the newest crawls of these were begun, where all say the same."""
    first, *others = ((read_begun(folder) or Begun(""))._replace(folder="") for folder in folders)
    if first.mode and all(other == first for other in others):
        first.keep(into)


def forget(folder: Path) -> None:
    """The frontier is cleared on purpose: the next crawl begins anew."""
    (folder / BEGUN).unlink(missing_ok=True)


def name_of(folder: Path, catalog: Catalog) -> str:
    """The name by which a frontier knows a data folder, also after its catalog was replaced."""
    begun = read_begun(folder)
    return (begun and begun.folder) or catalog.identity


def begin(folder: Path, mode: str, catalog: Catalog) -> str:
    """Keeps how the newest crawl of a data folder was begun, and returns the folder's name."""
    name = name_of(folder, catalog)
    Begun(mode, name).keep(folder)
    return name


def refuse_if_lost(folder: Path, frontier: Frontier) -> None:
    """Raises BadInput: there was a frontier, and now there is none; or it decided what the catalog lacks.

    A frontier may be older than the catalog.
    """
    begun = read_begun(folder)
    if not begun:
        return
    decided = marks.marks(frontier, begun.folder)
    if decided and not _has(folder / "catalog.sqlite", decided):
        raise BadInput(OLD_CATALOG)
    if not frontier.stored_mode():
        raise BadInput(LOST)


def _has(path: Path, decided: Sequence[tuple[int, int]]) -> bool:
    """Does a catalog have these fetches? False where it is missing or damaged."""
    try:
        with closing(Catalog(path)) as catalog:
            return not catalog.fetches.lacks(decided)
    except (BadInput, DatabaseError) as error:
        if type(error.__cause__ or error) is DatabaseError:  # else it is locked, say, which passes
            return False
        raise


def fill_again(
    settings: BaseSettings,
    connection: Connection,
    job: Job,
    progress: Callable[[str, int, int], None],
    anew: bool = False,
    alone: bool = False,
) -> dict[str, Any]:
    """Rebuilds the frontier of index crawls from the catalog; returns what was done, for people and programs.

    Args:
        job: its mode, that of the newest crawl where it has none; and its domains, kept as those of a crawl.
        anew: the frontier is emptied first, unless another data folder has just filled it again.
        alone: no other data folder shares it.
    Raises:
        BadInput: there is no catalog, a crawl is alive, or the mode cannot be used.
    """
    folder = Path(settings["CRAWL_DIR"])
    begun = read_begun(folder) or Begun("")
    mode = maintenance.mode_of(connection.client, job.mode, otherwise=begun.mode)
    job = replace(job, mode=mode)
    keep_scope(folder, job)
    rules, polite = LinkRules.from_settings(settings, job), read_politeness(settings)
    budgets = replace(read_budgets(settings), share=0)  # of the fetches, none of which are made here
    partitions = settings.getint("FRONTIER_PARTITIONS")
    with (
        closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog,
        closing(connection.new_client()) as client,
    ):
        frontier = Frontier(client, guarded(mode), job.frontier, polite, "", budgets, partitions)
        sitemaps = {one.number: sitemap_link(one.url, one.of) for one in catalog.signs.sitemaps()}
        name, known = name_of(folder, catalog), marks.folders(frontier)
        alone |= connection.embedded
        if alone:
            client.unlink(frontier.rebuilding)
        others = set[str]() if alone else known - {name}
        is_known = alone or name in known or not known
        filling = rules.admits, polite.tries, sitemaps, progress, name, others if anew and is_known else None
        added, blocked = rebuild(frontier, mode, catalog, *filling)
        begin(folder, mode, catalog)
        done = {
            "mode": mode,
            "domains": list(read(folder).domains),
            "added": added,
            "blocked_servers": blocked,
        }
        return {**done, "frontier": inspect.stats(frontier)}


logger = logging.getLogger(__name__)
ENDLESS = ("yes", "only")


def refuse_other_checks(connection: Connection, frontier: Frontier, refresh: str) -> None:
    """Raises BadInput: crawls are at work whose checks are made in another way; a frontier has one way."""
    now = frontier.refresh.partition(" ")[0]
    if refresh == "no" or now in ("", refresh):
        return
    release_dead_workers(connection, frontier.name)
    frontier.expire()
    if frontier.workers():
        raise BadInput(
            f"other crawls of this frontier are at work, with refresh={now}: "
            f"end them first, or say refresh={now} here, too"
        )


def begin_checks(frontier: Frontier, refresh: str, left: Callable[[float], int]) -> None:
    """Tell the refresher what to do. A pass over all documents that was interrupted is gone on with.

    Args:
        left: how many documents are to be checked that have not been fetched since a time.
    """
    now = frontier.refresh
    if refresh == "once" and now.startswith("once "):
        since = float(now.partition(" ")[2])
        begun = datetime.fromtimestamp(since, UTC)
        logger.warning(
            "going on with the checks of %s UTC: %s left", f"{begun:%d %b %H:%M}", f"{left(since):,}"
        )
    elif refresh == "once":
        frontier.refresh = f"once {clock.now()}"
    elif refresh in ENDLESS:
        frontier.refresh = refresh


def end_checks(frontier: Frontier) -> None:
    """After the last of the crawls that make checks without end, none are made."""
    if not frontier.workers():
        frontier.refresh = ""
