"""`webcrawler judge`: which ranking puts first what people judged relevant?"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from webcrawler.commands import _terminal, base
from webcrawler.commands._terminal import Option
from webcrawler.commands.base import Command
from webcrawler.errors import BadInput
from webcrawler.search import Searcher
from webcrawler.search.rankings import RANKINGS

if TYPE_CHECKING:  # slow to import, and Scrapy's own commands import ours
    from webcrawler.evaluation.judged import Comparison

COMPARED = "peculiarity,bm25f,hitlists"
FEEDBACK = "feedback"


class Judge(Command):
    arguments = "FOLDER|feedback"
    summary = "Compare rankings on queries with relevance judgments"
    details = (
        "FOLDER holds queries.tsv (id, tab, query), qrels.txt (TREC) and docs.jsonl (id, title, text, "
        "links); without docs.jsonl, URLs of this crawl are judged. `feedback`: those of the search page."
    )
    options = (
        Option("--rankings", COMPARED, f"the others are compared with the first ({COMPARED})"),
        Option("--language", "", "of who asks, as browsers send it: en, de, …", "CODE"),
        Option("--json", None, "write all figures as JSON", "FILE"),
    )

    def answer(self, args: list[str], opts: argparse.Namespace) -> None:
        if len(args) != 1:
            raise BadInput("name one folder, or `feedback`: `webcrawler judge cranfield`; --help says more")
        from webcrawler.evaluation.judged import check_library, tables

        rankings = list(dict.fromkeys(base.comma_separated(opts.rankings, "--rankings")))
        for name in rankings:
            if name not in RANKINGS:
                raise BadInput(f"no ranking is called {name[:60]!r}: choose from {', '.join(RANKINGS)}")
        check_library()
        if opts.json:
            base.check_file(Path(opts.json))
        with self.interruptible(lambda: "nothing was compared yet"):
            with _terminal.progress_bars() as progress:
                comparison = self._compared(args[0], rankings, opts.language, progress)
            lines = tables(comparison).splitlines()
            for line in lines:
                words = line.split(" ")  # columns keep their blanks
                print(" ".join(map(_terminal.printable, words)), flush=True)
            if opts.json:
                base.write_json(Path(opts.json), comparison.as_json())

    def _compared(
        self, judged: str, rankings: Sequence[str], language: str, progress: _terminal.Progress
    ) -> Comparison:
        from webcrawler.evaluation.judged import (
            build,
            compare,
            read,
            read_feedback,
            read_judgments,
        )

        if judged != FEEDBACK and Path(judged, "docs.jsonl").exists():
            documents, judgments = read(Path(judged))
            with tempfile.TemporaryDirectory(prefix="webcrawler-") as folder:
                ids, searcher = build(documents, Path(folder), progress), Searcher(Path(folder))
                return compare(searcher, judgments, rankings, lambda numbers: ids, progress, language)
        if judged == FEEDBACK:
            judgments = read_feedback(self.crawl_dir / FEEDBACK)
        else:
            judgments = read_judgments(Path(judged))
        with closing(self.catalog()) as catalog:
            return compare(Searcher(self.crawl_dir), judgments, rankings, catalog.urls.of, progress, language)
