"""The ways to choose what to fetch next, each in a sentence for who has to choose one."""

from __future__ import annotations

from importlib.util import find_spec

DEFAULT = "adaptive"
STRATEGIES = {
    "adaptive": "learns from each page which links and servers are worth following; the best one known here",
    "webcrawler": "follows those links of the best pages whose words fit the query, as the WebCrawler did",
    "best-first": "follows the links of pages that are most like the query",
    "shark": "lets pages hand on what they promise, and reads the words in and around links (SharkSearch)",
    "hot": "takes links first that name a word of the query, or lie near a page full of them",
    "seed-similarity": "compares pages with all the example pages together, instead of with a query",
    "classifier": "learns from the example pages what belongs to the subject, and crosses pages that do not",
    "breadth": "takes every server in turn, whatever it is about: to compare the others with",
}
if not find_spec("sklearn"):
    del STRATEGIES["classifier"]  # it could not run
