"""What a page says: its visible text, with the headings and the relative size of words."""

from __future__ import annotations

import re
from collections.abc import Mapping

# Relative size (GO, "Hit Lists": font size relative to the rest of the document); 0 is plain.
HEADINGS = {"h1": 6, "h2": 5, "h3": 4, "h4": 3, "h5": 2, "h6": 2}
SIZES = HEADINGS | dict.fromkeys(("big", "b", "strong", "em", "i"), 1) | {"small": -1}
# What stands in media is for browsers that cannot play them.
_HIDDEN = """audio canvas datalist iframe meter noembed noframes noscript object progress script style
    template video"""
HIDDEN = frozenset(_HIDDEN.split())
_BLOCKS = """address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form frameset header hgroup hr html legend li main menu nav ol optgroup option
    p pre search section summary table tbody tfoot thead tr ul"""
_CELLS = "td th button select textarea"  # stand beside each other, but apart
HEADING_CHARACTERS = 1_000  # what is longer has no end tag: the rest of the page is in it
# What an element puts between the words before it and its own, and between these and the next.
GAPS = dict.fromkeys([*_BLOCKS.split(), *HEADINGS], "\n") | dict.fromkeys(_CELLS.split(), " ")
FLOWING = HIDDEN | SIZES.keys() | GAPS.keys()  # elements that matter to a TextFlow

# C0, DEL and C1, which terminals obey and browsers do not show, but for what separates words in `str.split`.
# Surrogates and noncharacters, which stand for nothing; XML forbids some of both.
_NONE = "".join(chr(plane + last) for plane in range(0, 0x110000, 0x10000) for last in (0xFFFE, 0xFFFF))
_CONTROL = re.compile(f"[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef{_NONE}]")


def plain(text: str) -> str:
    """Return the words of a text with single spaces between them, without control and noncharacters."""
    words = " ".join(text.split())
    return words if words.isprintable() else " ".join(_CONTROL.sub("", text).split())


class TextFlow:
    """Puts words one after the other: a space between words, a newline between blocks.

    Attributes:
        length: of the text so far.
        spans: (start, end, size) of words that are larger or smaller than the rest.
        headings: (start, end) of each.
        hidden: open elements that hide their text.
    """

    def __init__(self) -> None:
        self.length = 0
        self.spans: list[tuple[int, int, int]] = []
        self.headings: list[tuple[int, int]] = []
        self.hidden = 0
        self._hides: list[bool] = []  # of the open elements in HIDDEN: does it?
        self._parts: list[str] = []
        self._gap = ""  # what separates the next word from the last: "", " " or "\n"
        self._sizes: list[int] = []  # of the open elements that have one
        self._heading = 0  # where the open heading began

    @property
    def text(self) -> str:
        return "".join(self._parts)

    def write(self, chunk: str) -> None:
        """Add characters; a word may come in several chunks."""
        if self.hidden:
            return
        if chunk.isspace():  # as half of all chunks are
            self._gap = self._gap or " "
            return
        words = " ".join(chunk.split())
        if not words.isprintable():
            chunk = _CONTROL.sub("", chunk)
            words = " ".join(chunk.split())
        if words:
            self._add(words, self._gap or (" " if chunk[0].isspace() else ""))
            self._gap = " " if chunk[-1].isspace() else ""
        elif chunk:
            self.space()

    def _add(self, words: str, gap: str) -> None:
        end = self.length
        if not end:
            gap = ""
        start = end + len(gap)
        self.length = start + len(words)
        self._parts.append(gap + words)
        if self._sizes and (size := self._sizes[-1]):
            if gap != "\n" and self.spans and self.spans[-1][1:] == (end, size):
                start = self.spans.pop()[0]
            self.spans.append((start, self.length, size))

    def space(self) -> None:
        """Part the next word from the last."""
        self._gap = self._gap or " "

    def open(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Take in the start of an element that is in FLOWING."""
        if tag in HIDDEN:
            self._hides.append(_hides(tag, attributes))
            self.hidden += self._hides[-1]
        if tag in GAPS and self._gap != "\n" and not self.hidden:
            self._gap = GAPS[tag]
        if size := SIZES.get(tag):
            self._sizes.append(max(size, self._sizes[-1]) if self._sizes else size)
            if tag in HEADINGS:
                self._heading = self.length

    def close(self, tag: str) -> None:
        """Take in the end of an element that is in FLOWING."""
        if tag in HIDDEN:
            self.hidden -= self._hides.pop()
        if tag in GAPS and self._gap != "\n" and not self.hidden:
            self._gap = GAPS[tag]
        if tag in SIZES:
            self._sizes.pop()
            if tag in HEADINGS and self._heading < self.length:
                if self.length - self._heading <= HEADING_CHARACTERS:
                    self.headings.append((self._heading, self.length))
                self._heading = self.length


def _hides(tag: str, attributes: Mapping[str, str]) -> bool:
    """A template with a shadow root is shown, and so is what stands in an object without data."""
    if tag == "template":
        return attributes.get("shadowrootmode", "").lower() not in ("open", "closed")
    return tag != "object" or "data" in attributes
