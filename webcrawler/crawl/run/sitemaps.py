"""Which sitemaps does this crawl read, and which URLs of them does it follow?

A sitemap is fetched as any other URL. What marks it, in its frontier and its lease, is
`webcrawler.job.sitemap_link`.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Self

from scrapy.settings import BaseSettings

from webcrawler import urls
from webcrawler.crawl.run.rules import LinkRules
from webcrawler.job import Job, sitemap_link
from webcrawler.records import Entry, Fetch, Lease, Link, Sitemap
from webcrawler.urls import UnfetchableUrl

SERVERS_MAX = 100_000  # whose sitemaps are counted; beyond it all begin anew


class Sitemaps:
    """Takes in what robots.txt files announce, and what sitemaps name.

    Args:
        follows_robots: are announced sitemaps read?
        most: sitemaps of one server, over this run.
    """

    def __init__(self, rules: LinkRules, follows_robots: bool, most: int) -> None:
        self._rules, self._follows_robots, self._most = rules, follows_robots, most
        # URL ids of sitemaps, by the server that announced them.
        self._taken: defaultdict[str, set[int]] = defaultdict(set)

    @classmethod
    def from_settings(cls, settings: BaseSettings, job: Job | None, rules: LinkRules) -> Self:
        """For the crawl of a job; other spiders and real-time searches read no sitemaps."""
        wanted = settings["SITEMAPS"] if job and not job.is_search else "off"
        follows_robots = wanted == "all" or (wanted == "bounded" and rules.is_bounded)
        return cls(rules, follows_robots, settings.getint("SITEMAPS_MAX"))

    def announced(self, server: str, names: Sequence[str]) -> list[Link]:
        """The sitemaps that the robots.txt of a server names, as far as they are read.

        They may stand on other servers, within the job's domains.
        """
        found: list[Link] = []
        for name in names[: self._most] if self._follows_robots else ():
            with suppress(UnfetchableUrl):
                link = self._judged(self._sitemap(urls.resolve(name, server + "/"), server))
                if not link.refused and self._take(server, link.id):
                    found.append(link)
        return found

    def entry(self, fetch: Fetch, found: Sitemap | None) -> Entry:
        """What the batch writes of a sitemap; without one, the answer was none. Takes up to a second."""
        if found is None:
            return Entry(replace(fetch, state="failed", reason="not-indexable"), archive=True)
        digest = hashlib.sha1(fetch.body, usedforsecurity=False).digest()
        links = self._sitemaps(fetch.lease, found) if found.is_index else self._pages(fetch.lease, found)
        return Entry(fetch, digest, links=links, refused=found.refused, archive=True)

    def moved(self, lease: Lease, target: Link) -> Link:
        """Where the redirect of a sitemap leads, to be read as one."""
        return self._judged(sitemap_link(target.spelling, announced_by(lease)))._replace(rel="redirect")

    def _sitemaps(self, lease: Lease, index: Sitemap) -> tuple[Link, ...]:
        """The sitemaps of an index, those first that changed last."""
        by = announced_by(lease)
        links = []
        for link in sorted(index.links, key=lambda link: -link.modified):
            child = self._judged(self._sitemap(link.spelling, by))
            if not (child.refused or self._take(by or lease.server, child.id)):
                child = child._replace(refused="too-many")
            links.append(child._replace(modified=link.modified))
        return tuple(links)

    def _pages(self, lease: Lease, sitemap: Sitemap) -> tuple[Link, ...]:
        """Of the sitemap's own domain, and of that which announced it; of any where a person named it."""
        by = announced_by(lease)
        domains = {urls.registrable_domain(server) for server in (lease.server, by) if by}

        def judged(link: Link) -> Link:
            link = self._rules.mirrors.link(link, self._rules.protocols)
            if domains and urls.registrable_domain(urls.server(link.url)) not in domains:
                return link._replace(refused=link.refused or "foreign")
            return self._rules.apply(link)

        return tuple(map(judged, sitemap.links))

    def _sitemap(self, url: str, of: str) -> Link:
        return sitemap_link(self._rules.mirrors.original(url), of)

    def _judged(self, sitemap: Link) -> Link:
        """With a reason not to fetch it; as it is no document, only domains and protocols hold for it."""
        if sitemap.refused:
            return sitemap
        if sitemap.url.partition(":")[0] not in self._rules.protocols:
            return sitemap._replace(refused="scheme")
        is_admitted = self._rules.job.admits(urls.server(sitemap.url))
        is_foreign = not is_admitted or self._rules.bounds().refusal(sitemap.url) == "domain"
        return sitemap._replace(refused="domain") if is_foreign else sitemap

    def _take(self, server: str, id: int) -> bool:
        """Count a sitemap, once; False where the server has too many."""
        if len(self._taken) > SERVERS_MAX:
            self._taken.clear()
        taken = self._taken[server]
        if id not in taken and len(taken) >= self._most:
            return False
        taken.add(id)
        return True


def announced_by(lease: Lease) -> str:
    """The server whose robots.txt named a sitemap, or the index that named it; "" where a person did."""
    return str(json.loads(lease.request).get("of", ""))
