"""What the settings SEARCH_… say of all searches, those of the web included."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

from webcrawler.errors import BadInput
from webcrawler.search.uncrawled import FEW
from webcrawler.settings import complaint
from webcrawler.text import Reference, load

SPAM = 0.5  # the default of SEARCH_SPAM


class SearchSettings(NamedTuple):
    """Arguments of a `Searcher`, by their names."""

    reference: Reference | None = None
    uncrawled: str = FEW
    spam: float = SPAM

    @classmethod
    def read(cls, settings: Mapping[str, Any]) -> Self:
        """Raises BadInput: one of them is not valid, or the reference is not a file of frequencies."""
        for name in ("SEARCH_UNCRAWLED", "SEARCH_SPAM"):
            if why := complaint(name, settings[name]):
                raise BadInput(why)
        path = settings["SEARCH_REFERENCE"]
        return cls(
            load(Path(path)) if path else None,
            str(settings["SEARCH_UNCRAWLED"]),
            float(settings["SEARCH_SPAM"]),
        )
