"""A search of the web as the page shows it: what strangers wrote is text, or a checked link."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from webcrawler.realtime import Found, Journal
from webcrawler.search import Snippets
from webcrawler.text.query import parse
from webcrawler.web.live.started import is_over
from webcrawler.web.readable import link, readable

MOST = 100  # of the list
ENDS = {
    "enough": "enough similar pages were found",
    "max_pages": "the limit of pages was reached",
    "max_time": "time is up",
    "nothing_left": "nothing promising is left to follow",
    "stopped": "it was stopped",
    "failed": "it broke off",
}


@dataclass(frozen=True, slots=True)
class ShownFound:
    """One of the list."""

    found: Found
    link: str  # empty where the URL is none that a browser should follow
    address: str
    title: str
    snippet: list[tuple[str, bool]]  # pieces, and whether each is a word of the query
    cached_url: str
    is_new: bool
    via_link: str
    via_title: str
    via_anchor: str

    @property
    def key(self) -> str:
        """Of its element: the same for as long as the page is on the list."""
        return f"found-{self.found['number']}"


def shown(journal: Journal) -> list[ShownFound]:
    query = journal["query"]
    snippets = Snippets([asked.term for asked in parse(query).asked] if query.strip() else [])
    return [_shown(one, query, snippets) for one in journal["hits"][:MOST]]


def state(journal: Journal, is_stopping: bool = False) -> str:
    """One sentence."""
    match journal["state"]:
        case "finished":
            return f"Ended: {ENDS.get(journal['reason'], 'nobody knows why')}."
        case _ if is_stopping:
            return "Stopping."
        case "starting":
            return "Starting."
    return "Searching the web."


def values(journal: Journal, is_stopping: bool) -> dict[str, object]:
    """Of the template `_live.html`."""
    said = state(journal, is_stopping)
    return {"now": journal, "shown": shown(journal), "state": said, "over": is_over(journal)}


def version(journal: Journal) -> str:
    """Another one where anything has changed that is shown."""
    return f"{journal['state']}-{journal['updated']:.3f}-{journal['seconds']:.0f}"


def results_url(journal: Journal) -> str:
    """The ordinary results; empty where no words were asked for."""
    query = journal["query"].strip()
    return f"/search?{urlencode({'q': query})}" if query else ""


def _shown(one: Found, query: str, snippets: Snippets) -> ShownFound:
    address, via = readable(one["url"]), one["via"]
    return ShownFound(
        found=one,
        link=link(one["url"]),
        address=address,
        title=one["title"].strip() or address,
        snippet=[piece for piece in snippets.mark(one["snippet"]) if piece[0]],
        cached_url=f"/cached?{urlencode({'number': one['number'], 'q': query})}",
        is_new=one["source"] == "web",
        via_link=link(via["url"]) if via else "",
        via_title=(via["title"].strip() or readable(via["url"])) if via else "",
        via_anchor=via["anchor"].strip() if via else "",
    )
