"""A web that lives: texts of docweb that change, vanish, move and appear by a plan of which all is known.

Times are days since the plan was made; it is crawled in nights, which are whole days, and what happens stands
between two of them. Each page says its number and its version in one word, such as `zq17v3`: so what a search
finds tells how old it is.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

from .files import File
from .server import HTML

EVER = 1e9
EVENT = 1.5  # when single pages vanish, move and appear
DAYS = 14
BYTES = (2_000, 40_000)  # of a file that is taken
ODD_NAME = re.compile(r"[^\w./-]")
HREF = re.compile(r"""\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))""", re.IGNORECASE)


class Kind(NamedTuple):
    """What a host is like."""

    validators: str  # etag, date, stuck (304 for ever), restless (ETag), now (Last-Modified), none
    sitemap: str = ""  # honest, stale, now
    noise: bool = False  # no two answers have the same bytes
    down: tuple[int, float, float] = (0, EVER, EVER)  # status of all its pages, from when, until when
    pages: int = 20  # its home page left out
    changing: float = 0.6  # share of the pages; the others never change
    interval: tuple[float, float] = (2.0, 30.0)  # days between two changes, on average: from, to


KINDS = {
    "docs.python.org": Kind("etag", "honest"),
    "docs.sqlalchemy.org": Kind("etag", down=(404, 2.5, 3.5)),
    "flask.palletsprojects.com": Kind("date", down=(404, 2.5, EVER)),
    "git-scm.com": Kind("stuck", pages=120, changing=1.0, interval=(3.0, 3.0)),
    "www.psycopg.org": Kind("date"),
    "www.sphinx-doc.org": Kind("restless", "stale"),
    "www.sqlite.org": Kind("none", down=(500, 3.5, 4.5)),
    "www.tornadoweb.org": Kind("now", "now", noise=True),
}
EVENTFUL = "docs.python.org"
ENDS = ("410", "404", "404, still linked", "301", "302", "soft 404")  # of one page each
BIRTHS = ("linked from home", "linked from a page", "in the sitemap")


@dataclass
class Page:
    """What one URL says, and when."""

    number: int
    host: str
    path: str
    html: str
    changes: list[float] = field(default_factory=list)  # ascending, all after day 0
    modified: float = -1.0  # before day 0
    links: list[tuple[str, float, float]] = field(default_factory=list)  # path, from when, until when
    fate: str = ""  # of ENDS or BIRTHS, on day EVENT

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.path}"

    @property
    def gone(self) -> float:
        """When nothing stands there any more; an outage and a mass 404 that passes do not count."""
        status, since, until = KINDS[self.host].down
        return EVENT if self.fate in ENDS else since if status == 404 and until == EVER else EVER

    def is_there(self, day: float) -> bool:
        return (EVENT if self.fate in BIRTHS else -EVER) <= day < self.gone

    def last_change(self, day: float) -> float:
        return max((change for change in self.changes if change <= day), default=self.modified)

    def words(self, day: float) -> list[str]:
        """Those of all its versions so far, the present one last."""
        return [
            f"zq{self.number}v{version + 1}" for version in range(1 + sum(c <= day for c in self.changes))
        ]

    def links_at(self, day: float) -> list[str]:
        return [path for path, since, until in self.links if since <= day < until]


def plan(folder: Path, seed: int) -> dict[str, Page]:
    """By URL; the same seed and docweb make the same plan."""
    pages: dict[str, Page] = {}
    for host in KINDS:
        chance = random.Random(f"{seed} {host}")
        pages |= {page.url: page for page in _host(folder / host, chance, len(pages))}
    return pages


def _host(folder: Path, chance: random.Random, first: int) -> list[Page]:
    files = sorted(path for path in folder.rglob(f"*{HTML[0]}") if _is_fit(path))
    kind = KINDS[folder.name]
    some = chance.sample(files, min(kind.pages, len(files)))
    chosen = {f"/{path.relative_to(folder)}": path for path in some}
    fates = dict(zip(chosen, ENDS + BIRTHS, strict=False)) if folder.name == EVENTFUL else {}
    home = Page(first, folder.name, "/", f"<title>{folder.name}</title><body>")
    pages = [home]
    for path, file in chosen.items():
        html = pruned(file, f"http://{folder.name}{path}", chosen.keys() - fates.keys())
        page = Page(first + len(pages), folder.name, path, html, fate=fates.get(path, ""))
        page.modified = -chance.uniform(1, 100)
        page.changes = _changes(chance, kind) if not page.fate else []
        pages.append(page)
    _link(home, pages)
    return pages


def _link(home: Page, pages: list[Page]) -> None:
    """From home to all pages, as their fates have it; to one from a page that changes."""
    for page in pages[1:]:
        if page.fate == "linked from a page":
            pages[-1].links, pages[-1].changes = [(page.path, EVENT, EVER)], [EVENT]
        elif page.fate != "in the sitemap":
            until = EVENT if page.fate in ("410", "404") else EVER
            home.links.append((page.path, EVENT if page.fate in BIRTHS else -EVER, until))
    home.changes = [EVENT] if any(page.fate for page in pages) else []


def _is_fit(path: Path) -> bool:
    is_plain = path.name != "index.html" and not ODD_NAME.search(path.name) and path.is_file()
    return is_plain and BYTES[0] <= path.stat().st_size <= BYTES[1]


def _changes(chance: random.Random, kind: Kind) -> list[float]:
    """A Poisson process, unless the page is static."""
    low, high = kind.interval
    rate = 1 / (low * (high / low) ** chance.random())
    days = [chance.expovariate(rate)] if chance.random() < kind.changing else []
    while days and days[-1] < DAYS:
        days.append(days[-1] + chance.expovariate(rate))
    return days


def pruned(file: Path, url: str, kept: set[str]) -> str:
    """The file's HTML with links to these paths of its host alone."""

    def keep(link: re.Match[str]) -> str:
        target = urljoin(url, link[1] or link[2] or link[3] or "").partition("#")[0]
        return link[0] if target != url and target in wanted else ""

    wanted = {urljoin(url, path) for path in kept}
    return HREF.sub(keep, File(file.read_bytes(), url).text)
