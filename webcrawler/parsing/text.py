"""What a page says: its visible text, with the headings and the relative size of words."""

from __future__ import annotations

import re

# Relative size (GO, "Hit Lists": font size relative to the rest of the document); 0 is plain.
SIZES = {"h1": 6, "h2": 5, "h3": 4, "h4": 3, "h5": 2, "h6": 2}
SIZES |= dict.fromkeys(("big", "b", "strong", "em", "i"), 1) | {"small": -1}
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
HIDDEN = ("script", "style", "template", "noscript", "iframe", "noframes", "noembed", "datalist")
CELLS = ("td", "th", "button", "select", "textarea")  # stand beside each other, but apart
_BLOCKS = """address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset
    figcaption figure footer form frameset header hgroup hr html legend li main menu nav ol optgroup option
    p pre search section summary table tbody tfoot thead tr ul"""
BLOCKS = _BLOCKS.split()

# C0, DEL and C1, which terminals obey and browsers do not show, but for what separates words in `str.split`.
_CONTROL = re.compile("[\0-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")


def plain(text: str) -> str:
    """Return the words of a text with single spaces between them, without control characters."""
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

    def space(self, _tag: str = "") -> None:
        """Part the next word from the last."""
        self._gap = self._gap or " "

    def _new_line(self, _tag: str) -> None:
        self._gap = "\n"

    def _hide(self, _tag: str) -> None:
        self.hidden += 1

    def _unhide(self, _tag: str) -> None:
        self.hidden -= 1

    def _open_size(self, tag: str) -> None:
        size = SIZES[tag]
        self._sizes.append(max(size, self._sizes[-1]) if self._sizes else size)

    def _close_size(self, _tag: str) -> None:
        self._sizes.pop()

    def _open_heading(self, tag: str) -> None:
        self._gap = "\n"
        self._open_size(tag)
        self._heading = self.length

    def _close_heading(self, _tag: str) -> None:
        self._gap = "\n"
        self._sizes.pop()
        if self._heading < self.length:
            self.headings.append((self._heading, self.length))
            self._heading = self.length

    # What the start and the end of an element do to the text.
    STARTS = (
        dict.fromkeys(BLOCKS, _new_line)
        | dict.fromkeys(CELLS, space)
        | dict.fromkeys(HIDDEN, _hide)
        | dict.fromkeys(SIZES, _open_size)
        | dict.fromkeys(HEADINGS, _open_heading)
    )
    ENDS = (
        dict.fromkeys(BLOCKS, _new_line)
        | dict.fromkeys(CELLS, space)
        | dict.fromkeys(HIDDEN, _unhide)
        | dict.fromkeys(SIZES, _close_size)
        | dict.fromkeys(HEADINGS, _close_heading)
    )
