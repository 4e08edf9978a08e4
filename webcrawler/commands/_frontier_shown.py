"""What `webcrawler frontier` prints for people. Imports what a catalog needs only where one was asked."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from webcrawler import urls
from webcrawler.commands.base import printable
from webcrawler.errors import BadInput, BadUrl
from webcrawler.frontier import Frontier

DAY_SECONDS = 86400.0

MOMENTS = {  # seconds in a unit
    "next": 0.001,
    "not_before_ms": 0.001,
    **dict.fromkeys(("fetched", "checked", "changed", "missing_since", "failing_since", "gone_since"), 1.0),
    **dict.fromkeys(("not_before", "latest"), 1.0),
}


def as_text(verb: str, found: Any) -> str:
    """What a verb has found, without `--json`."""
    if verb == "peek":
        return "\n".join(map(printable, found)) or "nothing waits"
    if verb == "quarantined":
        return "\n".join(map(_quarantined, found)) or "nothing is quarantined"
    held_back = [printable(found.pop("held_back")), ""] if verb == "stats" and "held_back" in found else []
    return "\n".join(held_back + rows(readable(found) if verb == "explain" else found, ""))


def refuse_unknown(frontier: Frontier) -> None:
    """Raises BadInput: there is no frontier of that name; the message names those that are there."""
    if not frontier.stored_partitions():
        found = {key.split("}:", 1)[1][:-5] for key in frontier.keys_of("{crawl:") if key.endswith(":meta")}
        names = ", ".join(sorted(found)) or "none"
        raise BadInput(f"there is no frontier named {frontier.name[:200]!r}; those that exist: {names}")


def servers_named(name: str) -> list[str]:
    """The server http://host:port, or for a host alone its http and https servers.

    Raises:
        BadInput: the name is neither, or that of a page.
    """
    if is_page(name):
        raise BadInput(
            f"{name[:200]!r} is not a server but a page: write http://host:port; `webcrawler remove` is for "
            "pages"
        )
    origins = [name] if "://" in name else [f"http://{name}", f"https://{name}"]
    try:
        return [urls.server(urls.canonical(url)) for url in origins]
    except BadUrl:
        raise BadInput(f"{name[:200]!r} is not a server: write http://host or https://host:port") from None


def is_page(name: str) -> bool:
    return bool(set(name.split("://")[-1]) & set("/?#"))


def _quarantined(found: dict[str, Any]) -> str:
    times = f"{found['times']} {found['kills'] or 'times'}"
    return printable(f"{_moment(found['quarantined_ms'] * 0.001)} {times} {found['url']}")


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(sep=" ", timespec="seconds")


def _days(days: float) -> str:
    """ "7.5 days", but "5 h" where it is less than one."""
    from webcrawler.search import span

    return f"{days:,.{int(days < 10)}f} days" if days >= 1 else span(days * DAY_SECONDS)


def readable(found: dict[str, Any]) -> dict[str, Any]:
    """For people: times as text, and nothing that is empty."""
    shown: dict[str, Any] = {}
    for name, value in found.items():
        if isinstance(value, dict):
            shown[name] = readable(value)
        elif name in MOMENTS and value:
            shown[name.removesuffix("_ms")] = _moment(value * MOMENTS[name])
        elif name == "checks":
            from webcrawler.commands.freshness import LABELS

            shown[name] = [
                f"{_moment(one['fetched'])} {LABELS.get(one['found'], one['found'])}" for one in value
            ]
        elif name == "changes_every_days":
            low, middle, high = map(_days, value)
            shown["changes"] = f"about every {middle} ({low} to {high})"
        elif isinstance(value, float) and value:
            shown[name] = f"{value:.3g}"
        elif value or name in ("waiting", "ahead"):
            shown[name] = str(value) if name in ("id", "offset") else value
    return shown


def rows(table: dict[str, Any], indent: str) -> list[str]:
    found = []
    for name, value in table.items():
        if isinstance(value, dict):
            found += [f"{indent}{name}:", *rows(value, indent + "  ")]
            continue
        if isinstance(value, list):
            value = ", ".join(map(str, value))
        text = f"{value:,}" if isinstance(value, int) else str(value)
        found.append(f"{indent}{name:<{20 - len(indent)}} {printable(text)}")
    return found
