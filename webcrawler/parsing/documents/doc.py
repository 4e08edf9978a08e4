"""Word's documents before 2007, by antiword, which writes them as DocBook.

Weakness: antiword leaves out where links lead.
"""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Mapping

from webcrawler.errors import Unreadable
from webcrawler.parsing.documents.reading import NONE, Target
from webcrawler.parsing.documents.zipped import Events, feed_xml

_COMMAND = ("antiword", "-x", "db", "-m", "UTF-8.txt", "-")
_SECONDS = 5  # of processor time; the parser's own timers do not hold for its children
_TAGS = {"para": "p", "emphasis": "b", "informaltable": "table", "row": "tr", "entry": "td", "listitem": "li"}
_SECTIONS = frozenset({"chapter", "sect1", "sect2", "sect3", "sect4", "sect5"})


def read(body: bytes, _: str, target: Target) -> None:
    try:
        done = subprocess.run(_COMMAND, input=body, capture_output=True, preexec_fn=_limit)
    except FileNotFoundError:
        raise Unreadable("antiword is not installed: apt install antiword") from None
    if done.returncode:
        reason = done.stderr.decode("utf-8", "replace").strip() or f"antiword ended with {done.returncode}"
        raise Unreadable(reason[:200])
    feed_xml(done.stdout, _Text(target))


def _limit() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))


class _Text(Events):
    """Tells a target of DocBook as HTML would have it."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._open: list[str] = []  # HTML elements that were begun; "": none
        self._depth = 0  # of chapters and sections
        self._is_about = False  # within what the document says of itself

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += tag in _SECTIONS
        self._is_about |= tag == "bookinfo"
        begun = _TAGS.get(tag, "")
        if tag == "title":
            begun = f"h{min(self._depth, 6)}" if self._depth else "" if self._is_about else "title"
        if begun:
            self._target.start(begun, NONE)
        self._open.append(begun)

    def end(self, tag: str) -> None:
        self._depth -= tag in _SECTIONS
        self._is_about &= tag != "bookinfo"
        if begun := self._open.pop():
            self._target.end(begun)

    def data(self, chunk: str) -> None:
        if not self._is_about:
            self._target.data(chunk)

    def close(self) -> None:
        """End what is open still."""
        while self._open:
            self.end("")
