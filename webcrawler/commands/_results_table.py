"""What a terminal shows of a real-time search: results as they come, then a table and why it ended."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from webcrawler.commands._terminal import printable
from webcrawler.realtime import Found, Journal

ROWS = 30  # at most
LINES = 2  # of one row
LEFT = 10  # columns: rank and relevance
TITLE_CHARACTERS = 100
ANCHOR_CHARACTERS = 60
DRAWS_PER_SECOND = 4
FILE_COLUMNS = 160  # where the output is a file

UNDER_WAY = "ending: downloads under way are finished and indexed; a second Ctrl-C does not wait"
AGAIN = "the same command goes on from what is known now"
ENDINGS = {
    "enough": "enough similar pages were found; a larger -a enough=N finds more",
    "max_pages": f"max_pages was reached, duplicates counted; {AGAIN}",
    "max_time": f"max_time was reached; {AGAIN}",
    "nothing_waits": "all that it could reach was fetched; try other words, or -a seeds=URL,URL",
    "nothing_left": "nothing promising is left; try other words, -a seeds=URL,URL or -a strategy=breadth",
    "stopped": f"it was stopped; {AGAIN}",
    "failed": f"it failed: the log says why; {AGAIN}",
}

# What kept so many pages, and what would keep more.
KEPT_BY = {
    "yes": "all that it fetched",
    "similar": "the similar ones; -a keep=yes keeps all",
    "no": "none of those that it found; -a keep=similar keeps the similar ones",
}


def console(*, on_stderr: bool) -> Console:
    """A console that knows whether it is a terminal, whatever the environment says."""
    is_terminal = (sys.stderr if on_stderr else sys.stdout).isatty()
    width = None if is_terminal else FILE_COLUMNS
    return Console(stderr=on_stderr, force_terminal=is_terminal, width=width, highlight=False)


class ResultsTable:
    """Shows results as they come where the console is a terminal, and nothing before the first journal.

    Args:
        is_ending: whether the search only finishes what is under way.
    """

    def __init__(self, console: Console, is_ending: Callable[[], bool] = lambda: False) -> None:
        self._console, self._is_ending = console, is_ending
        self._live: Live | None = None
        self._redirected: list[logging.StreamHandler[Any]] = []

    def update(self, journal: Journal) -> None:
        """Show this journal from now on; a thread draws it."""
        self._journal, self._since = journal, time.monotonic()
        if self._live is None and self._console.is_terminal:
            self._start()

    def end(self, journal: Journal) -> None:
        """Print the final table in place of the live list."""
        self.close()
        lines = [*_heading(journal, journal["seconds"])]
        lines += _table(journal["hits"][:ROWS], self._console.width, is_cut=False)
        nothing_waits = journal["reason"] == "nothing_left" and not journal["waiting"]
        ending = ENDINGS["nothing_waits" if nothing_waits else journal["reason"]]
        if not journal["hits"]:
            ending = f"nothing was found: {ending}"
        if journal["fetched"]:
            kept = f"kept {journal['kept']:,} of {journal['fetched']:,} pages"
            lines.append(Text(f"{kept}: {KEPT_BY[journal['keep']]}"))
        self._console.print(*lines, Text(ending), sep="\n", soft_wrap=True)

    def close(self) -> None:
        """Release the terminal."""
        if self._live is not None:
            self._live.stop()
            self._live = None
        for handler in self._redirected:
            handler.setStream(sys.stderr)
        self._redirected.clear()

    def _start(self) -> None:
        self._live = Live(
            console=self._console,
            get_renderable=self._draw,
            refresh_per_second=DRAWS_PER_SECOND,
            transient=True,
            redirect_stderr=sys.stderr.isatty(),
            vertical_overflow="crop",
        )
        before = sys.stderr
        self._live.start(refresh=True)
        for handler in logging.root.handlers:  # what is logged to the same terminal comes above the list
            if isinstance(handler, logging.StreamHandler) and handler.stream is before:
                handler.setStream(sys.stderr)
                self._redirected.append(handler)

    def _draw(self) -> Group:
        journal, since = self._journal, self._since
        is_over = journal["state"] == "finished"
        seconds = journal["seconds"] + (0.0 if is_over else time.monotonic() - since)
        lines = [*_heading(journal, seconds)]
        if self._is_ending() and not is_over:
            lines.append(Text(UNDER_WAY))
        rows = (self._console.height - len(lines) - 2) // LINES  # the table's head, the cursor
        lines += _table(journal["hits"][: max(0, min(rows, ROWS))], self._console.width, is_cut=True)
        for line in lines:
            line.no_wrap, line.overflow = True, "ellipsis"
        return Group(*lines)


def _heading(journal: Journal, seconds: float) -> Iterator[Text]:
    query, enough = _short(journal["query"], ANCHOR_CHARACTERS), journal["enough"]
    parts = (
        f"“{query}”" if query else "like the examples",
        f"{journal['fetched']:,} fetched",
        f"{journal['similar']:,}{f' of {enough:,}' if enough else ''} similar",
        f"{seconds:.0f} s",
        f"{journal['waiting']:,} waiting",
    )
    yield Text("  ".join(parts), "bold")
    if journal["note"]:
        yield Text(f"note: {printable(journal['note'])}")


def _table(hits: Sequence[Found], columns: int, *, is_cut: bool) -> Iterator[Text]:
    """For each hit a line of title and where it came from, and one of its URL.

    Args:
        is_cut: so are URLs that are longer than the line.
    """
    if hits:
        yield Text(" #  rel.  page, and where it came from", style="dim")
    for hit in hits:
        title = Text(_short(hit["title"]), "bold green" if hit["source"] == "web" else "bold")
        first = Text.assemble(f"{hit['rank']:>2}  {hit['relevance']:04d}  ", title, f"  {_origin(hit)}")
        first.truncate(columns, overflow="ellipsis")
        first.rstrip()
        yield first
        url = Text(" " * LEFT + printable(hit["url"]), "dim")
        if is_cut:
            url.truncate(columns, overflow="ellipsis")
        yield url


def _origin(hit: Found) -> str:
    """The index; or the anchor that led to it, and the page that has it."""
    via = hit["via"]
    if hit["source"] == "index":
        return "index"
    if via is None:
        return "just found as a seed"
    anchor = _short(via["anchor"], ANCHOR_CHARACTERS)
    page = _short(via["title"] or via["url"])
    return f"just found: “{anchor}” on {page}" if anchor else f"just found on {page}"


def _short(text: str, characters: int = TITLE_CHARACTERS) -> str:
    text = printable(text)
    return text if len(text) <= characters else text[: characters - 1].rstrip() + "…"
