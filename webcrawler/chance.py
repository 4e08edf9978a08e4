"""What is drawn by lot is drawn here, so that WEBCRAWLER_SEED makes a process draw the same again."""

from __future__ import annotations

import os
from random import Random

NAME = "WEBCRAWLER_SEED"

draws = Random()


def seed(agent: int = 1) -> None:
    """Begin anew: by WEBCRAWLER_SEED, where it is set, and then differently for each agent of a crawl."""
    text = os.environ.get(NAME)
    draws.seed(f"{text} {agent}" if text else None)


seed()
