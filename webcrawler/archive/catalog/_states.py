"""What URLs have come to, why and since when, and who links to them: for people who mend their sites."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Any

from webcrawler.archive.catalog._database import statements
from webcrawler.errors import BadInput


def listed(db: sqlite3.Connection, state: str, links: int, to_visitors: bool) -> Iterator[dict[str, Any]]:
    """As `Catalog.listed`."""
    known, query = statements("listed.sql")
    states = [name for (name,) in db.execute(known)]
    name = state.rpartition("/")[2]
    if name not in states and not (name.isascii() and name.isdecimal() and len(name) == 3):
        raise BadInput(f"no state {state[:40]!r}: a status such as 404, or one of {', '.join(states)}")
    rows = db.execute(query, {"state": state, "links": links, "visitors": to_visitors})
    names = [name for name, *_ in rows.description]
    return (dict(zip(names, (*row, json.loads(found)), strict=True)) for *row, found in rows)
