"""Which words of a text can a visitor not see, and are they there for search engines?

Most hidden text is honest: menus, tabs, dialogs, labels for screen readers. What is only meant to be found
has many words, and few different ones.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from typing import NamedTuple

from webcrawler.parsing.around import Spans, merged
from webcrawler.parsing.blocks import Block
from webcrawler.parsing.styles import (
    MAX_SHEET_CHARACTERS,
    MAX_STYLE_CHARACTERS,
    SAYS_NOTHING,
    UNKNOWN,
    Style,
    applied,
    colour,
    hiding_rules,
    joined,
    style_of,
)
from webcrawler.parsing.text import TextFlow

FEWEST_WORDS = 50  # hidden ones of a page that is marked,
IN_A_LINE = 10  # of lines with so many: shorter ones are labels, headings and entries of lists
SHARE = 0.1  # of the words of the page, which they are at least
# Share of the hidden words that the MOST frequent ones of them make up, from which on they are stuffed.
STUFFED, MOST = 0.5, 5
_PUNCTUATION = ".,;:!?\"'()[]|/-–—•·*+&"

PAINTED = frozenset(["body", "font", "table", "td", "th", "tr"])
PAINTING = frozenset(["background", "bgcolor", "color", "text"])
_TELLING = PAINTING | {"hidden", "style"}
_INHERITED = frozenset(["visibility", "font-size", "text-indent"])
_WHOLE = frozenset(["html", "body"])  # hidden until a script has run
# Data, code and choices repeat what they please; a table around hidden text is for layout.
_LISTS = frozenset(["form", "pre", "table", "tbody", "tr"])


class _State(NamedTuple):
    """What holds in an element for the text that is right in it."""

    hides: frozenset[str] = frozenset()
    color: str = ""
    background: str = ""
    is_list: bool = False  # in one of _LISTS that is invisible: not counted

    @property
    def is_invisible(self) -> bool:
        is_unseen = bool(self.hides) or self.color == self.background not in ("", UNKNOWN)
        return is_unseen and not self.is_list


_NO_STATE = _State()


class Invisible:
    """Receives the events of elements that may change what can be seen, and of all within them.

    Those are elements with the attribute `style` or `hidden`, and PAINTED ones with one of PAINTING.

    Attributes:
        states: of the open elements that change what can be seen, from the outermost on; while there are
            some, all elements are told.
        spans: of the text that cannot be seen, ascending.

    Weakness: an external style sheet, which is not fetched, or a script may show what is hidden here, and
    hide what is not.
    """

    def __init__(self, flow: TextFlow) -> None:
        self.states: list[_State] = []
        self.spans: Spans = []
        self._flow = flow
        self._open: list[int] = []  # of each state: elements that are open and have it
        self._start = 0  # of the invisible text, while there is some
        self._rules: dict[str, Style] = {}
        self._applied: Callable[[str, str, str], Style] = lambda tag, classes, id: SAYS_NOTHING

    def read(self, css: str) -> None:
        """Take in a style sheet of the page, for the elements behind it."""
        if not (rules := hiding_rules(css[:MAX_SHEET_CHARACTERS])):
            return
        if not self._rules:  # from now on, all elements are told: this state is never closed
            self.states.insert(0, _State())
            self._open.insert(0, sys.maxsize)
        self._rules = joined(self._rules, rules)
        self._applied = lru_cache(4096)(partial(applied, self._rules))

    def open(self, tag: str, attributes: Mapping[str, str]) -> None:
        above = state = self.states[-1] if self.states else _NO_STATE
        style = self._applied(tag, attributes.get("class", ""), attributes.get("id", ""))
        if not _TELLING.isdisjoint(attributes):
            style = _own(tag, attributes, style)
        if style is not SAYS_NOTHING:
            state = _within(above, style, tag)
        if tag in _LISTS and state.is_invisible:
            state = state._replace(is_list=True)
        if state != above:
            self.states.append(state)
            self._open.append(1)
            self._turn(above, state)
        elif self.states:
            self._open[-1] += 1

    def close(self) -> None:
        self._open[-1] -= 1
        if not self._open[-1]:
            self._open.pop()
            self._turn(self.states.pop(), self.states[-1] if self.states else _NO_STATE)

    def _turn(self, before: _State, after: _State) -> None:
        if after.is_invisible and not before.is_invisible:
            self._start = self._flow.length
        elif before.is_invisible and not after.is_invisible and self._start < self._flow.length:
            self.spans.append((self._start, self._flow.length))


def _own(tag: str, attributes: Mapping[str, str], rules: Style) -> Style:
    """What an element says itself by attributes, by rules, and by its own style, which wins."""
    is_hidden = attributes.get("hidden", "until-found").lower() != "until-found"
    color = attributes.get("text" if tag == "body" else "color", "")
    picture = UNKNOWN if "background" in attributes else ""
    said = Style(
        frozenset(["display"] if is_hidden else []),
        color=colour(color) if tag in ("body", "font") else "",
        background=picture or colour(attributes.get("bgcolor", "")),
    )
    for later in (rules, style_of(attributes.get("style", "")[:MAX_STYLE_CHARACTERS])):
        said = said._replace(hides=said.hides - later.shows).then(later)
    return said


def _within(above: _State, said: Style, tag: str) -> _State:
    return _State(
        above.hides - (said.shows & _INHERITED) | (frozenset() if tag in _WHOLE else said.hides),
        said.color or above.color,
        said.background or above.background,
        above.is_list,
    )


def stuffed_words(text: str, spans: Spans, blocks: Sequence[Block], links: Iterable[tuple[int, int]]) -> int:
    """Return how many words of a text are hidden in these spans if they are there to be found; else 0.

    Words of links, of tables and code, and of what is opened and closed, such as menus and dialogs, are not
    counted, nor are numbers. Words of languages without blanks between them are not told from each other.

    Source: GO 1 and 3.2, text "not directly represented to the user"; that spam repeats its words is in
    Ntoulas, Najork, Manasse, Fetterly 2006, "Detecting Spam Web Pages through Content Analysis", 4.6.
    """
    if sum(end - start for start, end in spans) < FEWEST_WORDS:  # characters: too few in any case
        return 0
    words = counted_words(text, spans, blocks, links)
    if len(words) < max(FEWEST_WORDS, SHARE * len(text.split())):
        return 0
    return len(words) if share_of_most(words) >= STUFFED else 0


def counted_words(
    text: str, spans: Spans, blocks: Sequence[Block], links: Iterable[tuple[int, int]]
) -> list[str]:
    """Return the hidden words of a text that may be there to be found; see `stuffed_words`."""
    honest = ((block.start, block.end) for block in blocks if block.is_opened)
    return _words(_blanked(text, merged([*honest, *links])), spans)


def share_of_most(words: Sequence[str]) -> float:
    """Return which share of words the MOST frequent ones of them make up; 0 of none."""
    most = sum(count for _, count in Counter(words).most_common(MOST))
    return most / max(1, len(words))


def _words(text: str, spans: Spans) -> list[str]:
    lines = (line.lower().split() for start, end in spans for line in text[start:end].split("\n"))
    said = (word.strip(_PUNCTUATION) for line in lines if len(line) >= IN_A_LINE for word in line)
    return [word for word in said if word and not word.isnumeric()]


def _blanked(text: str, spans: Spans) -> str:
    """The text with blanks in place of some spans."""
    kept, end = list[str](), 0
    for start, stop in spans:
        kept += text[end:start], " " * (stop - start)
        end = stop
    return "".join([*kept, text[end:]])
