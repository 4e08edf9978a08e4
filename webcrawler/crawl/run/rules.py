"""Which links does this crawl follow?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from scrapy.settings import BaseSettings

from webcrawler import urls
from webcrawler.job import Job
from webcrawler.records import Link
from webcrawler.settings import words_of


@dataclass(frozen=True, slots=True)
class LinkRules:
    """The bounds of a job, and those of the settings PROTOCOLS and TRAP_PATHS."""

    job: Job
    protocols: frozenset[str]
    trap_paths: tuple[str, ...]

    @classmethod
    def from_settings(cls, settings: BaseSettings, job: Job) -> Self:
        protocols, trap_paths = words_of(settings["PROTOCOLS"]), words_of(settings["TRAP_PATHS"])
        return cls(job, frozenset(protocols), tuple(trap_paths))

    def apply(self, link: Link) -> Link:
        """The link, with a reason in `refused` when it leads out of the job's domains or to a trap path."""
        if link.refused:
            return link
        if not self.job.admits(urls.server(link.url)):
            return link._replace(refused="domain")
        return link._replace(refused="location") if urls.is_at(link.url, self.trap_paths) else link

    def apply_to_all(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        return tuple(map(self.apply, links)) if self.job.domains or self.trap_paths else links

    def admits(self, link: Link) -> bool:
        """May this link, of whatever origin, be followed?"""
        return link.url.partition(":")[0] in self.protocols and not self.apply(link).refused
