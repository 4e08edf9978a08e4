"""Which strategy finds the pages of a topic first? Focused crawls, recorded or live, measured.

`read_topics` says which pages are relevant, `Recording` is a crawl to be crawled again, `runs` does that with
each strategy of `Experiments`, `Run` holds what one found, `tables` and `draw` show many.
"""

from webcrawler.evaluation.focused.experiments import Experiments, mode_of, runs
from webcrawler.evaluation.focused.recorded_web import Recording, RelevanceRules, Topic, read_topics
from webcrawler.evaluation.focused.report import Run, compared, draw, summary, tables

__all__ = [
    "Experiments",
    "Recording",
    "RelevanceRules",
    "Run",
    "Topic",
    "compared",
    "draw",
    "mode_of",
    "read_topics",
    "runs",
    "summary",
    "tables",
]
