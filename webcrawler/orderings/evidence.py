"""What is known of each link, and what was learnt from those that were followed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from webcrawler.orderings.base import Seen
from webcrawler.orderings.candidates import PARENTS, TOKENS, Candidates, Column, Means, Numbers, Servers
from webcrawler.orderings.topic import Wanted, share
from webcrawler.records import Link
from webcrawler.text import terms
from webcrawler.urls import split


class Returns:
    """The discounted return of each document, and what its link was known by; by the document's number.

    The return of a page is the highest of its own score, gamma times that of a page discovered on it, gamma²
    times that of a page discovered there, and so on.

    Source: Rennie, McCallum 1999, "Using Reinforcement Learning to Spider the Web Efficiently": the value of
    a link is the discounted sum of the rewards to come. Departs from it: the best of them instead of their
    sum, so that a return is on the scale of a page score, and no page earns by the number of its links.

    Args:
        gamma: above 0 and below 1; 0: nothing is kept.
    """

    def __init__(self, gamma: float) -> None:
        self._gamma = gamma
        self._values, self._found_on = Column(), Column(0, np.int32)
        self.server, self.directory = Column(0, np.int32), Column(0, np.int32)
        self.tokens, self.parents = Column(0, np.int32, TOKENS), Column(0, np.int32, PARENTS)
        self.kept = tuple(name for name, part in vars(self).items() if isinstance(part, Column))
        self._columns = [getattr(self, name) for name in self.kept]

    def add(self, page: int, score: float, candidates: Candidates, row: int) -> Iterator[tuple[int, float]]:
        """Adds a document; tells which pages on its path of discovery have a higher return now, by how much.

        Args:
            page: its number, from 1.
            row: that of its URL.
        """
        if not self._gamma:
            return
        for column in self._columns:
            column.reach(page)
        for kept in ("server", "directory", "tokens", "parents"):
            getattr(self, kept).rows[page] = getattr(candidates, kept).rows[row]
        values, found_on = self._values.rows, self._found_on.rows
        values[page], found_on[page] = score, candidates.found_on.rows[row]
        credit, page = self._gamma * score, int(found_on[page])
        while page and credit > values[page]:
            yield page, credit - float(values[page])
            values[page] = credit
            credit, page = self._gamma * credit, int(found_on[page])


ANCHOR_TOKENS, URL_TOKENS = 6, 6  # the first of an anchor, the last of a path: TOKENS together
ANCHOR_CHARACTERS = 200  # in which to look for them
TABLE_MAX = 200_000  # tokens, and directories, that means are kept for
REDIRECTS_MAX = 10_000  # whose targets were not fetched yet
DESCRIBED = 0.7  # weight of the words around a link to another server, where its anchor has 1
# Names of pages that list others, whatever the topic.
HUBS = """index contents content toc sitemap documentation docs doc manual guide reference overview
    modules genindex all list topics glossary"""
REMEMBERED = 50_000  # texts: pages repeat their navigation
SHORT_FORM = 5  # letters at least: "regex", "vhost"
INITIALS = 3  # letters at least: "fts"
SHORTENED = range(2, 5)  # words that have short forms together
_INNER_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")


class Matcher:
    """Matches texts with one query; remembers the last ones."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        beginnings = "".join(map(_beginning, wanted.spelled))
        forms = [f"(?=.{{{SHORT_FORM},}}){beginnings}s?"]
        if len(wanted.spelled) >= INITIALS:
            forms.append("".join(re.escape(word[0]) for word in wanted.spelled))
        self._short = re.compile("|".join(forms)) if len(wanted.spelled) in SHORTENED else None
        self.match = lru_cache(REMEMBERED)(self._match)

    def _match(self, text: str) -> float:
        """0 to 1: the share of the query's words in it; 1 where they are joined or shortened to one."""
        found = terms(text)
        if not self._wanted.joined.isdisjoint(found) or any(map(self.is_short_form, found)):
            return 1.0
        return share(self._wanted, dict.fromkeys(found, 1.0))

    def is_short_form(self, word: str) -> bool:
        """Beginnings of the words one after the other ("regexp" of "regular expressions"), or initials."""
        return bool(self._short and self._short.fullmatch(word))


def url_words(path: str) -> str:
    """The words of a path without its file extension, camel case taken apart."""
    stem, dot, extension = path.rpartition(".")
    return _INNER_CAPITAL.sub(" ", stem if dot and "/" not in extension else path)


def _beginning(word: str) -> str:
    """A pattern for the first letters of a word, one or more."""
    first, *rest = map(re.escape, word)
    return first + "".join(f"(?:{letter}" for letter in rest) + ")?" * len(rest)


class Evidence:
    """Candidates, and mean page scores over what they have in common: server, directory, words, parents."""

    def __init__(self, wanted: Wanted, gamma: float = 0.0) -> None:
        self._match = Matcher(wanted).match
        self.candidates, self.servers = Candidates(), Servers()
        self._returns = Returns(gamma)
        self.directories, self.tokens, self.pages = Means(), Means(), Means()
        self.directory_answers = Means()  # 1 for a document, also at the end of a redirect, else 0
        self.documents, self.rewards = 0, 0.0  # their number, and the sum of their scores
        self._directory_numbers = Numbers(TABLE_MAX, self.directories, self.directory_answers)
        self._token_numbers = Numbers(TABLE_MAX, self.tokens)
        self._redirected: dict[int, int] = {}  # URL id of a redirect's target -> the redirect's directory
        self._hubs = frozenset(terms(HUBS))

    def row_of(self, link: Link, linked_from: int = 0) -> int:
        """The row of a URL, a new one if it has none; `linked_from` is the server that links to it."""
        candidates = self.candidates
        row = candidates.row.get(link.id)
        if row is not None:
            return row
        row, (name, path) = candidates.add(link), split(link.url)
        server, is_new = self.servers.of(name, linked_from)
        if is_new:
            self.servers.named_as(server, self._match(name.partition("//")[2]))
        directory = self._directory_numbers.of(name + path.partition("?")[0].rpartition("/")[0])
        candidates.server.rows[row], candidates.directory.rows[row] = server, directory
        candidates.url.rows[row] = self._match(url_words(path))
        self._tokenise(row, link, path)
        return row

    def decided(self, seen: Seen, score: float) -> int:
        """Learns from a URL that was decided: everything it has in common with others has one more score.

        Returns:
            Its row.
        """
        row, candidates = self.row_of(Link(seen.url, seen.id, seen.url)), self.candidates
        server, directory = int(candidates.server.rows[row]), int(candidates.directory.rows[row])
        is_document = seen.text is not None
        self.servers.answered(server, is_document or bool(seen.links))
        came_from = self._redirected.pop(seen.id, 0)
        if not is_document and seen.links:  # a redirect: its target decides
            self._expect_target(seen, came_from or directory)
            return row
        for number in {directory, came_from} - {0} if came_from else (directory,):
            self.directory_answers.add(number, float(is_document))
        for number in filter(None, candidates.tokens.rows[row]):
            self.tokens.add(number, score)
        for page in filter(None, candidates.parents.rows[row]):
            self.pages.add(page, score)
        if is_document:
            self.servers.rewards.add(server, score)
            self.servers.reveals.counts.rows[server] += 1
            self.directories.add(directory, score)
            self.documents += 1
            self.rewards += score
            self.pages.reach(self.documents)
            for page, more in self._returns.add(self.documents, score, candidates, row):
                self._credit(page, more)
        return row

    def linked(self, link: Link, page: int, score: float, server: int) -> None:
        """Notes a link to a URL that waits.

        Args:
            page: the number of the page with the link; 0: the link is known, but the page scores higher now.
            server: of that page.
        """
        row, candidates = self.row_of(link, server), self.candidates
        anchor = self._match(link.anchor) if link.anchor else 0.0
        context = self._match(link.context) if link.context else 0.0
        _raise(candidates.anchor.rows, row, anchor)
        _raise(candidates.context.rows, row, context)
        _raise(candidates.parent.rows, row, score)
        candidates.changed.add(row)
        if page:
            count = int(candidates.links_in.rows[row])
            if not count:
                candidates.found_on.rows[row] = page
            candidates.parents.rows[row, count % PARENTS] = page  # of many, the last ones are kept
            candidates.links_in.rows[row] = count + 1
        target = int(candidates.server.rows[row])
        if target != server:
            self.servers.named_as(target, max(anchor, DESCRIBED * context))

    def inherited(self, link: Link, row: int, server: int) -> None:
        """Gives the target of a redirect what was known of the redirect, which is in `row`."""
        candidates = self.candidates
        from_link = candidates.links[row]
        target = self.row_of(link._replace(anchor=from_link.anchor if from_link else ""), server)
        for column in (candidates.anchor, candidates.context, candidates.parent, candidates.hub):
            _raise(column.rows, target, column.rows[row])
        candidates.changed.add(target)
        if not candidates.links_in.rows[target]:
            candidates.parents.rows[target] = candidates.parents.rows[row]
            candidates.links_in.rows[target] = candidates.links_in.rows[row]
            candidates.found_on.rows[target] = candidates.found_on.rows[row]

    def led_nowhere(self, link: Link) -> None:
        """A redirect led to a URL that was decided before."""
        self.directory_answers.add(self._redirected.pop(link.id, 0), 0.0)

    def _credit(self, page: int, more: float) -> None:
        """What led to a page counts more, as its return is higher by that much."""
        returns = self._returns
        for number in filter(None, returns.tokens.rows[page]):
            self.tokens.sums.rows[number] += more
        for parent in filter(None, returns.parents.rows[page]):
            self.pages.sums.rows[parent] += more
        self.servers.rewards.sums.rows[returns.server.rows[page]] += more
        self.directories.sums.rows[returns.directory.rows[page]] += more
        self.rewards += more

    def _tokenise(self, row: int, link: Link, path: str) -> None:
        anchor = terms(link.anchor[:ANCHOR_CHARACTERS])[:ANCHOR_TOKENS]
        url = terms(url_words(path.replace("/", " ")))[-URL_TOKENS:]
        keys = dict.fromkeys([("anchor", stem) for stem in anchor] + [("url", stem) for stem in url])
        numbers = [self._token_numbers.of(key) for key in keys]
        self.candidates.tokens.rows[row, : len(numbers)] = numbers
        self.candidates.hub.rows[row] = not self._hubs.isdisjoint([*anchor, *url[-1:]])

    def _expect_target(self, redirect: Seen, directory: int) -> None:
        for link in redirect.links:
            self._redirected[link.id] = directory
        for id in list(islice(self._redirected, max(0, len(self._redirected) - REDIRECTS_MAX))):
            del self._redirected[id]


def _raise(values: NDArray[Any], row: int, value: float) -> None:
    if value > values[row]:
        values[row] = value
