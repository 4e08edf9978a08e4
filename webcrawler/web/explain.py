"""The sum behind the score of one hit."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from starlette.requests import Request

from webcrawler.records import Hit
from webcrawler.search import Part
from webcrawler.web.guard import CLIENT
from webcrawler.web.search_request import Asking

NOT_THERE = "that page is not on this page of the results: give page and limit as in the search"


class Explained(NamedTuple):
    hit: Hit
    parts: list[Part]

    @property
    def score(self) -> float:
        return sum(part.contribution for part in self.parts)


async def explained(request: Request, asking: Asking, number: int) -> Explained | None:
    """None where the page with that number is not on that page of the results.

    Costs what it takes to explain one hit: the search itself was mostly asked for a moment ago.
    """
    answers, client = request.app.state.answers, request.scope[CLIENT]
    results = await answers.search(replace(asking, explain=False), client)
    hit = next((hit for hit in results.hits if hit.number == number), None)
    if hit is None:
        return None
    words = (*asking.add, *(word.spelled for word in results.added))
    parts = await answers.ask(
        lambda searcher: searcher.explain(asking.q, number, asking.ranking, asking.within, words), client
    )
    return Explained(hit, parts)
