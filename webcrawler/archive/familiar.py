"""Does a page say nothing that its site has not said before, though the catalog cannot tell?

A text of fewer than 50 words has no fingerprint, and a server that answers any path may say more than three
bits of something else each time. Both are told here, from what one process has seen, to order URLs by: no
document is lost or marked.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable

from webcrawler.records import Entry
from webcrawler.text import distance
from webcrawler.urls import registrable_domain, split

DOMAINS = 10_000  # remembered, about 100 kB each at most
WORDS = 2_000  # of one domain
PATIENCE = 10  # short pages of a domain without anything new, more than with, from which on they are repeats
NEW_IN = 8  # of so many words and links of a short page, one may be new in a repeat: the name of a month
LIKE_MISSING = 8  # bits by which a page differs at most from what its server says of a path that cannot exist
ASKED_AFTER = 10  # repeats of a server more than new pages
SERVERS = 100_000

_WORD = re.compile(r"[^\W\d_]+")
_SEGMENT = re.compile("[^/]+")


class Familiar:
    """What short pages of each domain said, and what servers say of impossible paths; for one thread."""

    def __init__(self) -> None:
        self._said: OrderedDict[str, set[str]] = OrderedDict()
        self._stale: Counter[str] = Counter()  # short pages without anything new, less those with, by domain
        self._missing: dict[str, int] = {}  # fingerprints, by server
        self._repeats: Counter[str] = Counter()  # less new pages, by server

    def repeats(self, entry: Entry) -> bool:
        """Does a page, or a probe, say nothing new? Remembers what it says.

        A short one says nothing new if at most one in eight of its words and of the shapes of its links was
        not on earlier short pages of its domain; digits and words of its own URL do not count. As some honest
        sites say next to nothing, the first such ones of a domain pass. Any other page is compared with what
        its server says of a path that cannot exist.
        """
        server = entry.fetch.lease.server
        if entry.simhash:
            if entry.fetch.reason == "probe" and len(self._missing) < SERVERS:
                self._missing[server] = entry.simhash
            missing = self._missing.get(server)
            return missing is not None and distance(missing, entry.simhash) <= LIKE_MISSING
        domain = registrable_domain(server)
        known, said = self._of(domain), _said(entry)
        is_new = not known or len(said - known) > len(said) // NEW_IN
        if len(known) < WORDS:
            known |= said
        self._stale[domain] = max(0, min(self._stale[domain] + (-1 if is_new else 1), 2 * PATIENCE))
        return not is_new and self._stale[domain] > PATIENCE

    def suspects(self, pages: Iterable[tuple[str, bool]]) -> list[str]:
        """Those servers that are to be asked for a path that cannot exist, each once.

        Args:
            pages: their servers, and whether they are repeats.
        """
        if len(self._repeats) > SERVERS:
            self._repeats.clear()
        found = []
        for server, repeats in pages:
            number = self._repeats[server]
            if number < ASKED_AFTER and (repeats or number):
                self._repeats[server] += 1 if repeats else -1
                if number + repeats == ASKED_AFTER:
                    found.append(server)
        return found

    def _of(self, domain: str) -> set[str]:
        known = self._said.setdefault(domain, set())
        self._said.move_to_end(domain)
        if len(self._said) > DOMAINS:
            del self._stale[self._said.popitem(last=False)[0]]
        return known


def _said(entry: Entry) -> set[str]:
    text, url = entry.text, entry.fetch.lease.url
    words = set(_WORD.findall(f"{text.title} {text.body}".lower())) if text else set()
    paths = (split(link.url)[1].partition("?")[0] for link in entry.links)
    return words.difference(_WORD.findall(url.lower())) | {_SEGMENT.sub(_kind, path) for path in paths}


def _kind(segment: re.Match[str]) -> str:
    return "0" if any(letter.isdigit() for letter in segment[0]) else "a"
