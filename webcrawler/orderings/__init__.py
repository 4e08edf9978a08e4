"""In what order are known URLs visited? Pure arithmetic over links; ties go to the oldest.

`ordering(mode)` finds one by name; `Ordering` is what a user's own is a subclass of.
"""

from webcrawler.orderings.arguments import number, whole_number
from webcrawler.orderings.base import PRIORITY_MAX, Known, Ordering, Seen, Source
from webcrawler.orderings.links import DAMPING, LEAST, PER_NAT
from webcrawler.orderings.registry import BUILT_IN, arguments_of, ordering, ordering_type
from webcrawler.orderings.words import is_hot_page, location, words_of

__all__ = [
    "BUILT_IN",
    "DAMPING",
    "LEAST",
    "PER_NAT",
    "PRIORITY_MAX",
    "Known",
    "Ordering",
    "Seen",
    "Source",
    "arguments_of",
    "is_hot_page",
    "location",
    "number",
    "ordering",
    "ordering_type",
    "whole_number",
    "words_of",
]
