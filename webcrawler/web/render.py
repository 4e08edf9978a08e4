"""Makes pages of templates. All text is escaped: no template may say `safe`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from math import floor, log10
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse

from webcrawler.search.rankings import DEFAULT
from webcrawler.web.static import static_url
from webcrawler.web.units import ranking, size, span

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
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


def without_controls(text: str) -> str:
    """The text without C0 and C1 controls and DEL, but for tab, line feed and carriage return.

    A terminal obeys them, a page shows them as nothing; strangers' titles and texts hold some.
    """
    return _CONTROLS.sub("", text)


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


def day(seconds: float) -> str:
    """ "20 Nov 2026"; UTC."""
    then = datetime.fromtimestamp(seconds, UTC)
    return f"{then.day} {then:%b %Y}"


def moment(seconds: float) -> str:
    """ISO 8601 to the second, UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def count(number: int, one: str, many: str = "") -> str:
    """ "1 page", "2,000 pages"."""
    return f"1 {one}" if number == 1 else f"{number:,} {many or one + 's'}"


def amounts(numbers: Sequence[float]) -> list[str]:
    """As many decimals for each of a column as its largest needs to have four digits: 12.30, 0.05."""
    largest = max((abs(number) for number in numbers), default=0.0)
    decimals = min(12, max(0, 3 - floor(log10(largest)))) if largest else 0
    return [f"{number:,.{decimals}f}" for number in numbers]


def _source(name: str) -> str:
    return (files("webcrawler.web") / "templates" / name).read_text("utf-8")
