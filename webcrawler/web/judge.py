"""/judge: visitors judge a result good or bad (GO, "Feedback"). Off unless SERVE_FEEDBACK is set.

Judgments are in CRAWL_DIR/feedback/, as `webcrawler judge feedback` reads them (TREC's formats).
`queries.tsv`: QUERYID TAB query. `qrels.txt`: QUERYID 0 URL GRADE, grade 1 good, 0 bad, one line a pair.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, Unavailable
from webcrawler.files import replaced
from webcrawler.usage import one_line, query_id
from webcrawler.web.config import Config
from webcrawler.web.hosts import client_of
from webcrawler.web.metrics import Metrics
from webcrawler.web.parameters import MAX_NUMBER, Parameters, SearchRequest, read_search
from webcrawler.web.render import NotNow, log_fault
from webcrawler.web.security import JUDGING, Tokens

GRADES = {"good": 1, "bad": 0}
UNDO = "undo"
MOST = 20_000  # judgments; a file of 2 MB


class JudgeForm(NamedTuple):
    """What the buttons of a page of results need to be made."""

    token: str
    fields: list[tuple[str, str]]  # to come back to the same results
    grades: dict[str, int]  # by URL: earlier judgments

    def verdict(self, url: str) -> str:
        """ "good", "bad", or "" if nobody has judged it."""
        known = self.grades.get(url)
        return next((name for name, grade in GRADES.items() if grade == known), "")


class Judge:
    """Takes the judgments of one data folder."""

    def __init__(self, config: Config, metrics: Metrics) -> None:
        self._is_on, self._crawl_dir, self._metrics = config.feedback, config.crawl_dir, metrics
        self._root, self._tokens = config.root, Tokens()
        self._judgments = JudgmentFiles(config.crawl_dir / "feedback")

    def routes(self) -> list[Route]:
        return [Route(JUDGING, self._judge, methods=["POST"])] if self._is_on else []

    async def form(self, request: Request, wanted: SearchRequest) -> JudgeForm | None:
        """For the template `_judge_buttons.html`; None if judging is off or the query is empty."""
        if not self._is_on or not wanted.q.strip():
            return None
        grades = await run_in_threadpool(self._judgments.of, wanted.q)
        token = self._tokens.give(client_of(request), wanted.q)
        query = wanted.url().partition("?")[2]
        return JudgeForm(token, parse_qsl(query, keep_blank_values=True), grades)

    async def _judge(self, request: Request) -> Response:
        given = Parameters(await request.body())
        wanted, number = read_search(given), given.whole("number", None, 1, MAX_NUMBER)
        verdict = given.one("verdict")
        if verdict not in (*GRADES, UNDO) or not wanted.q.strip():
            raise BadInput(f"a judgment needs q, number and a verdict: {', '.join(GRADES)} or {UNDO}")
        self._tokens.check(request, given.one("token"), wanted.q)
        await run_in_threadpool(self._save, wanted.q, number, verdict)
        self._metrics.judgments.labels(verdict).inc()
        return RedirectResponse(f"{self._root}{wanted.url(page=wanted.page)}#hit-{number}", 303)

    def _save(self, query: str, number: int, verdict: str) -> None:
        try:
            with closing(Catalog(self._crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
                url = catalog.urls.of([number]).get(number)
        except BadInput as error:
            raise Unavailable(str(error)) from error
        if url is None:
            raise BadInput(f"there is no page {number}")
        self._judgments.save(query, url, verdict)


class JudgmentFiles:
    """Any number of processes may save at the same time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._qrels, self._queries = folder / "qrels.txt", folder / "queries.tsv"

    def save(self, query: str, url: str, verdict: str) -> None:
        """Durable when it returns; the last verdict on a pair holds, `undo` takes it back.

        Raises:
            NotNow: the disk is full or cannot be written, the judgments that are there cannot be read (and
                would be lost), or no more are taken.
        """
        text = one_line(query)
        id, page = query_id(text), url.replace(" ", "%20")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            with (self._folder / "lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                grades = self._grades()
                queries = {row[0]: row[1] for row in _rows(self._queries, "\t", 2)} | {id: text}
                if verdict == UNDO:
                    grades.pop((id, page), None)
                else:
                    if (id, page) not in grades and len(grades) >= MOST:
                        raise NotNow("no more judgments are taken: there are enough")
                    grades[id, page] = GRADES[verdict]
                judged = {id for id, _ in grades}
                # the judgments last: without its query, one would be of no use
                _write(self._queries, (row for row in queries.items() if row[0] in judged))
                rows = ((id, "0", page, str(grade)) for (id, page), grade in grades.items())
                _write(self._qrels, rows, between=" ")
        except OSError as error:
            log_fault(f"cannot save a judgment: {error}")
            raise NotNow("the judgment could not be saved: try again later") from error
        except ValueError as error:
            log_fault(f"no judgment is saved until those of {self._folder} can be read: {error}")
            raise NotNow("no judgment is taken now: those that there are cannot be read") from error

    def of(self, query: str) -> dict[str, int]:
        """Grades by URL; none if they cannot be read."""
        asked = query_id(one_line(query))
        try:
            return {url: grade for (id, url), grade in self._grades().items() if id == asked}
        except (OSError, ValueError) as error:
            log_fault(f"the judgments of {self._folder} are not shown: {error}")
            return {}

    def _grades(self) -> dict[tuple[str, str], int]:
        """By query id and URL."""
        return {(id, url): int(grade) for id, _, url, grade in _rows(self._qrels, None, 4)}


def _rows(path: Path, between: str | None, columns: int) -> list[list[str]]:
    """Raises ValueError: it is not UTF-8, or a line has another number of columns."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except FileNotFoundError:
        return []
    rows = [line.split(between, columns - 1) for line in lines if line]
    for row in rows:
        if len(row) != columns:
            raise ValueError(f"{path.name}: {columns} columns are wanted, not {' '.join(row)[:60]!r}")
    return rows


def _write(path: Path, rows: Iterable[tuple[str, ...]], between: str = "\t") -> None:
    with replaced(path) as file:
        file.writelines(f"{between.join(row)}\n".encode("utf-8", "replace") for row in rows)
