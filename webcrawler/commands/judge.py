"""`scrapy judge`: which ranking would have pleased those who judged?"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from webcrawler.commands import _interrupts, _targets
from webcrawler.commands.base import Command, printable
from webcrawler.errors import BadInput
from webcrawler.search.rankings import RANKINGS
from webcrawler.text import Reference, english, load

if TYPE_CHECKING:  # slow to import, and each `scrapy` command imports all of them
    from webcrawler.evaluation.judged import Verdict
    from webcrawler.search import Searcher

ALL = "peculiarity,bm25f,hitlists"
FEEDBACK = "feedback"

Progress = Callable[[str, int, int], None]  # what is done, how far, of how much


class Judge(Command):
    def syntax(self) -> str:
        return "[options] FOLDER|feedback"

    def short_desc(self) -> str:
        return "Compare rankings on queries with relevance judgments"

    def long_desc(self) -> str:
        return (
            "FOLDER holds docs.jsonl (id, title, text, links), queries.tsv (id, tab, query) and qrels.txt "
            "(TREC); `feedback` takes what was judged on the search page, and the index as it is now."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument(
            "--rankings", default="", help=f"the first is what others are compared with ({ALL})"
        )
        parser.add_argument("--json", metavar="FILE", help="write all figures")

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise BadInput("name one folder, or `feedback`: `scrapy judge cranfield`; --help says more")
        from webcrawler.evaluation.judged import check, means, per_query

        rankings = _rankings(opts.rankings or ALL)
        check()
        if opts.json:
            _targets.check_file(Path(opts.json))
        verdict = self._until_interrupted(args[0], rankings)
        if verdict is None:
            return
        for line in (*per_query(verdict), "", *means(verdict)):
            print(_printable(line))
        sys.stdout.flush()
        if opts.json:
            _targets.write_json(Path(opts.json), verdict.as_json())

    def _until_interrupted(self, what: str, rankings: Sequence[str]) -> Verdict | None:
        """By Ctrl-C, `kill`, or a terminal that is gone: the temporary folder has to go in any case."""
        try:
            with _interrupts.made_of(signal.SIGTERM, signal.SIGHUP), _bar() as progress:
                if what == FEEDBACK:
                    return self._feedback(rankings, progress)
                return self._folder(Path(what), rankings, progress)
        except KeyboardInterrupt:
            self.exitcode = 1
            print("interrupted: nothing was compared yet", file=sys.stderr)
            return None

    def _folder(self, folder: Path, rankings: Sequence[str], progress: Progress) -> Verdict:
        from webcrawler.evaluation.judged import build, judge, read

        papers, judgments = read(folder)
        with tempfile.TemporaryDirectory(prefix="webcrawler-") as name:
            ids = build(papers, Path(name), progress)
            return judge(self._searcher(Path(name)), judgments, rankings, lambda numbers: ids, progress)

    def _feedback(self, rankings: Sequence[str], progress: Progress) -> Verdict:
        from webcrawler.evaluation.judged import judge, read_feedback

        judgments = read_feedback(self.crawl_dir / FEEDBACK)
        with closing(self.catalog()) as catalog:
            return judge(self._searcher(self.crawl_dir), judgments, rankings, catalog.urls.of, progress)

    def _searcher(self, crawl_dir: Path) -> Searcher:
        from webcrawler.search import Searcher

        return Searcher(crawl_dir, self._reference())

    def _reference(self) -> Reference:
        file = self.project.get("SEARCH_REFERENCE")
        return load(Path(file)) if file else english()


def _rankings(text: str) -> list[str]:
    names = list(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    if not names:
        raise BadInput(f"--rankings wants names out of {', '.join(RANKINGS)}")
    for name in names:
        if name not in RANKINGS:
            raise BadInput(f"no ranking is called {name[:60]!r}: choose out of {', '.join(RANKINGS)}")
    return names


def _printable(line: str) -> str:
    """A table's line keeps its blanks."""
    return " ".join(printable(word) for word in line.split(" "))


@contextmanager
def _bar() -> Iterator[Progress]:
    """A bar for each step, on a terminal."""
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    with Bars(console=Console(stderr=True), transient=True, disable=not sys.stderr.isatty()) as bars:
        tasks: dict[str, TaskID] = {}

        def progress(what: str, done: int, all: int) -> None:
            if what not in tasks:
                tasks[what] = bars.add_task(what)
            bars.update(tasks[what], completed=done, total=all)

        yield progress
