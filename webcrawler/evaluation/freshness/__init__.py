"""Which policy keeps a collection freshest? Worlds whose pages change, and virtual crawlers.

`worlds` makes or reads them, `runs` lets the real `webcrawler.refresh` and its peers choose what to fetch,
`tables` and `draw` show what came out.
"""

from webcrawler.evaluation.freshness.laboratory import Run, runs
from webcrawler.evaluation.freshness.policies import POLICIES, check
from webcrawler.evaluation.freshness.report import as_json, draw, fraction, summary, tables
from webcrawler.evaluation.freshness.world import worlds

__all__ = [
    "POLICIES",
    "Run",
    "as_json",
    "check",
    "draw",
    "fraction",
    "runs",
    "summary",
    "tables",
    "worlds",
]
