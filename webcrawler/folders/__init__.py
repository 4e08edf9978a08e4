"""Several data folders searched as one: a merged view of them, which is a data folder for readers.

Its catalog is copied from theirs and follows them, so duplicates, anchor texts, ranks and vocabulary are
those of all pages together. WARC files stay where they are. In the cache, each set of folders has a place of
its own: `folders.json` names them, `current` leads to the view that is searched. A view that cannot go on, as
a folder was rebuilt or what was removed is let in again, is made anew beside it, and then takes its place.
"""

from webcrawler.folders.merger import kept_up_to_date
from webcrawler.folders.news import copy_news
from webcrawler.folders.view import MergedView

__all__ = ["MergedView", "copy_news", "kept_up_to_date"]
