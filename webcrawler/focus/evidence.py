"""What speaks for a link, and what was learnt from those that were followed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.focus.candidates import TOKENS, Candidates
from webcrawler.focus.growing import Means, Numbers
from webcrawler.focus.matching import Matcher, url_words
from webcrawler.focus.servers import Servers
from webcrawler.frontier.orderings.base import Seen
from webcrawler.index.analysis import terms
from webcrawler.records import Link
from webcrawler.urls import split

ANCHOR_TOKENS, URL_TOKENS = 6, 6
TABLE_MAX = 200_000  # tokens, and directories, that means are kept for
HUB_WORDS = """index contents content toc sitemap documentation docs doc manual guide reference overview
    modules genindex all list topics glossary"""


class Evidence:
    """Candidates, and the means of page scores over what they have in common."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.candidates, self.servers = Candidates(), Servers()
        self.directories, self.tokens, self.pages = Means(), Means(), Means()
        self.directory_answers = Means()
        self._directory_numbers, self._token_numbers = Numbers(TABLE_MAX), Numbers(TABLE_MAX)
        self._hub_stems = frozenset(terms(HUB_WORDS))
        self.documents, self.rewards = 0, 0.0
        self._redirected: dict[int, int] = {}  # URL id of a redirect's target -> the directory that it came from

    def row_of(self, link: Link, source: int = 0) -> int:
        """The row of a URL, a new one if need be; `source` is the server of the page that links to it."""
        row = self.candidates.row(link.id)
        return self._new_row(link, source) if row is None else row

    def _new_row(self, link: Link, source: int) -> int:
        ours = self.candidates
        row = ours.add(link)
        name, path = split(link.url)
        file = path.partition("?")[0]
        server, is_new = self.servers.of(name, source)
        if is_new:
            self.servers.named_as(server, self._matcher.match(name.partition("//")[2]))
            if source and source != server:
                self.servers.reveals.sums.rows[source] += 1
        ours.server.rows[row] = server
        ours.directory.rows[row] = self._directory(name + file.rpartition("/")[0])
        ours.url.rows[row] = self._matcher.match(url_words(path))
        ours.depth.rows[row] = sum(map(bool, file.split("/")))
        self._tokenise(row, link, path)
        return row

    def _directory(self, name: str) -> int:
        number = self._directory_numbers.of(name)
        self.directories.reach(number)
        self.directory_answers.reach(number)
        return number

    def _tokenise(self, row: int, link: Link, path: str) -> None:
        anchor = terms(link.anchor[:200])[:ANCHOR_TOKENS]
        file = terms(url_words(path.replace("/", " ")))[-URL_TOKENS:]
        keys = dict.fromkeys([("anchor", stem) for stem in anchor] + [("url", stem) for stem in file])
        numbers = [self._token_numbers.of(key) for key in keys][:TOKENS]
        for number in numbers:
            self.tokens.reach(number)
        self.candidates.tokens.rows[row, : len(numbers)] = numbers
        self.candidates.hub.rows[row] = not self._hub_stems.isdisjoint([*anchor, *file[-1:]])

    def decided(self, seen: Seen, score: float) -> int:
        """A URL is decided: what it had in common with others has one more score. Returns its row, still its own."""
        row, ours = self.row_of(Link(seen.url, seen.id, seen.url)), self.candidates
        server, directory = int(ours.server.rows[row]), int(ours.directory.rows[row])
        is_document, is_redirect = seen.text is not None, seen.text is None and bool(seen.links)
        self.servers.answered(server, is_document or is_redirect)
        from_directory = self._redirected.pop(seen.id, 0)
        if is_redirect:  # its target will tell
            for link in seen.links:
                self._redirected[link.id] = from_directory or directory
            return row
        self.directory_answers.add(directory, float(is_document))
        if from_directory:
            self.directory_answers.add(from_directory, float(is_document))
        for number in filter(None, ours.tokens.rows[row]):
            self.tokens.add(number, score)
        for page in filter(None, ours.parents.rows[row]):
            self.pages.add(page, score)
        if seen.text is not None:
            self.servers.rewards.add(server, score)
            self.servers.reveals.counts.rows[server] += 1
            self.directories.add(directory, score)
            self.documents += 1
            self.rewards += score
            self.pages.reach(self.documents)
        return row

    def linked(self, link: Link, page: int, score: float, server: int) -> None:
        """A page links to a URL that waits."""
        row, ours = self.row_of(link, server), self.candidates
        anchor = self._matcher.match(link.anchor) if link.anchor else 0.0
        context = self._matcher.match(link.context) if link.context else 0.0
        _raise(ours.anchor.rows, row, anchor)
        _raise(ours.context.rows, row, context)
        _raise(ours.parent.rows, row, score)
        match = 1 - (1 - 0.7 * anchor**2) * (1 - 0.5 * float(ours.url.rows[row]) ** 2)
        _raise(ours.best.rows, row, 0.5 * score + 0.5 * match)
        ours.linked_by(row, page)
        target = int(ours.server.rows[row])
        if target != server:
            self.servers.named_as(target, max(anchor, 0.7 * context))

    def in_vain(self, link: Link) -> None:
        """A redirect led to what was decided before."""
        directory = self._redirected.pop(link.id, 0)
        self.directory_answers.add(directory, 0.0)

    def inherited(self, link: Link, row: int, server: int) -> None:
        """A redirect leads there: what spoke for it speaks for its target."""
        ours = self.candidates
        target = self.row_of(link._replace(anchor=_anchor(ours.links[row])), server)
        for column in (ours.anchor, ours.context, ours.parent, ours.best, ours.hub):
            _raise(column.rows, target, column.rows[row])
        if not ours.parents.rows[target].any():
            ours.parents.rows[target] = ours.parents.rows[row]
            ours.links_in.rows[target] = ours.links_in.rows[row]


def _anchor(link: Link | None) -> str:
    return link.anchor if link else ""


def _raise(values: NDArray[Any], row: int, value: float) -> None:
    values[row] = max(float(values[row]), value)
