"""Which links does this crawl follow, which sitemaps does it read, and which of their URLs?

A sitemap is fetched as any other URL. What marks it, in its frontier and its lease, is
`webcrawler.job.sitemap_link`.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Self

from scrapy.settings import BaseSettings

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.job import Job, is_sitemap, read_patterns, seed_link, sitemap_link
from webcrawler.parsing import joined, readable_kinds, unread_endings
from webcrawler.records import Entry, Fetch, Lease, Link, Page, Sitemap
from webcrawler.scope import ALL, NAME, Patterns, Scope, Watched, change, read
from webcrawler.settings import words_of
from webcrawler.urls import UnfetchableUrl


def keep_scope(folder: Path, job: Job) -> str:
    """Keep the bounds that a crawl names with its data folder; they hold for later crawls, which name none.

    Returns:
        For people, one line that says what the bounds are, "" where there are none.
    Raises:
        BadInput: a seed is outside.
    """
    known = scope = read(folder)
    if job.include or job.exclude:
        scope = replace(scope, include=() if ALL in job.include else job.include, exclude=job.exclude)
    if job.domains and not job.is_search:
        scope = replace(scope, domains=() if ALL in job.domains else job.domains)
    for seed in () if job.is_search else map(seed_link, job.seeds):
        if (refusal := scope.refusal(seed.url)) in ("domain", "scope"):
            name = {"domain": "domains", "scope": "include"}[refusal]
            raise BadInput(f"the seed {seed.url} is outside the scope ({scope.told}): add it to {name}")
    if scope == known:
        return f"within {scope.told}, as before" if scope.told and not job.is_search else ""
    bounds = {"domains": scope.domains, "include": scope.include, "exclude": scope.exclude}
    change(folder, lambda now: replace(now, **bounds))
    before = f"it was: {known.told}" if known.told else f"kept in {NAME}, it holds for later crawls too"
    return f"the scope of {folder} is now: {scope.told or 'all URLs'}; {before}"


@dataclass(frozen=True, slots=True)
class LinkRules:
    """The bounds of a job, of the data folder's scope, and of the settings PROTOCOLS, TRAP_PATHS, MIRRORS,
    DOCUMENT_TYPES and FORMS.

    What is removed while the crawl goes on is refused from then on.
    """

    job: Job
    scope: Watched
    protocols: frozenset[str]
    trap_paths: tuple[str, ...]
    mirrors: urls.Mirrors
    kinds: frozenset[str]  # of documents that are read
    unread: frozenset[str]  # endings of those that are not
    forms: Patterns  # of pages whose search forms are filled in, and of what these ask for

    @classmethod
    def from_settings(cls, settings: BaseSettings, job: Job) -> Self:
        scope = Watched(Path(settings["CRAWL_DIR"]))
        protocols, trap_paths = words_of(settings["PROTOCOLS"]), words_of(settings["TRAP_PATHS"])
        mirrors = urls.Mirrors.read(settings["MIRRORS"])
        kinds = readable_kinds(words_of(settings["DOCUMENT_TYPES"]))
        unread = unread_endings(kinds)
        forms = Patterns(() if job.is_search else read_patterns(settings["FORMS"]))
        return cls(job, scope, frozenset(protocols), tuple(trap_paths), mirrors, kinds, unread, forms)

    def bounds(self) -> Scope:
        """The scope of the data folder; searches of the web have domains of their own."""
        scope = self.scope.now()
        return replace(scope, domains=()) if self.job.is_search and scope.domains else scope

    def apply(self, link: Link) -> Link:
        """The link, with a reason in `refused` when it leads out of these bounds.

        One to a mirror becomes one to its original.
        """
        return self._apply(self.mirrors.link(link, self.protocols), self.bounds())

    def apply_redirect(self, lease: Lease, link: Link) -> Link:
        """The same for where a page redirects to. From an original to its mirror, the mirror has the page."""
        if urls.is_probe(lease.url):
            return link._replace(refused="probe")
        found = self.apply(link)
        is_loop = found.id == lease.id != link.id
        return self._apply(link, self.bounds()) if is_loop else found

    def apply_to_all(self, links: tuple[Link, ...]) -> tuple[Link, ...]:
        """The same for the links of a page, of which there is still one to each target."""
        scope = self.bounds()
        if self.mirrors.table:
            links = joined(self.mirrors.link(link, self.protocols) for link in links)
        if not (self.job.domains or self.trap_paths or self.unread or any(astuple(scope))):
            return links
        return tuple(self._apply(link, scope) for link in links)

    def canonical_id(self, page: Page) -> int:
        """Id of the URL that a page says is its own, or of that one's original; 0: it says nothing."""
        return urls.url_id(self.mirrors.original(page.canonical)) if page.canonical else 0

    def _apply(self, link: Link, scope: Scope) -> Link:
        if link.refused:
            return link
        if link.rel not in urls.NAMED and urls.ending(link.url) in self.unread:
            return link._replace(refused="extension")
        if not self.job.admits(urls.server(link.url)):
            return link._replace(refused="domain")
        if refusal := scope.refusal(link.url):
            return link._replace(refused=refusal)
        return link._replace(refused="location") if urls.is_at(link.url, self.trap_paths) else link

    @property
    def is_bounded(self) -> bool:
        """Is it a crawl of certain sites, not of all that can be reached?"""
        scope = self.bounds()
        return bool(self.job.domains or scope.domains or scope.include)

    def refusal(self, lease: Lease) -> str:
        """Why this is not to be fetched any more; a sitemap is no document, so the scope is not for it."""
        refusal = self.bounds().bars(lease.url)
        return "" if refusal == "scope" and is_sitemap(lease) else refusal

    def admits(self, link: Link) -> bool:
        """May this link, of whatever origin, be followed?"""
        return link.url.partition(":")[0] in self.protocols and not self.apply(link).refused


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
