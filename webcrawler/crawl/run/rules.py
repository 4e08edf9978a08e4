"""Which links does this crawl follow?"""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Self

from scrapy.settings import BaseSettings

from webcrawler import urls
from webcrawler.errors import BadInput
from webcrawler.job import Job, is_sitemap, read_patterns, seed_link
from webcrawler.parsing import joined, readable_kinds, unread_endings
from webcrawler.records import Lease, Link, Page
from webcrawler.scope import ALL, NAME, Patterns, Scope, Watched, change, read
from webcrawler.settings import words_of


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
