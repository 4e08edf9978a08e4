"""Which strategy finds the pages of a topic first? Focused crawls, recorded or live, measured.

`read_topics` and `Judge` say which pages are relevant, `Recording` is a crawl to be crawled again, `runs`
does that with each strategy of `Asked`, `Run` holds what one found, `tables` and `draw` show many.
"""

from webcrawler.evaluation.focused.comparison import Asked, runs
from webcrawler.evaluation.focused.known import sample
from webcrawler.evaluation.focused.measures import Run
from webcrawler.evaluation.focused.recorded_web import Recording
from webcrawler.evaluation.focused.relevance import Judge, Topic, read_topics
from webcrawler.evaluation.focused.report import draw, tables

__all__ = ["Asked", "Judge", "Recording", "Run", "Topic", "draw", "read_topics", "runs", "sample", "tables"]
