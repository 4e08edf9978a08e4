"""When Redis has lost the frontier of a data folder: how that is noticed, and how it is filled again."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from scrapy.settings import BaseSettings

from webcrawler.archive import rebuild
from webcrawler.archive.catalog import Catalog
from webcrawler.connection import Connection
from webcrawler.crawl.membership import read_budgets, read_politeness
from webcrawler.crawl.run.rules import LinkRules
from webcrawler.durable import replaced
from webcrawler.errors import BadInput
from webcrawler.frontier import Frontier, inspect, maintenance
from webcrawler.job import Job, sitemap_link
from webcrawler.orderings import guarded

FILE = "frontier.json"
LOST = (
    "Redis has lost the frontier of this data folder: `scrapy frontier rebuild` fills it again from the "
    "catalog; to start over instead, run `scrapy frontier clear`"
)


class Begun(NamedTuple):
    """How the newest crawl of a data folder was begun; kept there until its frontier is cleared."""

    mode: str
    domains: tuple[str, ...] = ()

    def keep(self, folder: Path) -> None:
        if read(folder) != self:
            with suppress(FileNotFoundError), replaced(folder / FILE) as file:  # another crawl was faster
                file.write(json.dumps(self._asdict()).encode())


def read(folder: Path) -> Begun | None:
    """None where no crawl has begun since the frontier was cleared.

    Raises:
        BadInput: the file is damaged.
    """
    try:
        found = json.loads((folder / FILE).read_text("utf-8"))
        return Begun(str(found["mode"]), tuple(map(str, found["domains"])))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, LookupError):
        raise BadInput(f"{folder / FILE} is damaged: delete it") from None


def has_begun(folder: Path) -> bool:
    """Is there a frontier of this data folder, or should there be one?"""
    return read(folder) is not None


def keep_begun(folders: Sequence[Path], into: Path) -> None:
    """Keep for another data folder how the newest crawls of these were begun, where all say the same."""
    first, *others = (read(folder) for folder in folders)
    if first and all(other == first for other in others):
        first.keep(into)


def newest_job(folder: Path) -> Job:
    """The domains of the newest crawl, by which it judged links."""
    return Job(domains=(read(folder) or Begun("")).domains)


def forget(folder: Path) -> None:
    """The frontier is cleared on purpose."""
    (folder / FILE).unlink(missing_ok=True)


def refuse_if_lost(folder: Path, frontier: Frontier) -> None:
    """Raises BadInput: there was a frontier, and now there is none."""
    if not frontier.stored_mode() and read(folder):
        raise BadInput(LOST)


def fill_again(
    settings: BaseSettings,
    connection: Connection,
    job: Job,
    progress: Callable[[str, int, int], None],
) -> dict[str, Any]:
    """Rebuilds the frontier of index crawls from the catalog; returns what was done, for people and programs.

    Args:
        job: its mode and domains; those of the newest crawl where it has none.
    Raises:
        BadInput: there is no catalog, a crawl is alive, or the mode cannot be used.
    """
    folder = Path(settings["CRAWL_DIR"])
    begun = read(folder) or Begun("")
    mode = maintenance.mode_of(connection.client, job.mode, otherwise=begun.mode)
    job = replace(job, mode=mode, domains=job.domains or begun.domains)
    rules, polite = LinkRules.from_settings(settings, job), read_politeness(settings)
    budgets = replace(read_budgets(settings), share=0)  # of the fetches, none of which are made here
    partitions = settings.getint("FRONTIER_PARTITIONS")
    with (
        closing(Catalog(folder / "catalog.sqlite", readonly=True)) as catalog,
        closing(connection.new_client()) as client,
    ):
        frontier = Frontier(client, guarded(mode), job.frontier, polite, "", budgets, partitions)
        sitemaps = {one.number: sitemap_link(one.url, one.of) for one in catalog.signs.sitemaps()}
        added, blocked = rebuild(frontier, mode, catalog, rules.admits, polite.tries, sitemaps, progress)
        Begun(mode, job.domains).keep(folder)
        done = {"mode": mode, "domains": list(job.domains), "added": added, "blocked_servers": blocked}
        return {**done, "frontier": inspect.stats(frontier)}
