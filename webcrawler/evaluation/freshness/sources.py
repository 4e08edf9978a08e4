"""From what a person names on the command line to worlds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from webcrawler.errors import BadInput
from webcrawler.evaluation.freshness import traces
from webcrawler.evaluation.freshness.world import NAME, World, options, synthetic

YEARS = re.compile(r"(\d{4})-(\d{4})")


def worlds(sources: Sequence[str], seeds: Sequence[int], window: str) -> list[World]:
    """A world for each seed; where a synthetic one names its own, that alone.

    Args:
        sources: `synthetic?…` alone, or files of traces, which become one world.
        window: years, as 2012-2015, of traces.
    Raises:
        BadInput: anything that cannot be read.
    """
    if [source for source in sources if source.partition("?")[0] == NAME]:
        if len(sources) > 1:
            raise BadInput(f"{NAME} stands alone: name one synthetic world, or files of traces")
        own = int(options(sources[0])["seed"])
        return [synthetic(sources[0], seed) for seed in ([own] if own else seeds)]
    pages = traces.read([Path(source) for source in sources])
    name = " ".join([*(Path(source).name for source in sources), window])
    world = traces.window(pages, _years(window), name)
    return [traces.weighed(world, seed) for seed in seeds]


def _years(window: str) -> tuple[int, int]:
    if found := YEARS.fullmatch(window):
        first, last = int(found[1]), int(found[2])
        if 1970 <= first < last:
            return first, last
    raise BadInput(f"--window={window[:60]}: write two years, as 2012-2015; it ends where the second begins")
