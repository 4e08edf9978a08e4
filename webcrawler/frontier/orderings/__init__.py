"""In what order are known URLs visited? Pure arithmetic over links; ties go to the oldest.

`ordering(mode)` finds one by name; `Ordering` is what a user's own is a subclass of.
"""

from webcrawler.frontier.orderings.base import PRIORITY_MAX, Known, Ordering, Seen, Source
from webcrawler.frontier.orderings.links import PER_NAT
from webcrawler.frontier.orderings.names import BUILT_IN, arguments_of, ordering, ordering_type
from webcrawler.frontier.orderings.words import is_hot_page, location, words_of

__all__ = [
    "BUILT_IN",
    "PER_NAT",
    "PRIORITY_MAX",
    "Known",
    "Ordering",
    "Seen",
    "Source",
    "arguments_of",
    "is_hot_page",
    "location",
    "ordering",
    "ordering_type",
    "words_of",
]
