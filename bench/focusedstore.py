"""Focused crawls that were measured, in a file that is written after each."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from focusedcrawls import Lab

from webcrawler.evaluation.focused import Run, Topic


class Store:
    """Keeps crawls by strategy and query; without a file for this time only.

    Exits where the file holds crawls that were made otherwise.
    """

    def __init__(self, file: Path | None, lab: Lab) -> None:
        self._file, self._pages = file, lab.pages
        self._lab = {"pages": lab.pages, "known": bool(lab.known), "settings": lab.settings}
        before: dict[str, Any] = json.loads(file.read_text()) if file and file.exists() else {}
        if before and self._lab != {name: before.get(name) for name in self._lab}:
            sys.exit(f"bench: {file} holds crawls that were made otherwise; name another file")
        self.relevant: dict[str, int] = before.get("relevant", {})  # documents by query
        self._runs = {(run.strategy, run.query): run for run in map(_run, before.get("runs", []))}

    def has(self, strategy: str, topic: Topic) -> bool:
        return (strategy, topic.query) in self._runs

    def of(self, strategies: Sequence[str], topics: Sequence[Topic]) -> list[Run]:
        wanted = [(strategy, topic.query) for strategy in strategies for topic in topics]
        return [self._runs[key] for key in wanted if key in self._runs]

    def keep(self, run: Run) -> None:
        self._runs[run.strategy, run.query] = run
        self._write()

    def keep_relevant(self, relevant: dict[str, int]) -> None:
        self.relevant |= relevant
        self._write()

    def _write(self) -> None:
        if self._file:
            runs = [run.as_json(self._pages) for run in self._runs.values()]
            aside = self._file.with_name(self._file.name + ".part")
            aside.write_text(json.dumps(self._lab | {"relevant": self.relevant, "runs": runs}, indent=1))
            aside.replace(self._file)


def _run(row: dict[str, Any]) -> Run:
    known = {name: row[name] for name in Run._fields if name != "pool" and name in row}
    return Run(**known | {"found": tuple(row["found"])})
