"""Which parts of a text stand around the main content? Navigation, headers, footers, forms, lists of links.

Structure tells: elements and roles that are for such parts, names of classes, the share of links, and where
most of the prose is. Nothing is taken away from a page of which little would be left.

Source: rules of the kind that resiliparse (Bevendorff et al. 2018, "Elastic ChatNoir") and readability have;
docs/explanation/pages.md says how the bounds were found.
"""

from __future__ import annotations

import re
import sys
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from webcrawler.parsing.text import TextFlow

MAX_BLOCKS = 100_000  # what is beyond is part of the block that it stands in

_TAGS = """address article aside blockquote body button center details dialog div dl figcaption figure footer
    form h2 h3 h4 header label li main menu nav ol p pre section select table td ul"""
BLOCKS = frozenset(_TAGS.split())
_PLAIN = frozenset({"li", "p", "td"})  # of no interest without attributes, and half of all

# HTML Standard and ARIA: what stands beside the main content, or is there to be clicked on.
_BESIDE = "aside button dialog footer form label menu nav select"
_ROLES = "alert alertdialog banner complementary contentinfo dialog menu menubar navigation search toolbar"
_AROUND_TAGS, _AROUND_ROLES = frozenset(_BESIDE.split()), frozenset(_ROLES.split())
# Words in names of classes and ids, by which news sites, blogs and manuals alike call such parts.
_AROUND = """ad ads advert advertisement banner breadcrumb breadcrumbs byline caption comment comments consent
    cookie cookies copyright crumb crumbs disqus footer gdpr headerlink login masthead menu modal nav navbar
    navfooter navheader navigation newsletter outbrain pager pagination popular popup promo recirc
    recommendations recommended related search searchbox share sharing sidebar signup skip skiplink social
    sphinxsidebar sponsored submenu subscribe subscription taboola tags toolbar topbar trending widget"""
_OWN = "article body chapter content document entry main page post sect section story text"
_AROUND_NAMES, _OWN_NAMES = frozenset(_AROUND.split()), frozenset(_OWN.split())
_MOST_WORDS = 3  # of a name; longer ones say what the block is about
_NEVER_NAMED = frozenset({"article", "body", "h2", "h3", "h4", "main", "pre"})

_WORDS = re.compile(r"(?<![0-9])[A-Z]?[a-z]+(?![a-z0-9])|[A-Z]{2,}(?![a-z])")
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none", re.IGNORECASE)


class Block:
    """An element with the text from `start` to `end`; the properties are of its tag and attributes alone."""

    __slots__ = ("_attributes", "end", "linked", "start", "tag")

    def __init__(self, tag: str, attributes: Mapping[str, str], start: int, linked: int) -> None:
        self.tag, self.start, self.end = tag, start, start
        # Characters of its text that are in links; while it is open, of the page before it.
        self.linked = linked
        self._attributes = attributes

    @property
    def is_around(self) -> bool:
        """Whether such an element is for what stands around the main content, or is hidden."""
        told = self._attributes
        if self.tag in _AROUND_TAGS:
            return True
        if not told:
            return False
        is_hidden = "hidden" in told or ("style" in told and bool(_NOT_DISPLAYED.search(told["style"])))
        return is_hidden or told.get("role", "") in _AROUND_ROLES

    @property
    def is_named_around(self) -> bool:
        """Whether its class or id is what such blocks are called; a section's id is made of its heading."""
        told = self._attributes
        if not told or self.tag in _NEVER_NAMED:
            return False
        id = "" if self.tag == "section" else told.get("id", "")
        return _is_named_around(f"{told.get('class', '')} {id}")

    @property
    def is_main(self) -> bool:
        told = self._attributes
        return self.tag == "main" or (
            bool(told) and (told.get("role") == "main" or told.get("itemprop") == "articleBody")
        )


@lru_cache(4096)
def _is_named_around(names: str) -> bool:
    found = False
    for name in names.split():
        words = {word.lower() for word in _WORDS.findall(name)}
        if len(words) > _MOST_WORDS:
            continue
        if not words.isdisjoint(_AROUND_NAMES):
            found = True
        elif not words.isdisjoint(_OWN_NAMES):
            return False
    return found


class Blocks:
    """Receives the events of elements in BLOCKS, after the `TextFlow` has."""

    def __init__(self, flow: TextFlow) -> None:
        self.all: list[Block] = []  # in the order of their beginnings
        self._flow = flow
        self._open: list[Block | None] = []

    def open(self, tag: str, attributes: Mapping[str, str], linked: int) -> None:
        if len(self.all) == MAX_BLOCKS or (tag in _PLAIN and not attributes):
            self._open.append(None)
            return
        block = Block(tag, attributes, self._flow.length, linked)
        self._open.append(block)
        self.all.append(block)

    def close(self, linked: int) -> None:
        if block := self._open.pop():
            block.end, block.linked = self._flow.length, linked - block.linked


Spans = list[tuple[int, int]]

# Shares of the characters that are not in links ("prose").
_AROUND_BY_TAG = 0.5  # of the page, below which a block is around that its element says is
_AROUND_BY_NAME = 0.4  # … that its name says is
_AROUND_BY_LINKS = 0.2  # … that its links say is
_EXPLICIT_MAIN = 0.25  # of the page, from which the page's own word for its main content is believed
_ARTICLE = 0.5  # of the page, from which an article is its main content
_NARROWER = 0.75  # of a block, from which one inside of it is the main content instead
# Shares of all characters.
_LINKS_OF_A_LIST, _LINKS_OF_A_BLOCK = 0.7, 0.9  # of a block that are in links, if these are what it is for
_LIST = 0.3  # of the page; a longer list of links is what the page is for
_INDEX = 0.5  # of the main content without lists of links, below which they are what the page is for
_LEAST_LEFT, _LEAST_SHARE = 100, 0.1  # characters and share, one of which has to be left

_CODE = frozenset({"dl", "pre"})  # no navigation is made of these
_LISTS = frozenset({"ol", "ul"})
_MAY_BE_LINKS = _LISTS | {"div", "p", "section", "table", "td"}
_LAYOUT_CELL = 200  # characters from which a table's cell is a column of a page
_HEADINGS = frozenset({"h2", "h3", "h4"})  # h1 is the title; deeper ones come later
_HOLDERS = frozenset({"article", "div", "main", "section", "table", "td"})


def around(
    blocks: Sequence[Block], length: int, linked: int, headings: Sequence[int], lines: Sequence[int]
) -> Spans:
    """Return the spans around the main content, ascending, apart from each other.

    Args:
        blocks: in the order of their beginnings.
        length: of the text, in characters; `linked`: how many of them are in links.
        headings: where sections begin that have a heading with a name of its own.
        lines: where others begin.
    """
    page = _Page(blocks, length, linked, headings, lines)
    found = page.around(with_lists=True)
    if (left := length - _length(found)) < _INDEX * length:
        without_lists = page.around(with_lists=False)
        if left < _INDEX * (length - _length(without_lists)):
            found = without_lists
    enough = min(_LEAST_LEFT, _LEAST_SHARE * length)
    return found if length - _length(found) >= enough else []


class _Page:
    def __init__(
        self,
        blocks: Sequence[Block],
        length: int,
        linked: int,
        headings: Sequence[int],
        lines: Sequence[int],
    ) -> None:
        self._blocks = [block for block in blocks if block.start < block.end]
        self._length, self._prose = length, length - linked
        self._headings = headings
        code = (block.start for block in self._blocks if block.tag in _CODE)
        self._not_lists = sorted([*headings, *lines, *code])

    def around(self, with_lists: bool) -> Spans:
        marked: list[Block] = []
        free: list[Block] = []
        covered = 0
        for block in self._blocks:
            if block.end <= covered:
                continue
            if self._is_around(block, with_lists):
                marked.append(block)
                covered = block.end
            else:
                free.append(block)
        spans = [(block.start, block.end) for block in marked]
        headings = [at for at in self._headings if not is_within(at, spans)]
        rest = _Rest(free, marked, headings, self._prose)
        start, end = rest.narrowed(rest.main() or (0, self._length))
        return merged([*spans, (0, start), (end, self._length)])

    def _is_around(self, block: Block, with_lists: bool) -> bool:
        length = block.end - block.start
        prose = length - block.linked
        if prose >= _AROUND_BY_TAG * self._prose > 0:
            return False
        if block.is_around or (block.is_named_around and prose <= _AROUND_BY_NAME * self._prose):
            return True
        return with_lists and block.linked >= _LINKS_OF_A_LIST * length and self._is_list_of_links(block)

    def _is_list_of_links(self, block: Block) -> bool:
        length = block.end - block.start
        if block.tag not in _MAY_BE_LINKS or (block.tag == "td" and length < _LAYOUT_CELL):
            return False
        if block.tag not in _LISTS and block.linked < _LINKS_OF_A_BLOCK * length:
            return False
        if length > _LIST * self._length or length - block.linked > _AROUND_BY_LINKS * self._prose:
            return False
        return not _count(self._not_lists, block.start, block.end)


class _Rest:
    """A page without what is marked: where in it is the main content?"""

    def __init__(
        self, free: Sequence[Block], marked: Sequence[Block], headings: Sequence[int], prose: int
    ) -> None:
        self._free = free
        self._marks = [block.start for block in marked]
        self._marked = [0, *accumulate(block.end - block.start - block.linked for block in marked)]
        self._prose = prose - self._marked[-1]
        # Code and sections are never left out, nor what stands above under a heading: it may be an abstract.
        self._kept = sorted([*headings, *(block.start for block in free if block.tag in _CODE)])
        self._above = [block.start for block in free if block.tag in _HEADINGS and not block.linked]

    def main(self) -> tuple[int, int] | None:
        """The span that the page itself calls its main content."""
        main = self._most((block for block in self._free if block.is_main), _EXPLICIT_MAIN)
        article = (block for block in self._free if block.tag == "article")
        found = main or self._most(article, _ARTICLE)
        return (found.start, found.end) if found else None

    def narrowed(self, span: tuple[int, int]) -> tuple[int, int]:
        """The smallest block of a span that holds most of the page's prose and of each block around it."""
        start, end = span
        prose = self._prose
        for block in self._free:
            if block.tag not in _HOLDERS or block.start < start or block.end > end:
                continue
            inner = self._prose_of(block) if block.end - block.start >= _NARROWER * prose else 0
            if inner < _NARROWER * prose or _count(self._above, start, block.start):
                continue
            if _count(self._kept, block.start, block.end) == _count(self._kept, start, end):
                start, end, prose = block.start, block.end, inner
        return start, end

    def _most(self, blocks: Iterable[Block], least: float) -> Block | None:
        best = max(blocks, key=self._prose_of, default=None)
        return best if best and self._prose_of(best) >= least * self._prose else None

    def _prose_of(self, block: Block) -> int:
        first, last = (bisect_left(self._marks, at) for at in (block.start, block.end))
        return block.end - block.start - block.linked - (self._marked[last] - self._marked[first])


def merged(spans: Iterable[tuple[int, int]]) -> Spans:
    """The same characters in spans that are ascending and apart from each other."""
    found: Spans = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif start < end:
            found.append((start, end))
    return found


def _length(spans: Spans) -> int:
    return sum(end - start for start, end in spans)


def _count(places: Sequence[int], start: int, end: int) -> int:
    return bisect_left(places, end) - bisect_left(places, start)


def is_within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether a place is in one of spans that are ascending."""
    i = bisect_right(spans, (at, sys.maxsize)) - 1
    return i >= 0 and at < spans[i][1]
