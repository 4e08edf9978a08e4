"""What is known of each link, and what was learnt from those that were followed."""

from __future__ import annotations

from itertools import islice
from typing import Any

from numpy.typing import NDArray

from webcrawler.orderings.adaptive.candidates import Candidates, Servers
from webcrawler.orderings.adaptive.columns import Means, Numbers
from webcrawler.orderings.adaptive.query_match import Matcher, url_words
from webcrawler.orderings.base import Seen
from webcrawler.records import Link
from webcrawler.text import terms
from webcrawler.urls import split

ANCHOR_TOKENS, URL_TOKENS = 6, 6  # the first of an anchor, the last of a path: TOKENS together
ANCHOR_CHARACTERS = 200  # in which to look for them
TABLE_MAX = 200_000  # tokens, and directories, that means are kept for
REDIRECTS_MAX = 10_000  # whose targets were not fetched yet
DESCRIBED = 0.7  # weight of the words around a link to another server, where its anchor has 1
# Names of pages that list others; general knowledge, nothing of a topic.
HUBS = """index contents content toc sitemap documentation docs doc manual guide reference overview
    modules genindex all list topics glossary"""


class Evidence:
    """Candidates, and mean page scores over what they have in common: server, directory, words, parents."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher = matcher
        self.candidates, self.servers = Candidates(), Servers()
        self.directories, self.tokens, self.pages = Means(), Means(), Means()
        self.directory_answers = Means()  # 1 for a document, also at the end of a redirect, else 0
        self.documents, self.rewards = 0, 0.0  # their number, and the sum of their scores
        self._directory_numbers, self._token_numbers = Numbers(TABLE_MAX), Numbers(TABLE_MAX)
        self._redirected: dict[int, int] = {}  # URL id of a redirect's target -> the redirect's directory
        self._hubs = frozenset(terms(HUBS))

    def row_of(self, link: Link, source: int = 0) -> int:
        """The row of a URL, a new one if it has none; `source` is the server of the page that links to it."""
        row = self.candidates.row(link.id)
        return self._new_row(link, source) if row is None else row

    def decided(self, seen: Seen, score: float) -> int:
        """Learns from a URL that was decided: everything it has in common with others has one more score.

        Returns:
            Its row.
        """
        row, ours = self.row_of(Link(seen.url, seen.id, seen.url)), self.candidates
        server, directory = int(ours.server.rows[row]), int(ours.directory.rows[row])
        is_document = seen.text is not None
        self.servers.answered(server, is_document or bool(seen.links))
        came_from = self._redirected.pop(seen.id, 0)
        if not is_document and seen.links:  # a redirect: its target decides
            self._expect_target(seen, came_from or directory)
            return row
        for number in {directory, came_from} - {0} if came_from else (directory,):
            self.directory_answers.add(number, float(is_document))
        for number in filter(None, ours.tokens.rows[row]):
            self.tokens.add(number, score)
        for page in filter(None, ours.parents.rows[row]):
            self.pages.add(page, score)
        if is_document:
            self._document(server, directory, score)
        return row

    def linked(self, link: Link, page: int, score: float, server: int) -> None:
        """Notes a link to a URL that waits.

        Args:
            page: the number of the page with the link; 0: the link is known, but the page scores higher now.
            server: of that page.
        """
        row, ours = self.row_of(link, server), self.candidates
        anchor = self._matcher.match(link.anchor) if link.anchor else 0.0
        context = self._matcher.match(link.context) if link.context else 0.0
        _raise(ours.anchor.rows, row, anchor)
        _raise(ours.context.rows, row, context)
        _raise(ours.parent.rows, row, score)
        ours.changed(row)
        if page:
            ours.linked_by(row, page)
        target = int(ours.server.rows[row])
        if target != server:
            self.servers.named_as(target, max(anchor, DESCRIBED * context))

    def inherited(self, link: Link, row: int, server: int) -> None:
        """Gives the target of a redirect what was known of the redirect, which is in `row`."""
        ours = self.candidates
        from_link = ours.links[row]
        target = self.row_of(link._replace(anchor=from_link.anchor if from_link else ""), server)
        for column in (ours.anchor, ours.context, ours.parent, ours.hub):
            _raise(column.rows, target, column.rows[row])
        ours.changed(target)
        if not ours.links_in.rows[target]:
            ours.parents.rows[target] = ours.parents.rows[row]
            ours.links_in.rows[target] = ours.links_in.rows[row]

    def led_nowhere(self, link: Link) -> None:
        """A redirect led to a URL that was decided before."""
        self.directory_answers.add(self._redirected.pop(link.id, 0), 0.0)

    def _new_row(self, link: Link, source: int) -> int:
        ours, (name, path) = self.candidates, split(link.url)
        row, file = ours.add(link), path.partition("?")[0]
        server, is_new = self.servers.of(name, source)
        if is_new:
            self.servers.named_as(server, self._matcher.match(name.partition("//")[2]))
        ours.server.rows[row] = server
        ours.directory.rows[row] = self._directory(name + file.rpartition("/")[0])
        ours.url.rows[row] = self._matcher.match(url_words(path))
        self._tokenise(row, link, path)
        return row

    def _directory(self, name: str) -> int:
        number = self._directory_numbers.of(name)
        self.directories.reach(number)
        self.directory_answers.reach(number)
        return number

    def _tokenise(self, row: int, link: Link, path: str) -> None:
        anchor = terms(link.anchor[:ANCHOR_CHARACTERS])[:ANCHOR_TOKENS]
        url = terms(url_words(path.replace("/", " ")))[-URL_TOKENS:]
        keys = dict.fromkeys([("anchor", stem) for stem in anchor] + [("url", stem) for stem in url])
        numbers = [self._token_numbers.of(key) for key in keys]
        for number in numbers:
            self.tokens.reach(number)
        self.candidates.tokens.rows[row, : len(numbers)] = numbers
        self.candidates.hub.rows[row] = not self._hubs.isdisjoint([*anchor, *url[-1:]])

    def _document(self, server: int, directory: int, score: float) -> None:
        self.servers.has_document(server, score)
        self.directories.add(directory, score)
        self.documents += 1
        self.rewards += score
        self.pages.reach(self.documents)

    def _expect_target(self, redirect: Seen, directory: int) -> None:
        for link in redirect.links:
            self._redirected[link.id] = directory
        for id in list(islice(self._redirected, max(0, len(self._redirected) - REDIRECTS_MAX))):
            del self._redirected[id]


def _raise(values: NDArray[Any], row: int, value: float) -> None:
    if value > values[row]:
        values[row] = value
