"""Where in a page do links with a fragment lead? Its headings, definitions and named anchors."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import unquote

from webcrawler.parsing.around import is_within
from webcrawler.parsing.text import HEADING_CHARACTERS, HEADINGS, TextFlow
from webcrawler.records import Section

MAX_SECTIONS = 20_000  # the longest manuals have 5,000
_FRAGMENT_CHARACTERS = 500
_HEADING_CHARACTERS = 200
_NEAR_CHARACTERS = 200  # between a name and a heading with a link to it, such as "since 1.2 · source"
_LINE_CHARACTERS = 100  # of a line that can stand for a heading: what is longer is a paragraph

HEADED = HEADINGS.keys() | {"dt"}
# What holds a section, or is an entry of one. Of ids before a heading, the innermost of these is its own.
_HOLDERS = "section div article main dl dd li table tr td p pre blockquote details fieldset figure"
_CONTAINERS = frozenset(_HOLDERS.split())
_NAMED = _CONTAINERS | HEADED | {"a", "span"}
_SECTIONS = frozenset({"a", "section", "span"})


class _Draft(NamedTuple):
    """A section as the events tell of it; start and end are of its heading, end is 0 where it has none."""

    start: int
    fragment: str
    end: int
    tag: str
    is_own: bool  # the name is the heading's or a section's, not one that the layout has put around it


class Outline:
    """Receives the events of an HTML parser, after the `TextFlow` has, and finds the sections of a page.

    A name is that of the next heading if no text stands between them. Of several names it is, in this order:
    the heading's own id, the one that its permalink has, one inside of it, the first of the anchors before
    it, the innermost element that it begins.
    """

    def __init__(self, flow: TextFlow) -> None:
        self._flow = flow
        self._drafts: list[_Draft] = []
        self._seen: dict[str, int] = {}  # where names stand; a browser goes to the first of several
        self._at = 0  # length of the text where the names below stand
        self._name, self._named_by = "", ""  # the best of them, and its element
        self._heading = ""  # the open heading or dt, with its start and its names
        self._start = 0
        self._own = self._permalink = self._inner = ""

    def open(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take in the start of an element that has an id, or is a heading, a dt or a link."""
        if self._flow.hidden or len(self._drafts) >= MAX_SECTIONS:
            return
        if self._flow.length != self._at:
            self._move_on()
        if tag in HEADED:
            self._heading, self._start = tag, self._flow.length
            self._own = self._permalink = self._inner = ""
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else "")
        if name and tag in _NAMED and name not in self._seen:
            is_section = "sect" in attributes.get("class", "")  # of Sphinx before 2021, DocBook, Asciidoctor
            self._take(name, "section" if is_section else tag)
        if self._heading and tag == "a" and (href := attributes.get("href", "")).startswith("#"):
            self._permalink = self._permalink or unquote(href[1:])

    def _take(self, name: str, tag: str) -> None:
        if len(name) > _FRAGMENT_CHARACTERS or not name.isprintable() or name.isspace():
            return
        self._seen[name] = self._flow.length
        if tag in HEADED:
            self._own = name
        elif self._heading:
            self._inner = self._inner or name
        elif tag in _CONTAINERS or not self._name or (tag == "a" and self._named_by != "a"):
            self._name, self._named_by = name, tag

    def close(self, tag: str) -> None:
        """Take in the end of a heading or a dt."""
        if tag != self._heading:
            return
        self._heading = ""
        end = self._flow.length
        if end == self._start or (tag in HEADINGS and end - self._start > HEADING_CHARACTERS):
            return
        before = self._name if tag != "dt" or self._named_by == "a" else ""
        is_near = self._seen.get(self._permalink, -_NEAR_CHARACTERS) > self._start - _NEAR_CHARACTERS
        permalink = self._permalink if is_near else ""
        if name := self._own or permalink or self._inner or before:
            is_own = name != before or self._named_by in _SECTIONS
            self._drafts.append(_Draft(self._start, name, end, tag, is_own))
        self._forget()

    def _move_on(self) -> None:
        """Forget the names before the text that came; an anchor right before it may be one of a line."""
        if self._heading:
            return
        if self._named_by == "a":
            self._drafts.append(_Draft(self._at, self._name, 0, "a", False))
        self._forget()

    def _forget(self) -> None:
        self._at = self._flow.length
        self._name = self._named_by = ""

    @property
    def headings(self) -> list[int]:
        """Where sections begin that have a heading with a name of its own."""
        return [draft.start for draft in self._drafts if draft.is_own]

    @property
    def lines(self) -> list[int]:
        """Where lines begin that may be sections without a heading."""
        return [draft.start for draft in self._drafts if not draft.end]

    def sections(
        self, text: str, permalinks: Sequence[tuple[int, int]], around: Sequence[tuple[int, int]]
    ) -> tuple[Section, ...]:
        """Return the sections in their order, one at each place.

        The heading of the whole page is none: who follows a link to the page sees it. It counts as that
        where it is the only h1, and no section comes before it.

        Args:
            permalinks: spans of the text that headings go without.
            around: spans of the text in which there are no sections.
        """
        if self._flow.length != self._at:
            self._move_on()
        drafts = sorted(draft for draft in self._drafts if not is_within(draft.start, around))[:MAX_SECTIONS]
        if drafts and drafts[0].tag == "h1" and sum(draft.tag == "h1" for draft in drafts) == 1:
            del drafts[0]
        found: dict[int, Section] = {}
        for start, fragment, end, *_ in drafts:
            end_of_line = end or _end_of_line(text, start)
            heading = _heading(text, start, end_of_line, permalinks)
            start += text[start : start + 1].isspace()
            if heading and (end or start not in found):
                found[start] = Section(start, fragment, heading)
        return tuple(found.values())


def _heading(text: str, start: int, end: int, permalinks: Sequence[tuple[int, int]]) -> str:
    parts = []
    for i in range(bisect_right(permalinks, (start,)), len(permalinks)):
        if permalinks[i][0] >= end:
            break
        parts.append(text[start : permalinks[i][0]])
        start = permalinks[i][1]
    parts.append(text[start:end])
    return _bounded(" ".join(" ".join(parts).split()))


def _end_of_line(text: str, start: int) -> int:
    """Where the line ends that begins here; `start` if none does, or a long one."""
    if start and text[start : start + 1] != "\n":
        return start
    end = text.find("\n", start + 1, start + _LINE_CHARACTERS)
    if end < 0 and len(text) - start <= _LINE_CHARACTERS:
        return len(text)
    return max(start, end)


def _bounded(heading: str) -> str:
    if len(heading) <= _HEADING_CHARACTERS:
        return heading
    return f"{heading[: _HEADING_CHARACTERS - 2].rpartition(' ')[0] or heading[: _HEADING_CHARACTERS - 2]} …"
