"""Makes pages of templates. All text is escaped: no template may say `safe`."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse

from webcrawler.search.rankings import DEFAULT
from webcrawler.web.readable import amounts, count, day, moment, ranking, size, span, without_controls
from webcrawler.web.static import static_url

FRESH = "private, no-cache"  # the answer of a query is its asker's, and the next crawl changes it


def page(request: Request, template: str, status: int = 200, **values: object) -> HTMLResponse:
    """The template with these values. Templates extend `base.html`."""
    text = rendered(template, config=request.app.state.config, **values)
    return HTMLResponse(text, status, {"Cache-Control": FRESH})


def rendered(template: str, **values: object) -> str:
    return without_controls(environment().get_template(template).render(**values))


def json_answer(answer: Any, status: int = 200, cache: str = FRESH) -> JSONResponse:
    """For programs, whose terminals obey control characters as well."""
    return JSONResponse(_cleaned(answer), status, {"Cache-Control": cache})


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return without_controls(value)
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(one) for one in value]
    return value


@cache
def environment() -> Environment:
    made = Environment(
        loader=FunctionLoader(_source),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals |= {"static_url": static_url, "default_ranking": DEFAULT}
    made.filters |= {
        "day": day,
        "moment": moment,
        "count": count,
        "amounts": amounts,
        "ranking": ranking,
        "size": size,
        "span": span,
    }
    return made


def _source(name: str) -> str:
    return (files("webcrawler.web") / "templates" / name).read_text("utf-8")
