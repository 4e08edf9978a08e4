"""POST /judge: good or bad, said of a result (GO, "Feedback"). Off unless SERVE_FEEDBACK is set."""

from __future__ import annotations

from contextlib import closing
from typing import NamedTuple
from urllib.parse import parse_qsl

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from webcrawler.archive.catalog import Catalog
from webcrawler.errors import BadInput, Unavailable
from webcrawler.web.config import Config
from webcrawler.web.guard import CLIENT, Tokens, is_foreign, key_of
from webcrawler.web.judge.judgments import GRADES, UNDO, Judgments
from webcrawler.web.parameters import MAX_NUMBER, Parameters
from webcrawler.web.search_request import SearchRequest, read_search
from webcrawler.web.status import Metrics

STALE = "this form was not sent from our page, or is too old: search again, then judge"


class JudgeForm(NamedTuple):
    """What the buttons of a page of results need."""

    token: str
    fields: list[tuple[str, str]]  # what brings one back to the same results
    grades: dict[str, int]  # by URL: what was said before

    def verdict(self, url: str) -> str:
        """ "good", "bad", or "" where nobody has judged it."""
        said = self.grades.get(url)
        return next((name for name, grade in GRADES.items() if grade == said), "")


class Judging:
    """Judgments of one data folder. Raises BadInput: they are asked for, and the folder cannot be written."""

    def __init__(self, config: Config, metrics: Metrics) -> None:
        self._is_on, self._crawl_dir, self._metrics = config.feedback, config.crawl_dir, metrics
        self._judgments = Judgments(config.crawl_dir / "feedback")
        if self._is_on:
            try:
                self._tokens = Tokens(key_of(config.crawl_dir / "feedback" / "key"))
            except OSError as error:
                raise BadInput(f"SERVE_FEEDBACK: {config.crawl_dir} cannot be written: {error}") from error

    def routes(self) -> list[Route]:
        return [Route("/judge", self._judge, methods=["POST"])] if self._is_on else []

    async def form(self, request: Request, wanted: SearchRequest) -> JudgeForm | None:
        """For the template `_judge.html`; None where judging is off, or nothing is asked."""
        if not self._is_on or not wanted.q.strip():
            return None
        grades = await run_in_threadpool(self._judgments.of, wanted.q)
        token = self._tokens.give(request.scope[CLIENT], wanted.q)
        query = wanted.url().partition("?")[2]
        return JudgeForm(token, parse_qsl(query, keep_blank_values=True), grades)

    async def _judge(self, request: Request) -> Response:
        given = Parameters(await request.body())
        wanted, number = read_search(given), given.whole("number", None, 1, MAX_NUMBER)
        verdict = given.one("verdict")
        if verdict not in (*GRADES, UNDO) or not wanted.q.strip():
            raise BadInput(f"a judgment wants q, number and a verdict: {', '.join(GRADES)} or {UNDO}")
        token = given.one("token")
        if is_foreign(request) or not self._tokens.is_good(token, request.scope[CLIENT], wanted.q):
            raise HTTPException(403, STALE)
        client = self._tokens.name_of(request.scope[CLIENT])
        await run_in_threadpool(self._save, wanted.q, number, verdict, client)
        self._metrics.judgments.labels(verdict).inc()
        return RedirectResponse(f"{wanted.url(page=wanted.page)}#hit-{number}", 303)

    def _save(self, query: str, number: int, verdict: str, client: str) -> None:
        try:
            with closing(Catalog(self._crawl_dir / "catalog.sqlite", readonly=True)) as catalog:
                url = catalog.urls.of([number]).get(number)
        except BadInput as error:
            raise Unavailable(str(error)) from error
        if url is None:
            raise BadInput(f"there is no page {number}")
        self._judgments.save(query, url, verdict, client)
